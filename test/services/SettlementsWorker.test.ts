import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { toTypeId } from "#domain/Ids.ts"
import { Settlements } from "#services/Settlements.ts"
import { TransferRail } from "#services/TransferRail.ts"
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

layer(testLayer(), { timeout: "60 seconds" })("when the time is set back", (it) => {
  it.effect("what the rail was asked about before is asked about soon, and not when the time is there again", () =>
    Effect.gen(function* () {
      const { bringForward, settleDue } = yield* Settlements
      const parties = yield* pair()
      yield* TestClock.adjust("1 hour")
      yield* rail.does("pending")
      const { id } = yield* begun(parties)
      yield* settleDue
      yield* rail.questions
      yield* bringForward
      assert.strictEqual(yield* settleDue, 0, "it has just been asked about")
      yield* TestClock.setTime(0)
      yield* rail.does("complete")
      yield* bringForward
      yield* settleDue
      assert.strictEqual((yield* transferOf(parties.caller, id)).status, "completed")
      assert.deepStrictEqual(yield* broken, [])
    })
  )
})

layer(testLayer(), { timeout: "60 seconds" })("a server that has lost its settlement rail", (it) => {
  it.effect("says that nobody asks about what was begun with it, when nobody does", () =>
    Effect.gen(function* () {
      const said = yield* Deferred.make<string>()
      const logger = Logger.map(Logger.formatJson, (line) => void Deferred.doneUnsafe(said, Effect.succeed(line)))
      const logged = Effect.provide(Logger.layer([logger]))
      yield* begun(yield* pair())
      yield* logged((yield* Settlements).tellNeglected)
      assert.isFalse(yield* Deferred.isDone(said), "another process may have it")
      yield* TestClock.adjust("61 seconds")
      const worker = Layer.build(Settlements.layerWorker.pipe(Layer.provide(Layer.fresh(Settlements.layer))))
      type Rest = Context.Context<Effect.Services<typeof worker>>
      yield* logged(Effect.updateContext(worker, (all: Rest): Rest => Context.omit(TransferRail)(all)))
      assert.include(yield* Deferred.await(said), "ALERT: nobody asks about settlements")
    })
  )
})
