import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Disputes } from "#services/Disputes.ts"
import { verdict } from "./DisputesHarness.ts"
import { dispute, paid, platform } from "./RefundsHarness.ts"

const answer = { response: "It was delivered", counter_evidence: [] }

layer(platform, { timeout: "60 seconds" })("opening a dispute once more", (it) => {
  it.effect("is refused for a reason that was answered and decided against the filer, and possible for another", () =>
    Effect.gen(function* () {
      const { escalate, resolve, respond } = yield* Disputes
      for (const isEscalated of [false, true]) {
        const { caller, id } = yield* paid
        const first = yield* dispute(caller, id, { reason: "other" })
        yield* respond(caller, first.id, answer)
        if (isEscalated) yield* escalate(caller, first.id, null)
        yield* resolve(caller, first.id, verdict("no_refund"))
        const refused = yield* Effect.flip(dispute(caller, id, { reason: "other" }))
        assert.deepInclude(refused, { _tag: "DISPUTE_DECIDED", reason: "other" })
        const second = yield* dispute(caller, id, { reason: "quality_issue" })
        yield* resolve(caller, second.id, verdict("no_refund"))
        // The other reason stays decided, and what nobody answered was withdrawn.
        assert.strictEqual((yield* Effect.flip(dispute(caller, id, { reason: "other" })))._tag, "DISPUTE_DECIDED")
        assert.strictEqual((yield* dispute(caller, id, { reason: "quality_issue" })).status, "open")
      }
    })
  )

  it.effect("is possible again for a reason that was decided with money back, or that nobody answered in time", () =>
    Effect.gen(function* () {
      const { resolve, resolveDue, respond } = yield* Disputes
      const { caller, id } = yield* paid
      for (const wanted of [verdict("partial_refund", 1n), verdict("credit"), verdict("other")]) {
        const { id: dp } = yield* dispute(caller, id, { reason: "other" })
        yield* respond(caller, dp, answer)
        yield* resolve(caller, dp, wanted)
      }
      yield* dispute(caller, id, { reason: "other", requested_resolution: "no_refund" })
      yield* TestClock.adjust("31 days")
      yield* Effect.repeat(resolveDue, { until: (count) => count === 0 })
      assert.strictEqual((yield* dispute(caller, id, { reason: "other" })).status, "open")
    })
  )
})
