import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Patience } from "#http/Patience.ts"
import { setClock } from "../services/SetClock.ts"

layer(Patience.layer)("patience", (it) => {
  it.effect("ends for all that is late, also when one of them cannot be given up", () =>
    Effect.gen(function* () {
      const { watch } = yield* Patience
      const given: Array<string> = []
      watch(() => {
        throw new Error("simulated")
      })
      watch(() => given.push("with it"))
      yield* TestClock.adjust("13 seconds")
      assert.deepStrictEqual(given, ["with it"])
      watch(() => given.push("after it"))
      yield* TestClock.adjust("13 seconds")
      assert.deepStrictEqual(given, ["with it", "after it"])
    })
  )

  it.effect("ends as soon when the time is set back or forward meanwhile", () =>
    Effect.gen(function* () {
      const { clock, set } = yield* setClock
      const built = yield* Effect.provideService(Layer.build(Layer.fresh(Patience.layer)), Clock.Clock, clock)
      const { watch } = Context.get(built, Patience)
      const given: Array<string> = []
      watch(() => given.push("before it was set back"))
      set.by = -3_600_000
      watch(() => given.push("after it was set back"))
      yield* TestClock.adjust("13 seconds")
      assert.deepStrictEqual(given, ["before it was set back", "after it was set back"])
      watch(() => given.push("too early"))
      set.by = 3_600_000
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(given.length, 2)
    })
  )
})
