import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import { SqlClient } from "effect/sql"
import { Ledger } from "#services/Ledger.ts"
import { eventually } from "./CredentialsHarness.ts"
import { balance, elsewhere, Test, transfer, waitsForHead, wallet } from "./LedgerHarness.ts"
import { behind } from "./LockHarness.ts"

layer(Test, { timeout: "60 seconds" })("a log that others write to as well", (it) => {
  it.effect("is waited for once: what comes until it is free goes along in one transaction", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { post } = yield* Ledger
      const other = yield* elsewhere
      const [payer, payee] = [yield* wallet(10n), yield* wallet(1n)]
      // Somebody wrote between two of our groups, so there are others.
      yield* other.post(transfer(payee, payer, 1n))
      yield* post(transfer(payer, payee, 1n))

      const [held, free] = [yield* Latch.make(false), yield* Latch.make(false)]
      const holding = sql`SELECT 1 FROM ledger_head WHERE log = 1 FOR UPDATE`.pipe(
        Effect.andThen(held.open),
        Effect.andThen(free.await),
        sql.withTransaction
      )
      const holder = yield* Effect.forkScoped(holding)
      yield* held.await
      const [first, second, third] = [
        transfer(payer, payee, 1n),
        transfer(payer, payee, 2n),
        transfer(payer, payee, 99n)
      ]
      const early = yield* Effect.forkScoped(post(first))
      yield* eventually(waitsForHead, (waits) => waits)
      const late = yield* Effect.forkScoped(post(second))
      const refused = yield* Effect.forkScoped(Effect.flip(post(third)))
      yield* eventually(waitsForHead, (waits) => waits)
      yield* free.open
      yield* Fiber.joinAll([holder, early, late])
      assert.strictEqual((yield* Fiber.join(refused))._tag, "INSUFFICIENT_BALANCE")

      const [row] =
        yield* sql`SELECT count(*)::int AS made, count(DISTINCT xmin::text)::int AS transactions FROM movements
        WHERE command_id IN (${first.id}, ${second.id})`
      assert.deepStrictEqual(row, { made: 2, transactions: 1 })
      assert.deepStrictEqual(yield* balance(payee), { posted: 4n, held: 0n })
    })
  )

  it.effect("has a freeze wait for its turn, so that it stands before a group or behind it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { setFrozen } = yield* Ledger
      const head = sql`SELECT 1 FROM ledger_head WHERE log = 1 FOR UPDATE`
      assert.isTrue((yield* behind(head, setFrozen(yield* wallet(), true))).waited)
    })
  )
})
