import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { LimitedPurposes, RateLimiter, spend } from "#http/RateLimiter.ts"
import { HttpPolicy } from "#services/HttpPolicy.ts"

const limiter = (requestsPerMinute: number | undefined, limitedPurposes = true, trustedProxies: Array<string> = []) =>
  RateLimiter.layer.pipe(
    Layer.provide(
      Layer.merge(
        Layer.succeed(HttpPolicy, { requestsPerMinute, trustedProxies, metricsToken: undefined }),
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

/** What a request that comes from this address by way of a trusted proxy counts for. */
const countedFor = (address: string) =>
  Effect.map(RateLimiter, ({ addressOf }) => {
    const request = new IncomingMessage(new Socket())
    Object.defineProperty(request.socket, "remoteAddress", { value: "10.0.0.1" })
    request.headers["x-forwarded-for"] = address
    return addressOf(request)
  })

describe("RateLimiter", () => {
  it.effect("counts the addresses of one IPv6 network as one caller, and every IPv4 address for itself", () =>
    Effect.gen(function* () {
      const of = (...addresses: ReadonlyArray<string>) =>
        Effect.map(Effect.forEach(addresses, countedFor), (found) => new Set(found).size)
      assert.strictEqual(yield* of("2001:db8:1:2::1", "2001:db8:1:2:ffff::", "2001:db8:1:2:3:4:5:6"), 1)
      assert.strictEqual(yield* of("2001:db8:1:2::1", "2001:db8:1:3::1", "2001:db8::2:0:0:0:1", "2001:db8::1"), 4)
      assert.strictEqual(yield* of("::1:2:3:4:5", "0:0:0:1:9:9:9:9"), 1)
      assert.strictEqual(yield* of("192.0.2.1", "192.0.2.2"), 2)
      assert.strictEqual(yield* of("192.0.2.1", "::ffff:192.0.2.1"), 1)
    }).pipe(Effect.provide(limiter(10, true, ["10.0.0.1"])))
  )

  it.effect("counts the connections of a caller together whose proxy names their ports", () =>
    Effect.gen(function* () {
      const found = yield* Effect.forEach(
        [
          "192.0.2.1:4711",
          "192.0.2.1:4712",
          "[2001:db8::1]:4711",
          "[2001:db8::1]:4712",
          "[::ffff:192.0.2.1]",
          "192.0.2.1:1, 10.0.0.1:2"
        ],
        countedFor
      )
      assert.deepStrictEqual([...new Set(found)], ["192.0.2.1", "2001:db8:0:0"])
    }).pipe(Effect.provide(limiter(10, true, ["10.0.0.1"])))
  )

  it.effect("counts whoever stood before our proxies, and none whom that caller says he stands for", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* countedFor("198.51.100.7, 192.0.2.1, 10.0.0.1"), "192.0.2.1")
      assert.strictEqual(yield* countedFor("198.51.100.7, 192.0.2.1,, "), "192.0.2.1")
    }).pipe(Effect.provide(limiter(10, true, ["10.0.0.1"])))
  )

  it.effect("takes no proxy's word that it does not know for who calls", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* countedFor("192.0.2.1"), "10.0.0.1")
    }).pipe(Effect.provide(limiter(10, true, ["10.0.0.2"])))
  )

  it.effect("counts what has a purpose where nothing else is counted, and gives it back with time", () =>
    Effect.gen(function* () {
      const { take } = yield* RateLimiter
      assert.isUndefined(take("ada"))
      assert.strictEqual(yield* tries(12, 10), 10)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* tries(12, 10), 5)
    }).pipe(Effect.provide(limiter(undefined)))
  )

  it.effect("gives back what it would have if the time had not been set", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* tries(12, 10), 10)
      yield* TestClock.setTime(-3_600_000)
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

  it.effect("forgets who was silent longest, not who goes on asking", () =>
    Effect.gen(function* () {
      const { take } = yield* RateLimiter
      const isAllowed = (caller: string) => take(caller)?.allowed
      for (const caller of ["bob", "ada"]) assert.isTrue(isAllowed(caller))
      for (let other = 0; other < 100_000; other++) {
        isAllowed(`other ${other}`)
        if (other % 10_000 === 0) assert.isFalse(isAllowed("ada"))
      }
      assert.isTrue(isAllowed("bob"))
    }).pipe(Effect.provide(limiter(1)))
  )
})
