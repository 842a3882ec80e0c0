import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { afterAll } from "vitest"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { Webhooks } from "#services/Webhooks.ts"
import { closeAll } from "./PublicHttpHarness.ts"
import {
  type Answer,
  answering,
  attempts,
  happen,
  receiver,
  settle,
  subscribe,
  testLayer,
  times,
  until
} from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

layer(testLayer(), { timeout: "60 seconds" })("a subscription", (it) => {
  it.effect("is gone by a 410, though its body broke off", () =>
    Effect.gen(function* () {
      const { url } = yield* receiver((_, response) => {
        response.writeHead(410, { "content-length": "10" })
        response.write("gone", () => response.destroy())
      })
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller)
      yield* settle
      const [attempt] = yield* attempts(caller, id)
      assert.deepStrictEqual([attempt?.failure, attempt?.response?.status], ["reset", 410])
      assert.deepInclude(yield* (yield* Webhooks).get(caller, id), { status: "disabled", status_reason: "gone" })
    })
  )

  it.effect("that is gone was so since its first 410, whatever was under way then", () =>
    Effect.gen(function* () {
      const held: Array<Parameters<Answer>[1]> = []
      const { url } = yield* receiver((_, response) => held.push(response))
      const { caller, id } = yield* subscribe(url)
      const { get } = yield* Webhooks
      yield* happen(caller, times(2))
      const sending = yield* Effect.forkChild(settle)
      yield* until(() => held.length === 2)
      held[0]?.writeHead(410).end()
      const gone = yield* Effect.repeat(get(caller, id), { until: ({ status }) => status === "disabled" })
      yield* TestClock.adjust("1 second")
      held[1]?.writeHead(410).end()
      yield* Fiber.join(sending)
      assert.deepStrictEqual(yield* get(caller, id), { ...gone, failures: 2 })
    })
  )

  it.effect("that is gone gets nothing more, what was ordered for it least of all", () =>
    Effect.gen(function* () {
      const { received, state, url } = yield* receiver()
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller, times(8))
      yield* settle
      const { deliverDue, replayAll } = yield* WebhookDeliveries
      assert.deepInclude(yield* replayAll(caller, id, { since: new Date(0) }), { queued: 8 })
      state.answer = answering(410)
      const sent = received.length
      yield* TestClock.adjust("20 millis")
      yield* deliverDue
      const tried = received.length - sent
      assert.isBelow(tried, 8)
      assert.deepInclude(yield* (yield* Webhooks).get(caller, id), { status: "disabled", status_reason: "gone" })
      yield* TestClock.adjust("1 second")
      yield* deliverDue
      assert.strictEqual(received.length, sent + tried)
      const replays = (yield* attempts(caller, id)).filter(({ cause }) => cause === "replay")
      assert.strictEqual(replays.filter(({ failure }) => failure === "status").length, tried)
      assert.strictEqual(replays.filter(({ failure }) => failure === "stopped").length, 8 - tried)
    })
  )

  it.effect("that was paused on request is not said to be so for its failures, however long they go on", () =>
    Effect.gen(function* () {
      const { get, update } = yield* Webhooks
      const { received, url } = yield* receiver(answering(500))
      const { caller, id } = yield* subscribe(url)
      for (const pause of ["24 hours", "24 hours", "23 hours"] as const) {
        yield* happen(caller)
        yield* settle
        yield* TestClock.adjust(pause)
      }
      yield* happen(caller)
      yield* settle
      yield* update(caller, id, { status: "paused" })
      yield* TestClock.adjust("2 hours")
      const [first] = yield* attempts(caller, id)
      if (first === undefined) return assert.fail("nothing was sent")
      const before = received.length
      yield* (yield* WebhookDeliveries).replay(caller, id, first.id)
      yield* settle
      assert.strictEqual(received.length, before + 1)
      assert.deepInclude(yield* get(caller, id), { status: "paused", status_reason: "requested" })
    })
  )
})
