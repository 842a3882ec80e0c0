import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { afterAll } from "vitest"
import type { EventType } from "#domain/Event.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { Webhooks } from "#services/Webhooks.ts"
import { closeAll } from "./PublicHttpHarness.ts"
import { answering, happen, receiver, settle, subscribe, testLayer } from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

const times = (count: number, type: EventType) => Array.from({ length: count }, () => type)
const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))

layer(testLayer(), { timeout: "60 seconds" })("what is replayed", (it) => {
  it.effect("is sent one every 20 ms and oldest first, whatever number of calls queued it", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver()
      const { caller, id } = yield* subscribe(url)
      const since = yield* now
      yield* happen(caller, times(30, "transfer.created"))
      yield* TestClock.adjust("1 second")
      const middle = yield* now
      yield* happen(caller, times(30, "transfer.completed"))
      yield* settle
      received.length = 0
      const { deliverDue, replayAll } = yield* WebhookDeliveries
      assert.deepInclude(yield* replayAll(caller, id, { since, until: middle }), { queued: 30 })
      assert.deepInclude(yield* replayAll(caller, id, { since: middle }), { queued: 30 })
      yield* TestClock.adjust("600 millis")
      yield* deliverDue
      const types = received.map(({ body }) => JSON.parse(body).type)
      assert.deepStrictEqual(types, times(30, "transfer.created"))
      yield* TestClock.adjust("400 millis")
      yield* deliverDue
      assert.strictEqual(received.length, 50)
    })
  )

  it.effect("waits for no repetition of an earlier replay", () =>
    Effect.gen(function* () {
      const { received, state, url } = yield* receiver()
      const { caller, id } = yield* subscribe(url)
      const since = yield* now
      yield* happen(caller)
      yield* settle
      const { deliverDue, replayAll } = yield* WebhookDeliveries
      state.answer = answering(503, { "retry-after": "7200" })
      yield* replayAll(caller, id, { since })
      yield* TestClock.adjust("20 millis")
      yield* deliverDue
      assert.strictEqual(received.length, 2)
      yield* replayAll(caller, id, { since })
      yield* TestClock.adjust("20 millis")
      yield* deliverDue
      assert.strictEqual(received.length, 3)
    })
  )

  it.effect("is sent also when the webhook is paused afterwards", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver()
      const { caller, id } = yield* subscribe(url)
      const since = yield* now
      yield* happen(caller, times(3, "transfer.created"))
      yield* settle
      const { deliverDue, replayAll } = yield* WebhookDeliveries
      yield* replayAll(caller, id, { since })
      yield* (yield* Webhooks).update(caller, id, { status: "paused" })
      yield* TestClock.adjust("1 second")
      yield* deliverDue
      assert.strictEqual(received.length, 6)
    })
  )
})
