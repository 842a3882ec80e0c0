import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Logger, Option, Ref } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Outcome } from "#domain/ChainSettlement.ts"
import { systemAccount } from "#domain/LedgerAccount.ts"
import { bookChainSettlement, ChainSettlements, type Concluded } from "#services/ChainSettlements.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { another, chain, order, testLayer, unattended } from "./ChainSettlementsHarness.ts"

const Test = Ledger.layer.pipe(Layer.provideMerge(testLayer()))

/** A wallet that on-chain payments are booked to, under the settlement's id. */
const till = Effect.gen(function* () {
  const ledger = yield* Ledger
  const id = newUuid()
  yield* ledger.open({ id, purpose: "wallet", currency: "USDC" })
  const book = ({ amount, id: settlement, outcome }: Concluded) =>
    ledger
      .post({
        id: settlement,
        steps:
          outcome._tag === "Refused"
            ? []
            : [
                {
                  kind: "transfer",
                  debit: systemAccount("issuance", "USDC"),
                  credit: id,
                  amount,
                  currency: "USDC",
                  code: "deposit"
                }
              ],
        rows: ({ at }) => [bookChainSettlement.of({ id: settlement, booked_at: at.toISOString() })]
      })
      .pipe(Effect.orDie, Effect.asVoid)
  const balance = Effect.map(Effect.orDie(ledger.account(id)), ({ posted }) => posted)
  return { book, balance }
})

const booked = Effect.fnUntraced(function* (id: string) {
  const row = yield* (yield* ChainSettlements).get(id)
  return Option.isSome(row) && row.value.booked_at !== null
})

layer(Test, { timeout: "60 seconds" })("the outcome of a settlement", (it) => {
  it.effect("that nobody booked is handed out until it is, and booked once", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { balance, book } = yield* till
      const { deliverDue, settle } = yield* ChainSettlements
      const wanted = order()
      yield* settle(wanted)
      assert.strictEqual(yield* deliverDue(book), 0, "whoever settled has some time to book")
      yield* TestClock.adjust("6 seconds")

      // The process that books dies before its transaction.
      assert.strictEqual(yield* deliverDue(() => Effect.die("killed")), 1)
      assert.strictEqual(yield* deliverDue(book), 0, "still leased")
      yield* TestClock.adjust("91 seconds")
      assert.strictEqual(yield* deliverDue(book), 1)
      assert.isTrue(yield* booked(wanted.id))
      assert.strictEqual(yield* balance, 10_000n)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* deliverDue(book), 0)
      assert.strictEqual(yield* balance, 10_000n)
    })
  )

  it.effect("booked by its caller and by a worker at once is booked once", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { balance, book } = yield* till
      const { deliverDue, settle } = yield* ChainSettlements
      const elsewhere = yield* another()
      const wanted = order()
      const outcome = yield* settle(wanted)
      if (outcome._tag === "Pending") return assert.fail("settled at once")
      yield* TestClock.adjust("6 seconds")
      const mine = book({ id: wanted.id, payment_id: wanted.payment_id ?? "", amount: wanted.amount, outcome })
      yield* Effect.all([mine, deliverDue(book), elsewhere.deliverDue(book), mine], { concurrency: 4 })
      assert.strictEqual(yield* balance, 10_000n)
      const sql = yield* SqlClient.SqlClient
      const movements = yield* sql`SELECT count(*)::int AS n FROM movements WHERE command_id = ${wanted.id}`
      assert.strictEqual(movements[0]?.["n"], 1)
    })
  )

  it.effect("a refusal is handed out too, and moves nothing", () =>
    Effect.gen(function* () {
      yield* chain.does("refuse")
      const { balance, book } = yield* till
      const { deliverDue, settle } = yield* ChainSettlements
      const seen = yield* Ref.make<ReadonlyArray<Concluded>>([])
      const wanted = order()
      yield* settle(wanted)
      yield* TestClock.adjust("6 seconds")
      yield* deliverDue((concluded) =>
        Effect.andThen(
          Ref.update(seen, (all) => [...all, concluded]),
          book(concluded)
        )
      )
      assert.deepStrictEqual(
        (yield* Ref.get(seen)).map(({ id, outcome }) => ({ id, outcome })),
        [{ id: wanted.id, outcome: { _tag: "Refused", reason: "insufficient_funds" } }]
      )
      assert.isTrue(yield* booked(wanted.id))
      assert.strictEqual(yield* balance, 0n)
    })
  )

  it.effect("of a settlement without a payment is nobody's to book", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { deliverDue, settle } = yield* ChainSettlements
      yield* settle(order({ payment_id: undefined }))
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* deliverDue(() => Effect.die("asked")), 0)
    })
  )
})

layer(testLayer(), { timeout: "60 seconds" })("a settlement that its caller's process cannot drive on", (it) => {
  it.effect("is reported, and left to the worker", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const sql = yield* SqlClient.SqlClient
      const { reconcileDue, settle } = yield* ChainSettlements
      yield* sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''simulated''; END'`
      yield* sql`CREATE TRIGGER refuse BEFORE UPDATE ON chain_settlements EXECUTE FUNCTION refuse()`
      const lines: Array<string> = []
      const logger = Logger.map(Logger.formatJson, (line) => void lines.push(line))
      const wanted = order()
      const outcome = yield* Effect.provide(settle(wanted), Logger.layer([logger]))
      assert.strictEqual(outcome._tag, "Pending")
      assert.match(lines.join("\n"), new RegExp(`could not be driven on.*${wanted.id}`))
      yield* sql`DROP TRIGGER refuse ON chain_settlements`
      assert.strictEqual(yield* reconcileDue, 1)
      assert.strictEqual((yield* settle(wanted))._tag, "Settled")
    })
  )
})

layer(testLayer(unattended), { timeout: "60 seconds" })("a settlement whose outcome cannot be written", (it) => {
  it.effect("is reported, and cuts off no other that the rail keeps waiting", () =>
    Effect.gen(function* () {
      const { get, reconcileDue, settle } = yield* ChainSettlements
      const answer = yield* Deferred.make<Outcome>()
      const reported = yield* Deferred.make<string>()
      const [bad, slow] = [order(), order()]
      const settled = { _tag: "Settled", transaction: `0x${"ab".repeat(32)}` } as const
      yield* chain.does(({ id }) =>
        id === bad.id ? Effect.succeed({ ...settled, log: 2 ** 40 }) : Deferred.await(answer)
      )
      for (const one of [slow, bad]) yield* settle(one)
      const logger = Logger.map(Logger.formatJson, (line) => void Deferred.doneUnsafe(reported, Effect.succeed(line)))
      const asking = yield* Effect.forkChild(Effect.provide(reconcileDue, Logger.layer([logger])))
      const ended = Effect.as(Fiber.await(asking), "the turn ended")
      assert.include(yield* Effect.raceFirst(Deferred.await(reported), ended), bad.id)
      yield* Deferred.succeed(answer, settled)
      yield* Fiber.join(asking)
      assert.strictEqual(Option.getOrThrow(yield* get(slow.id)).state, "confirmed")
    })
  )
})
