import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Disputes } from "#services/Disputes.ts"
import { Refunds } from "#services/Refunds.ts"
import { Settlements } from "#services/Settlements.ts"
import { dispute, refund, sound } from "./RefundsHarness.ts"
import { balance, begun, broken, pair, rail, system, testLayer, transferOf } from "./SettlementsHarness.ts"

const Test = Layer.mergeAll(Refunds.layer, Disputes.layer).pipe(Layer.provideMerge(testLayer()))

layer(Test, { timeout: "60 seconds" })("a cross-border transfer that a rail settled", (it) => {
  for (const receives of ["EURC", "USDC"] as const) {
    it.effect(`to ${receives} is refunded in odd parts as exactly as it was made, and the books agree`, () =>
      Effect.gen(function* () {
        yield* rail.does("complete")
        const parties = yield* pair(100_000_003n, receives)
        const before = yield* system
        const { caller, from, to } = parties
        const { id } = yield* begun(parties, { quotedAmount: 100_000_003n })
        const early = yield* Effect.flip(refund(caller, id))
        assert.deepInclude(early, { _tag: "STATE_TRANSITION_INVALID", from: "pending" })
        yield* Effect.repeat((yield* Settlements).settleDue, { until: (due) => due === 0 })
        const settled = yield* transferOf(caller, id)
        assert.strictEqual(settled.status, "completed")
        assert.isAbove(Number(settled.fee), 0)
        for (const amount of [1n, 33_333_333n, 7_777_777n]) yield* refund(caller, id, amount)
        const { id: dp } = yield* dispute(caller, id)
        const verdict = { resolution: "full_refund", refund_amount: undefined, notes: null } as const
        yield* (yield* Disputes).resolve(caller, dp, verdict)
        assert.deepStrictEqual(yield* balance(from), { posted: 100_000_003n, held: 0n })
        assert.deepStrictEqual(yield* balance(to), { posted: 0n, held: 0n })
        assert.strictEqual((yield* transferOf(caller, id)).refunded_amount, 100_000_003n)
        assert.deepStrictEqual(yield* system, before)
        assert.deepStrictEqual(yield* broken, [])
        yield* sound
      })
    )
  }
})
