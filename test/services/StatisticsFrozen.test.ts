import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Latch } from "effect"
import * as Test from "#layers/Test.ts"
import * as RollUp from "#services/Statistics/RollUp.ts"
import { ended, read, record, shop } from "./StatisticsHarness.ts"

layer(Test.layer, { timeout: "60 seconds" })("a process that stands still while it counts", (it) => {
  it.effect("does not have the others refused who ask for statistics", () =>
    Effect.gen(function* () {
      const market = yield* shop
      yield* record([ended(market, {})])
      const counting = Latch.makeUnsafe()
      const clock = yield* Clock.Clock
      // It looks at the time when it has read the events and before it writes what it counted.
      const standing: Clock.Clock = Object.assign(Object.create(clock), {
        currentTimeMillis: Effect.andThen(counting.open, Effect.never)
      })
      const { rollUp } = yield* RollUp.make
      yield* Effect.forkScoped(Effect.ignore(Effect.provideService(rollUp, Clock.Clock, standing)))
      yield* counting.await
      assert.strictEqual((yield* read(market, "all")).totalCalls, 1n)
    })
  )
})
