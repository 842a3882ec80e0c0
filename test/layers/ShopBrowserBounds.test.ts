import { assert, it } from "@effect/vitest"
import { Deferred, Duration, Effect, References } from "effect"
import * as Memory from "#layers/ShopBrowser/Memory.ts"

it.live("a browser that could not be looked after once is looked after again", () =>
  Effect.gen(function* () {
    const looked = yield* Deferred.make<number>()
    let times = 0
    const isFlooded = () => {
      // As the system says who has no more files to open.
      if (++times === 1) throw new Error("EMFILE: too many open files")
      Deferred.doneUnsafe(looked, Effect.succeed(times))
      return false
    }
    yield* Memory.bound({ root: process.pid, isFlooded, endAll: Effect.void }).pipe(
      Effect.provideService(Memory.MemoryPolicy, { most: Number.MAX_SAFE_INTEGER, every: Duration.millis(5) }),
      Effect.provideService(References.MinimumLogLevel, "None")
    )
    assert.strictEqual(yield* Deferred.await(looked), 2)
  }).pipe(Effect.scoped)
)
