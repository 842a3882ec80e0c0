import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Patience } from "#http/Patience.ts"

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
})
