import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import * as Postgres from "#layers/Postgres.ts"
import * as Claims from "#services/Scans/Claims.ts"

layer(Postgres.layerTest, { timeout: "60 seconds" })("a claim of the scanner", (it) => {
  it.effect("that another process took over is neither prolonged nor ended by who slept through its lease", () =>
    Effect.gen(function* () {
      const { end, prolong, take } = yield* Claims.make(Duration.seconds(30))
      const took = Effect.map(take("scan", "shop.example", "", Claims.noWords), Option.getOrThrow)
      const slept = yield* took
      yield* TestClock.adjust("30 seconds")
      const awake = yield* took
      assert.deepStrictEqual([yield* prolong(slept), yield* end(slept)], [false, false])
      assert.deepStrictEqual([yield* prolong(awake), yield* end(awake)], [true, true])
    })
  )
})
