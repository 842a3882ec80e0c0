import { createServer, type RequestListener } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Queue, Scope } from "effect"
import { TestClock } from "effect/testing"
import type { Visit } from "#services/SiteVisits.ts"
import { listening } from "../layers/Listening.ts"
import { limits as ample, opened, siteVisits } from "./SiteVisitsHarness.ts"

/** Of virtual time. */
const limits = { ...ample, duration: Duration.seconds(8), perRequest: Duration.seconds(4) }

/** A shop for the length of the scope; each path that it is asked for comes out of `asked`. */
const shop = Effect.fnUntraced(function* (listener: RequestListener) {
  const asked = yield* Queue.bounded<string>(100)
  const server = createServer((request, response) => {
    Queue.offerUnsafe(asked, request.url ?? "")
    listener(request, response)
  })
  return { asked, domain: yield* listening(server) }
})
const answers: RequestListener = (_, response) => void response.end("yes")
const silence: RequestListener = () => {}

const told = (visit: Visit, url: string) =>
  Effect.map(visit.ask({ url }), (outcome) => (outcome._tag === "Answered" ? String(outcome.status) : outcome.reason))

describe("the time of a visit", () => {
  it.effect("leaves a pause between two beginnings, however many wait", () =>
    Effect.gen(function* () {
      const { asked, domain } = yield* shop(answers)
      const visit = yield* opened(domain, { limits: { ...limits, pace: Duration.seconds(1) } })
      const fibers = yield* Effect.forEach(["/a", "/b", "/c"], (path) => Effect.forkChild(told(visit, path)))
      assert.strictEqual(yield* Queue.take(asked), "/a")
      yield* TestClock.adjust("999 millis")
      assert.lengthOf(visit.requests(), 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* Queue.take(asked), "/b")
      assert.lengthOf(visit.requests(), 2)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), ["200", "200", "200"])
    })
  )

  it.effect("ends a request with its time, and the visit with its own", () =>
    Effect.gen(function* () {
      const { asked, domain } = yield* shop(silence)
      const visit = yield* opened(domain, { limits })
      const first = yield* Effect.forkChild(told(visit, "/a"))
      yield* Queue.take(asked)
      yield* TestClock.adjust("4 seconds")
      assert.strictEqual(yield* Fiber.join(first), "timeout")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* visit.remaining, Duration.seconds(3))
      const second = yield* Effect.forkChild(told(visit, "/b"))
      yield* Queue.take(asked)
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(yield* Fiber.join(second), "deadline")
      assert.strictEqual(yield* told(visit, "/c"), "deadline")
      assert.deepStrictEqual(
        visit.requests().map(({ failure, ms }) => [failure, ms]),
        [
          ["timeout", 4000],
          ["deadline", 3000]
        ]
      )
    })
  )

  it.effect("is not waited out by what would come too late anyway", () =>
    Effect.gen(function* () {
      const { domain } = yield* shop(answers)
      const visit = yield* opened(domain, { limits: { ...limits, pace: Duration.seconds(9) } })
      assert.deepStrictEqual([yield* told(visit, "/"), yield* told(visit, "/a")], ["200", "deadline"])
    })
  )
})

describe("what visits share", () => {
  it.effect("a visit has so many requests under way and no more, and all visits together so many", () =>
    Effect.gen(function* () {
      const { asked, domain } = yield* shop(silence)
      const visits = yield* siteVisits({ rules: { allowHosts: [domain] }, policy: { requests: 3 } })
      const one = yield* visits.open(visits.locate(domain), { ...limits, concurrency: 2 })
      const other = yield* visits.open(visits.locate(domain), { ...limits, concurrency: 2 })
      const fibers = yield* Effect.forEach([one, one, one, other, other, other], (visit, index) =>
        Effect.forkChild(told(visit, `/${index}`))
      )
      for (let i = 0; i < 3; i++) yield* Queue.take(asked)
      assert.deepStrictEqual([one.requests().length, other.requests().length], [2, 1])
      assert.strictEqual(yield* Queue.size(asked), 0)
      yield* TestClock.adjust("8 seconds")
      const outcomes = yield* Effect.forEach(fibers, Fiber.join)
      assert.isTrue(outcomes.every((outcome) => outcome === "timeout" || outcome === "deadline"))
    })
  )

  it.effect("a visit beyond so many waits for a place, and its time begins with it", () =>
    Effect.gen(function* () {
      const { domain } = yield* shop(answers)
      const visits = yield* siteVisits({ rules: { allowHosts: [domain] }, policy: { visits: 1 } })
      const site = visits.locate(domain)
      const scope = yield* Scope.make()
      const first = yield* Scope.provide(visits.open(site, limits), scope)
      const second = yield* Effect.forkChild(visits.open(site, limits))
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(second.pollUnsafe())
      assert.deepStrictEqual(yield* first.remaining, Duration.zero)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* (yield* Fiber.join(second)).remaining, Duration.seconds(8))
    })
  )

  it.effect("a visit that ends lets go of what it was asking, and gives its places back", () =>
    Effect.gen(function* () {
      const { asked, domain } = yield* shop(silence)
      const visits = yield* siteVisits({ rules: { allowHosts: [domain] }, policy: { requests: 1 } })
      for (const path of ["/a", "/b"]) {
        const fiber = yield* Effect.forkChild(
          Effect.scoped(Effect.flatMap(visits.open(visits.locate(domain), limits), (visit) => told(visit, path)))
        )
        assert.strictEqual(yield* Queue.take(asked), path)
        yield* Fiber.interrupt(fiber)
      }
    })
  )
})
