import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { ServerResponse } from "node:http"
import { afterAll } from "vitest"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { Webhooks } from "#services/Webhooks.ts"
import { closeAll } from "./PublicHttpHarness.ts"
import {
  answering,
  attempts,
  broken,
  happen,
  multiply,
  otherProcess,
  receiver,
  settle,
  subscribe,
  testLayer,
  until,
  times
} from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

layer(testLayer(), { timeout: "60 seconds" })("several processes", (it) => {
  it.effect("make every attempt once, and have no more in flight together than one may", () =>
    Effect.gen(function* () {
      let inFlight = new Map<string, number>()
      let most = 0
      const { received, url } = yield* receiver(({ headers }, response) => {
        const webhook = String(headers["x-service-webhook-id"])
        const now = (inFlight.get(webhook) ?? 0) + 1
        inFlight = new Map([...inFlight, [webhook, now]])
        most = Math.max(most, now)
        setTimeout(() => {
          inFlight = new Map([...inFlight, [webhook, (inFlight.get(webhook) ?? 0) - 1]])
          response.end()
        }, 2)
      })
      const { caller, id } = yield* subscribe(url)
      yield* multiply(id, 9)
      const processes = yield* Effect.all([otherProcess(), otherProcess(), otherProcess()])
      yield* happen(caller, times(40))
      const work = processes.map(({ deliverDue, expand }) =>
        Effect.andThen(Effect.repeat(expand, { while: (isMore) => isMore }), deliverDue)
      )
      yield* Effect.all(work, { concurrency: 3 })
      // What the last of them left to another that had gone.
      yield* settle
      assert.strictEqual(received.length, 400)
      const pairs = new Set(
        received.map(({ headers }) => `${headers["webhook-id"]} ${headers["x-service-webhook-id"]}`)
      )
      assert.strictEqual(pairs.size, 400)
      assert.isAtMost(most, 6)
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect(
    "make the attempts of one that was lost again, under a new id and as the same attempt, when its lease is over",
    () =>
      Effect.gen(function* () {
        const waiting: Array<ServerResponse> = []
        const { received, state, url } = yield* receiver((_, response) => void waiting.push(response))
        const { caller, id } = yield* subscribe(url)
        const first = yield* otherProcess()
        yield* happen(caller)
        yield* first.expand
        yield* Effect.forkScoped(first.deliverDue)
        yield* until(() => waiting.length === 1)
        // It was sent, and nobody is there any more to write what comes of it.
        yield* first.kill
        state.answer = answering(200)
        const { deliverDue, tidy } = yield* WebhookDeliveries
        yield* TestClock.adjust("44 seconds")
        yield* tidy
        assert.strictEqual(yield* deliverDue, 0)
        yield* TestClock.adjust("1 second")
        yield* Effect.all([tidy, (yield* otherProcess()).tidy], { concurrency: 2 })
        assert.strictEqual(yield* deliverDue, 1)
        const all = yield* attempts(caller, id)
        assert.deepStrictEqual(
          all.map(({ attempt, failure, status }) => [attempt, status, failure]),
          [
            [1, "failed", "lost"],
            [1, "delivered", null]
          ]
        )
        assert.strictEqual(received[0]?.body, received[1]?.body)
        assert.notStrictEqual(
          received[0]?.headers["x-service-delivery-id"],
          received[1]?.headers["x-service-delivery-id"]
        )
        assert.deepStrictEqual(yield* broken, [])
      })
  )

  it.effect("make all attempts of one that was lost again at once, whatever number of subscriptions they are for", () =>
    Effect.gen(function* () {
      const waiting: Array<ServerResponse> = []
      const { received, state, url } = yield* receiver((_, response) => void waiting.push(response))
      const { caller, id } = yield* subscribe(url)
      yield* multiply(id, 119)
      const first = yield* otherProcess()
      yield* happen(caller)
      yield* first.expand
      yield* Effect.forkScoped(first.deliverDue)
      yield* until(() => waiting.length === 120)
      yield* first.kill
      state.answer = answering(200)
      yield* TestClock.adjust("45 seconds")
      const { deliverDue, tidy } = yield* WebhookDeliveries
      yield* tidy
      assert.strictEqual(yield* deliverDue, 120)
      assert.strictEqual(received.length, 240)
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("make what is lost again, and not what another is in the middle of for the same subscription", () =>
    Effect.gen(function* () {
      const waiting: Array<ServerResponse> = []
      const { received, state, url } = yield* receiver((_, response) => void waiting.push(response))
      const { caller, id } = yield* subscribe(url)
      /** A process that takes one more attempt, and hears nothing of it. */
      const busy = Effect.gen(function* () {
        const { deliverDue, expand, kill } = yield* otherProcess()
        yield* happen(caller)
        yield* expand
        const delivering = yield* Effect.forkScoped(deliverDue)
        const count = waiting.length + 1
        yield* until(() => waiting.length === count)
        return { delivering, kill }
      })
      yield* (yield* busy).kill
      yield* TestClock.adjust("30 seconds")
      const { delivering } = yield* busy
      yield* TestClock.adjust("15 seconds")
      state.answer = answering(200)
      yield* settle
      const { deliverDue, tidy } = yield* WebhookDeliveries
      yield* tidy
      assert.deepStrictEqual([yield* deliverDue, received.length], [1, 3])
      waiting[1]?.end("in time")
      assert.strictEqual(yield* Fiber.join(delivering), 1)
      assert.deepStrictEqual(
        (yield* attempts(caller, id)).map(({ failure, status }) => [status, failure]),
        [
          ["failed", "lost"],
          ["delivered", null],
          ["delivered", null]
        ]
      )
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("do not make again for ever what kills whoever makes it", () =>
    Effect.gen(function* () {
      const waiting: Array<ServerResponse> = []
      const { url } = yield* receiver((_, response) => void waiting.push(response))
      const { caller, id } = yield* subscribe(url)
      const { tidy } = yield* WebhookDeliveries
      yield* happen(caller)
      for (const time of ["48 hours", "2 hours"] as const) {
        const { deliverDue, expand, kill } = yield* otherProcess()
        const count = waiting.length + 1
        yield* expand
        yield* Effect.forkScoped(deliverDue)
        yield* until(() => waiting.length === count)
        yield* kill
        yield* TestClock.adjust(time)
        yield* tidy
      }
      const found = (yield* attempts(caller, id)).map(({ failure, next_retry_at }) => [failure, next_retry_at !== null])
      assert.deepStrictEqual(found, [
        ["lost", true],
        ["lost", false]
      ])
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("do not make again what was lost of a subscription that was paused meanwhile", () =>
    Effect.gen(function* () {
      const waiting: Array<ServerResponse> = []
      const { url } = yield* receiver((_, response) => void waiting.push(response))
      const { caller, id } = yield* subscribe(url)
      const first = yield* otherProcess()
      yield* happen(caller)
      yield* first.expand
      yield* Effect.forkScoped(first.deliverDue)
      yield* until(() => waiting.length === 1)
      yield* first.kill
      yield* (yield* Webhooks).update(caller, id, { status: "paused" })
      yield* TestClock.adjust("45 seconds")
      const { deliverDue, tidy } = yield* WebhookDeliveries
      yield* tidy
      assert.strictEqual(yield* deliverDue, 0)
      assert.deepStrictEqual(
        (yield* attempts(caller, id)).map(({ failure, next_retry_at, status }) => [status, failure, next_retry_at]),
        [["failed", "lost", null]]
      )
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("believe nobody who comes back after his lease: the attempt is somebody else's by then", () =>
    Effect.gen(function* () {
      const waiting: Array<ServerResponse> = []
      const { received, state, url } = yield* receiver((_, response) => void waiting.push(response))
      const { caller, id } = yield* subscribe(url)
      const slow = yield* otherProcess()
      yield* happen(caller)
      yield* slow.expand
      const delivering = yield* Effect.forkScoped(slow.deliverDue)
      yield* until(() => waiting.length === 1)
      state.answer = answering(500)
      yield* TestClock.adjust("45 seconds")
      const { deliverDue, tidy } = yield* WebhookDeliveries
      yield* tidy
      yield* deliverDue
      waiting[0]?.end("late")
      assert.strictEqual(yield* Fiber.join(delivering), 1)
      const all = yield* attempts(caller, id)
      assert.deepStrictEqual(
        all.map(({ failure, status }) => [status, failure]),
        [
          ["failed", "lost"],
          ["failed", "status"],
          ["pending", null]
        ]
      )
      assert.strictEqual(received.length, 2)
      assert.deepStrictEqual(yield* broken, [])
    })
  )
})
