import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Disputes } from "#services/Disputes.ts"
import { Refunds } from "#services/Refunds.ts"
import { Transfers } from "#services/Transfers.ts"
import { whileOthersHave } from "./LockHarness.ts"
import { available, dispute, hundred, paid, platform, refund, services, sound } from "./RefundsHarness.ts"

const answer = { response: "It was delivered", counter_evidence: [] }

/** Everything that is due, however often a step has to be made. */
const resolveAll = Effect.flatMap(Disputes, ({ resolveDue }) =>
  Effect.repeat(resolveDue, { until: (due) => due === 0 })
)

layer(platform, { timeout: "60 seconds" })("a dispute that nobody answers", (it) => {
  it.effect("is resolved in the filer's favour after 30 days, with the refund, and not before", () =>
    Effect.gen(function* () {
      const { get } = yield* Disputes
      const { caller, id, payer } = yield* paid
      const { id: dp } = yield* dispute(caller, id, { amount_disputed: 60_000_000n })
      yield* TestClock.adjust("29 days")
      yield* TestClock.adjust("23 hours")
      yield* resolveAll
      assert.strictEqual((yield* get(caller, dp)).status, "open")
      yield* TestClock.adjust("1 hour")
      yield* resolveAll
      const ended = yield* get(caller, dp)
      assert.deepInclude(ended, { status: "resolved", resolution: "full_refund" })
      assert.strictEqual(yield* available(caller, payer), 60_000_000n)
      const made = yield* (yield* Refunds).get(caller, ended.refund_id!)
      assert.deepInclude(made, { status: "completed", dispute_id: dp, amount: 60_000_000n })
      const back = yield* (yield* Transfers).get(caller, made.refund_transfer_id!)
      assert.deepStrictEqual(back.initiated_by, { type: "system", id: "disputes" })
      yield* sound
    })
  )

  it.effect("cannot be answered from the moment the time is over, whether it was resolved yet or not", () =>
    Effect.gen(function* () {
      const { respond } = yield* Disputes
      const { caller, id } = yield* paid
      const { id: dp } = yield* dispute(caller, id)
      yield* TestClock.adjust("30 days")
      assert.strictEqual((yield* Effect.flip(respond(caller, dp, answer)))._tag, "RESPONSE_WINDOW_EXPIRED")
    })
  )

  it.effect("that was answered stays under review for ever", () =>
    Effect.gen(function* () {
      const { get, respond } = yield* Disputes
      const { caller, id } = yield* paid
      const { id: dp } = yield* dispute(caller, id)
      yield* TestClock.adjust("29 days")
      yield* respond(caller, dp, answer)
      yield* TestClock.adjust("30 days")
      yield* resolveAll
      assert.strictEqual((yield* get(caller, dp)).status, "under_review")
    })
  )

  it.effect("gets what was requested: no refund where none was, a partial one of what is disputed", () =>
    Effect.gen(function* () {
      const { get } = yield* Disputes
      const [none, part] = [yield* paid, yield* paid]
      const first = yield* dispute(none.caller, none.id, { requested_resolution: "no_refund" })
      const second = yield* dispute(part.caller, part.id, {
        requested_resolution: "partial_refund",
        amount_disputed: 1n
      })
      yield* TestClock.adjust("30 days")
      yield* resolveAll
      assert.deepInclude(yield* get(none.caller, first.id), { resolution: "no_refund", refund_id: null })
      assert.deepInclude(yield* get(part.caller, second.id), { resolution: "partial_refund" })
      assert.strictEqual(yield* available(part.caller, part.payer), 1n)
      yield* sound
    })
  )

  it.effect("refunds what is disputed less what has come back meanwhile, and nothing when that is as much", () =>
    Effect.gen(function* () {
      const { get } = yield* Disputes
      for (const [disputed, refunded, total, resolution] of [
        [100n, 100n, 100n, "no_refund"],
        [60n, 60n, 60n, "no_refund"],
        [60n, 70n, 70n, "no_refund"],
        [60n, 20n, 60n, "full_refund"],
        [100n, 20n, 100n, "full_refund"]
      ] as const) {
        const { caller, id, payer } = yield* paid
        const { id: dp } = yield* dispute(caller, id, { amount_disputed: disputed * 1_000_000n })
        yield* refund(caller, id, refunded * 1_000_000n)
        yield* TestClock.adjust("30 days")
        yield* resolveAll
        assert.deepInclude(yield* get(caller, dp), { status: "resolved", resolution })
        assert.strictEqual(yield* available(caller, payer), total * 1_000_000n)
      }
      yield* sound
    })
  )

  it.effect("is resolved once by any number of processes", () =>
    Effect.gen(function* () {
      const { get } = yield* Disputes
      const { caller, id, payer } = yield* paid
      const { id: dp } = yield* dispute(caller, id, { amount_disputed: 10n })
      yield* TestClock.adjust("30 days")
      // Built at the end of the 30 days: its clocks would tick all through them.
      const elsewhere = yield* Layer.build(Layer.fresh(services))
      yield* Effect.all(
        Array.from({ length: 8 }, (_, index) => (index % 2 ? resolveAll : Effect.provide(resolveAll, elsewhere))),
        { concurrency: 8 }
      )
      assert.strictEqual((yield* get(caller, dp)).status, "resolved")
      assert.strictEqual(yield* available(caller, payer), 10n)
      yield* sound
    })
  )

  it.effect("and that another process has in hand is left to it, and keeps nobody waiting", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { resolveDue } = yield* Disputes
      const { caller, id } = yield* paid
      yield* dispute(caller, id)
      yield* TestClock.adjust("30 days")
      assert.strictEqual(yield* whileOthersHave(sql`SELECT 1 FROM disputes FOR UPDATE`, resolveDue), 0)
      assert.isAbove(yield* resolveDue, 0)
    })
  )

  it.effect("that a dead process had taken is resolved when its lease is over", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { get, resolveDue } = yield* Disputes
      const { caller, id } = yield* paid
      const { id: dp } = yield* dispute(caller, id)
      yield* TestClock.adjust("30 days")
      // What the dead process did: it took the dispute, and nothing else.
      yield* sql`UPDATE disputes SET due_at = due_at + interval '1 minute' WHERE id = ${dp}`
      yield* resolveDue
      assert.strictEqual((yield* get(caller, dp)).status, "open")
      yield* TestClock.adjust("1 minute")
      yield* resolveDue
      assert.strictEqual((yield* get(caller, dp)).status, "resolved")
    })
  )

  it.effect("and is decided by somebody at that moment ends once, one way or the other", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { get, resolve } = yield* Disputes
      const outcomes = new Set<string>()
      for (let round = 0; round < 20; round++) {
        const { caller, id, payer } = yield* paid
        const { id: dp } = yield* dispute(caller, id)
        yield* sql`UPDATE disputes SET due_at = created_at WHERE id = ${dp}`
        const elsewhere = yield* Layer.build(Layer.fresh(services))
        const decided = Effect.result(
          resolve(caller, dp, { resolution: "credit", refund_amount: undefined, notes: null })
        )
        const late = Effect.provide(resolveAll, elsewhere)
        const both: ReadonlyArray<Effect.Effect<unknown>> = round % 2 ? [decided, late] : [late, decided]
        yield* Effect.all(both, { concurrency: 2 })
        const ended = yield* get(caller, dp)
        outcomes.add(ended.resolution ?? "none")
        assert.strictEqual(yield* available(caller, payer), ended.resolution === "credit" ? 0n : hundred)
      }
      assert.notInclude([...outcomes], "none")
      yield* sound
    })
  )

  it.effect("answered at the last moment is either under review or resolved, never both", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { get, respond } = yield* Disputes
      for (let round = 0; round < 20; round++) {
        const { caller, id, payer } = yield* paid
        const { id: dp } = yield* dispute(caller, id)
        // The window of a worker whose clock is ahead is over.
        yield* sql`UPDATE disputes SET due_at = created_at WHERE id = ${dp}`
        const elsewhere = yield* Layer.build(Layer.fresh(services))
        const [answered] = yield* Effect.all(
          [Effect.result(respond(caller, dp, answer)), Effect.provide(resolveAll, elsewhere)],
          { concurrency: 2 }
        )
        const { status } = yield* get(caller, dp)
        assert.strictEqual(status, answered._tag === "Success" ? "under_review" : "resolved")
        assert.strictEqual(yield* available(caller, payer), answered._tag === "Success" ? 0n : hundred)
      }
      yield* sound
    })
  )
})
