import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { Disputes } from "#services/Disputes.ts"
import { whileHeadIsHeld } from "./LockHarness.ts"
import { available, dispute, hundred, paid, platform } from "./RefundsHarness.ts"

layer(platform, { timeout: "60 seconds" })("a dispute that nobody answered in time", (it) => {
  it.effect("is decided for its filer, and by nobody who comes before that has happened", () =>
    Effect.gen(function* () {
      const disputes = yield* Disputes
      const { caller, id, payer } = yield* paid
      const { id: dp } = yield* dispute(caller, id)
      yield* TestClock.adjust("30 days")
      for (const resolution of ["no_refund", "partial_refund", "full_refund"] as const) {
        const refund_amount = resolution === "partial_refund" ? 1n : undefined
        const late = yield* Effect.flip(disputes.resolve(caller, dp, { resolution, refund_amount, notes: null }))
        assert.strictEqual(late._tag, "RESPONSE_WINDOW_EXPIRED")
      }
      yield* disputes.resolveDue
      assert.deepInclude(yield* disputes.get(caller, dp), { status: "resolved", resolution: "full_refund" })
      assert.strictEqual(yield* available(caller, payer), hundred)
    })
  )

  it.effect("may be decided by others in the moment before, and once it was answered at any time", () =>
    Effect.gen(function* () {
      const disputes = yield* Disputes
      const verdict = { resolution: "no_refund", refund_amount: undefined, notes: null } as const
      const [one, other] = [yield* paid, yield* paid]
      const answered = yield* dispute(one.caller, one.id)
      const open = yield* dispute(other.caller, other.id)
      yield* disputes.respond(one.caller, answered.id, { response: "It was sent", counter_evidence: [] })
      yield* TestClock.adjust(Duration.subtract(Duration.days(30), Duration.millis(1)))
      const { dispute: ended } = yield* disputes.resolve(other.caller, open.id, verdict)
      assert.strictEqual(ended.resolution, "no_refund")
      yield* TestClock.adjust("1 day")
      yield* disputes.resolveDue
      const { dispute: late } = yield* disputes.resolve(one.caller, answered.id, verdict)
      assert.strictEqual(late.resolution, "no_refund")
    })
  )

  for (const way of ["respond", "resolve"] as const) {
    it.effect(`is not decided otherwise by who came in time and slept until it was over: ${way}`, () =>
      Effect.gen(function* () {
        const disputes = yield* Disputes
        const { caller, id, payer } = yield* paid
        const { id: dp } = yield* dispute(caller, id)
        yield* TestClock.adjust(Duration.subtract(Duration.days(30), Duration.seconds(1)))
        const ways = {
          respond: Effect.flip(disputes.respond(caller, dp, { response: "It was sent", counter_evidence: [] })),
          resolve: Effect.flip(
            disputes.resolve(caller, dp, { resolution: "no_refund", refund_amount: undefined, notes: null })
          )
        }
        const late: Effect.Effect<{ readonly _tag: string }, object> = ways[way]
        const { made } = yield* whileHeadIsHeld(late, TestClock.adjust("1 second"))
        assert.strictEqual(made._tag, "RESPONSE_WINDOW_EXPIRED")
        yield* disputes.resolveDue
        assert.strictEqual(yield* available(caller, payer), hundred)
      })
    )
  }
})
