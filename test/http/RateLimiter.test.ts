import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { LimitedPurposes, RateLimiter, spend } from "#http/RateLimiter.ts"
import { HttpPolicy } from "#services/HttpPolicy.ts"

const limiter = (requestsPerMinute: number | undefined, limitedPurposes = true) =>
  RateLimiter.layer.pipe(
    Layer.provide(
      Layer.merge(
        Layer.succeed(HttpPolicy, { requestsPerMinute, trustedProxies: [], metricsToken: undefined }),
        Layer.succeed(LimitedPurposes, limitedPurposes)
      )
    )
  )

/** How many of so many tries at one purpose are let through. */
const tries = (count: number, perMinute: number) =>
  Effect.flatMap(RateLimiter, (limiter) =>
    Effect.map(
      Effect.replicateEffect(Effect.isSuccess(spend(limiter, "login ada@acme.example", perMinute)), count),
      (passed) => passed.filter((one) => one).length
    )
  )

describe("RateLimiter", () => {
  it.effect("counts what has a purpose where nothing else is counted, and gives it back with time", () =>
    Effect.gen(function* () {
      const { take } = yield* RateLimiter
      assert.isUndefined(take("ada", 0))
      assert.strictEqual(yield* tries(12, 10), 10)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* tries(12, 10), 5)
    }).pipe(Effect.provide(limiter(undefined)))
  )

  it.effect("lets no purpose have more than a caller has at all", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* tries(12, 10), 3)
    }).pipe(Effect.provide(limiter(3)))
  )

  it.effect("counts no purpose only where a test says so", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* tries(100, 10), 100)
    }).pipe(Effect.provide(limiter(undefined, false)))
  )
})
