import { assert, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { flat } from "#domain/Price.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { balance, elsewhere, ended, hold, outcome, Test, transfer, wallet } from "./LedgerHarness.ts"

/** A payer with 10 and a payee with nothing that the ledger has moved money between: it knows them, and whether others move it too. */
const acquainted = Effect.fnUntraced(function* (beside: boolean) {
  const { post } = yield* Ledger
  const other = yield* elsewhere
  const [payer, payee] = [yield* wallet(10n), yield* wallet()]
  yield* post(transfer(payer, payee, 1n))
  if (beside) {
    yield* other.post(transfer(payer, payee, 1n))
    yield* post(transfer(payee, payer, 1n))
    yield* other.post(transfer(payer, payee, 1n))
    yield* post(transfer(payee, payer, 2n))
  } else yield* post(transfer(payee, payer, 1n))
  return { payer, payee, other }
})

/** Something that is counted, once with each of the commands it makes. */
const countable = (payer: string, payee: string) => {
  const ref = { scope: newUuid(), subject: newUuid() }
  const step = { kind: "count" as const, debit: payer, credit: payee, currency: "USDC", code: "call", tally: ref }
  return { ref, counted: () => ({ id: newUuid(), steps: [step] }) }
}

/** The same, and what is held for one that costs 4, and 1 after the second. */
const tiered = Effect.fnUntraced(function* (payer: string, payee: string) {
  const { post } = yield* Ledger
  const { counted, ref } = countable(payer, payee)
  const price = { base: 4n, tiers: [{ threshold: 2, amount: 1n }] }
  const cost = Effect.gen(function* () {
    const { id, steps } = yield* hold(payer, payee, 4n)
    const { movements } = yield* post({ id, steps: steps.map((step) => ({ ...step, price, tally: ref })) })
    yield* post(ended(id, payer, payee, "release"))
    return movements[0]?.amount
  })
  return { cost, counted }
})

for (const beside of [false, true]) {
  layer(Test, { timeout: "60 seconds" })(
    `a ledger that remembers the books${beside ? ", beside another" : ""}`,
    (it) => {
      it.effect(
        "posts a group between accounts that it knows in one statement after another, without asking first",
        () =>
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            const { post } = yield* Ledger
            const { payee, payer } = yield* acquainted(beside)
            const reads = sql`SELECT pg_stat_force_next_flush(), coalesce(sum(idx_scan), 0)::int AS scans FROM pg_stat_user_indexes
        WHERE indexrelname = 'movements_command'`
            const [before] = yield* reads
            yield* post(transfer(payer, payee, 1n))
            const [after] = yield* reads
            assert.strictEqual(after?.["scans"], before?.["scans"])
          })
      )

      it.effect("sees what another process has spent", () =>
        Effect.gen(function* () {
          const { post } = yield* Ledger
          const { other, payee, payer } = yield* acquainted(beside)
          yield* other.post(transfer(payer, payee, 8n))
          assert.strictEqual(outcome(yield* Effect.result(post(transfer(payer, payee, 3n)))), "INSUFFICIENT_BALANCE")
          yield* post(transfer(payer, payee, 2n))
          assert.deepStrictEqual(yield* balance(payer), { posted: 0n, held: 0n })
          assert.deepStrictEqual(yield* balance(payee), { posted: 10n, held: 0n })
        })
      )

      it.effect("sees a hold that another process has captured", () =>
        Effect.gen(function* () {
          const { post } = yield* Ledger
          const { other, payee, payer } = yield* acquainted(beside)
          const held = yield* hold(payer, payee, 4n)
          yield* post(held)
          yield* other.post(ended(held.id, payer, payee, "capture"))
          assert.strictEqual(
            outcome(yield* Effect.result(post(ended(held.id, payer, payee, "capture")))),
            "HOLD_NOT_OPEN"
          )
          assert.deepStrictEqual(yield* balance(payee), { posted: 4n, held: 0n })
        })
      )

      it.effect("forgets everything when others have written, not only what it reads again", () =>
        Effect.gen(function* () {
          const { post, tally } = yield* Ledger
          const { other, payee, payer } = yield* acquainted(beside)
          const { counted, ref } = countable(payer, payee)
          yield* post(counted())
          yield* other.post(counted())
          for (let again = 0; again < 3; again++) yield* post(transfer(payer, payee, 1n))
          yield* post(counted())
          assert.strictEqual((yield* tally(ref.scope, ref.subject)).count, 3n)
        })
      )

      it.effect("knows how far a count has come that it raised without asking for it", () =>
        Effect.gen(function* () {
          const { post } = yield* Ledger
          const { payee, payer } = yield* acquainted(beside)
          const { cost, counted } = yield* tiered(payer, payee)
          yield* post(counted())
          assert.strictEqual(yield* cost, 4n)
          yield* post(counted())
          assert.strictEqual(yield* cost, 1n)
        })
      )

      it.effect("sees a version that another process has raised without moving anything", () =>
        Effect.gen(function* () {
          const { post } = yield* Ledger
          const { other, payee, payer } = yield* acquainted(beside)
          const scope = newUuid()
          yield* post({ ...transfer(payer, payee, 1n), fences: [{ scope, expected: 0n }] })
          yield* other.post({ id: newUuid(), steps: [], fences: [{ scope, expected: 1n }] })
          const late = post({ ...transfer(payer, payee, 1n), fences: [{ scope, expected: 1n }] })
          assert.strictEqual(outcome(yield* Effect.result(late)), "SUPERSEDED")
        })
      )

      it.effect("writes behind the head of the log, wherever that is", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { post } = yield* Ledger
          const { payee, payer } = yield* acquainted(beside)
          const [head] =
            yield* sql`UPDATE ledger_head SET movement_seq = movement_seq + 5 WHERE log = 1 RETURNING movement_seq`
          const { movements } = yield* post(transfer(payer, payee, 1n))
          assert.strictEqual(movements[0]?.seq, BigInt(String(head?.["movement_seq"])) + 1n)
        })
      )

      it.effect("believes nothing on a new connection, which may be one to another server", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { post, tally } = yield* Ledger
          const { payee, payer } = yield* acquainted(beside)
          const { counted, ref } = countable(payer, payee)
          yield* post(counted())
          yield* sql`UPDATE tallies SET count = 10 WHERE scope = ${ref.scope}`
          yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'turnpike-ledger' AND datname = current_database()`
          yield* post(counted())
          assert.strictEqual((yield* tally(ref.scope, ref.subject)).count, 11n)
        })
      )

      it.effect(
        "prices by no count from before its connection was lost, whatever it asks for first on the next one",
        () =>
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            const { post } = yield* Ledger
            const { other, payee, payer } = yield* acquainted(beside)
            const { cost, counted } = yield* tiered(payer, payee)
            assert.strictEqual(yield* cost, 4n)
            yield* other.post(counted())
            yield* other.post(counted())
            yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'turnpike-ledger' AND datname = current_database()`
            yield* post(transfer(payer, payee, 1n))
            assert.strictEqual(yield* cost, 1n)
          })
      )

      it.effect("sees a freeze, whoever ordered it", () =>
        Effect.gen(function* () {
          const { post } = yield* Ledger
          const { other, payee, payer } = yield* acquainted(beside)
          yield* other.setFrozen(payer, true)
          assert.strictEqual(outcome(yield* Effect.result(post(transfer(payer, payee, 1n)))), "WALLET_FROZEN")
          yield* other.setFrozen(payer, false)
          yield* post(transfer(payer, payee, 1n))
          assert.deepStrictEqual(yield* balance(payee), { posted: 1n, held: 0n })
        })
      )

      it.effect("never ends a hold that has ended without a word in the log", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { post } = yield* Ledger
          const [payer, payee] = [yield* wallet(10n), yield* wallet()]
          const reserved = yield* hold(payer, payee, 4n)
          yield* post(reserved)
          yield* sql`UPDATE holds SET state = 'expired' WHERE id = ${reserved.id}`
          const answer = yield* Effect.result(post(ended(reserved.id, payer, payee, "capture")))
          assert.strictEqual(outcome(answer), "HOLD_NOT_OPEN")
          assert.deepStrictEqual(yield* balance(payee), { posted: 0n, held: 0n })
          yield* sql`UPDATE holds SET state = 'open' WHERE id = ${reserved.id}`
        })
      )

      it.effect("never writes over a balance that is not as it remembers it", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { post } = yield* Ledger
          const { payee, payer } = yield* acquainted(beside)
          yield* sql`UPDATE ledger_accounts SET posted = posted - 5 WHERE id = ${payer}`
          yield* post(transfer(payer, payee, 1n))
          assert.deepStrictEqual(yield* balance(payer), { posted: 4n, held: 0n })
          yield* sql`UPDATE ledger_accounts SET held = 4 WHERE id = ${payer}`
          assert.strictEqual(outcome(yield* Effect.result(post(transfer(payer, payee, 1n)))), "INSUFFICIENT_BALANCE")
          const other = yield* acquainted(beside)
          yield* sql`UPDATE ledger_accounts SET held = 4 WHERE id = ${other.payer}`
          yield* post(transfer(other.payer, other.payee, 1n))
          assert.deepStrictEqual(yield* balance(other.payer), { posted: 9n, held: 4n })
        })
      )

      it.effect("answers what was posted before as it was, although it would be refused today", () =>
        Effect.gen(function* () {
          const { post } = yield* Ledger
          const { payee, payer } = yield* acquainted(beside)
          const idempotency = { tenant_id: newUuid(), operation: "test", key: "k", fingerprint: "f" }
          const byId = transfer(payer, payee, 6n)
          const byKey = () => ({ ...transfer(payer, payee, 3n), idempotency, result: () => "first" })
          yield* post(byId)
          yield* post(byKey())
          // In one group with a command that is new.
          const [first, second] = yield* Effect.all([post(byId), post(byKey()), post(transfer(payee, payer, 1n))], {
            concurrency: 3
          })
          assert.deepInclude(first, { replayed: true })
          assert.deepInclude(second, { replayed: true, result: "first" })
          assert.deepStrictEqual(yield* balance(payee), { posted: 8n, held: 0n })
        })
      )

      it.effect("answers what was posted before as it was, although today it would have nothing to move", () =>
        Effect.gen(function* () {
          const { post } = yield* Ledger
          const { payee, payer } = yield* acquainted(beside)
          const held = yield* hold(payer, payee, 2n)
          yield* post(held)
          const free = { ...held, steps: held.steps.map((step) => ({ ...step, price: flat(0n) })) }
          // In one group with a command that moves something.
          const [again] = yield* Effect.all([post(free), post(transfer(payer, payee, 1n))], { concurrency: 2 })
          assert.strictEqual(again.replayed, true)
        })
      )

      it.effect("answers an item that was posted before as it was, beside one that is new today", () =>
        Effect.gen(function* () {
          const { post } = yield* Ledger
          const { payee, payer } = yield* acquainted(beside)
          const third = yield* wallet()
          const batch = { id: newUuid(), steps: [], items: [transfer(payer, payee, 6n), transfer(third, payee, 2n)] }
          const outcomes = Effect.map(post(batch), ({ items = [] }) =>
            items.map((item) => (Result.isSuccess(item) ? item.success.replayed : item.failure._tag))
          )
          assert.deepStrictEqual(yield* outcomes, [false, "INSUFFICIENT_BALANCE"])
          yield* post(transfer(payer, third, 2n))
          assert.deepStrictEqual(yield* outcomes, [true, false])
          assert.deepStrictEqual(yield* balance(payee), { posted: 8n, held: 0n })
        })
      )

      it.effect("numbers facts after those that others have written", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { post } = yield* Ledger
          const { payee, payer } = yield* acquainted(beside)
          const tenant_id = newUuid()
          const events = (type: string) => () => [
            { tenant_id, type: "transfer.created" as const, data: { type } },
            { tenant_id, type: "transfer.completed" as const, data: { type } }
          ]
          yield* post({ ...transfer(payer, payee, 1n), events: events("one") })
          yield* sql`WITH head AS (UPDATE ledger_head SET event_seq = event_seq + 1 WHERE log = 1 RETURNING event_seq)
        INSERT INTO events (seq, id, tenant_id, type, data, created_at)
        SELECT event_seq, ${newUuid()}, ${tenant_id}, 'transfer.created', '{"type": "other"}', now() FROM head`
          yield* post({ ...transfer(payer, payee, 1n), events: events("two") })
          const rows = yield* sql`SELECT data->>'type' AS said, type, (seq - min(seq) OVER ())::int AS place FROM events
        WHERE tenant_id = ${tenant_id} ORDER BY seq`
          assert.deepStrictEqual(
            rows.map(({ place, said, type }) => `${place} ${said} ${type}`),
            [
              "0 one transfer.created",
              "1 one transfer.completed",
              "2 other transfer.created",
              "3 two transfer.created",
              "4 two transfer.completed"
            ]
          )
        })
      )
    }
  )
}
