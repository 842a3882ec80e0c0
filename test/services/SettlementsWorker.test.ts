import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { toTypeId } from "#domain/Ids.ts"
import { Settlements } from "#services/Settlements.ts"
import { begun, broken, pair, rail, testLayer, transferOf } from "./SettlementsHarness.ts"

layer(testLayer(), { timeout: "60 seconds" })("the settlement worker", (it) => {
  it.effect("goes on with the others while the rail leaves many without an answer", () =>
    Effect.gen(function* () {
      yield* Layer.build(Settlements.layerWorker)
      const parties = yield* pair(10_000_000_000n)
      yield* rail.does("hang")
      // One after the other, so that no two are taken together.
      for (let one = 0; one < 20; one++) {
        const { id } = yield* begun(parties)
        assert.strictEqual((yield* rail.asked).order.reference, toTypeId("tx", id))
      }
      yield* rail.does("complete")
      const { id } = yield* begun(parties)
      assert.strictEqual((yield* rail.asked).order.reference, toTypeId("tx", id))
      // No time passes: none of the twenty was given up meanwhile.
      while ((yield* transferOf(parties.caller, id)).status !== "completed") yield* Effect.yieldNow
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("asks about 200 at a time at most, and about the next when one of them was given up", () =>
    Effect.gen(function* () {
      const parties = yield* pair(10_000_000_000n)
      yield* rail.does("hang")
      const begin = Effect.forEach(Array.from({ length: 210 }), () => begun(parties, { quotedAmount: 1_000_000n }), {
        concurrency: 30
      })
      yield* begin
      yield* rail.questions
      yield* Layer.build(Settlements.layerWorker)
      const first = yield* Effect.forEach(Array.from({ length: 200 }), () => rail.asked)
      const { id } = yield* begun(parties, { quotedAmount: 1_000_000n })
      assert.strictEqual((yield* transferOf(parties.caller, id)).status, "pending")
      assert.strictEqual((yield* rail.questions).length, 0)
      // All of them are given up now, and none of them is due again yet.
      yield* TestClock.adjust("30 seconds")
      const next = yield* rail.asked
      assert.isFalse(first.some(({ order }) => order.reference === next.order.reference))
    })
  )
})
