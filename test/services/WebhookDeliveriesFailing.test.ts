import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { afterAll } from "vitest"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { Webhooks } from "#services/Webhooks.ts"
import { closeAll } from "./PublicHttpHarness.ts"
import {
  type Answer,
  answering,
  attempts,
  broken,
  expandAll,
  happen,
  otherProcess,
  receiver,
  settle,
  subscribe,
  testLayer,
  until
} from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

layer(testLayer(), { timeout: "60 seconds" })("failures of a subscription", (it) => {
  it.effect("ten in a row are told of once, to the tenant's other subscriptions only; a success begins anew", () =>
    Effect.gen(function* () {
      const bad = yield* receiver(answering(500))
      const good = yield* receiver()
      const { caller, id } = yield* subscribe(bad.url, { events: ["transfer.*", "webhook.*"] })
      yield* subscribe(good.url, { by: caller, events: ["webhook.*"] })
      const told = () => good.received.map(({ body }) => JSON.parse(body))
      yield* happen(
        caller,
        Array.from({ length: 9 }, () => "transfer.created" as const)
      )
      yield* settle
      assert.deepInclude(yield* (yield* Webhooks).get(caller, id), { failures: 9 })
      assert.deepStrictEqual(told(), [])
      yield* happen(
        caller,
        Array.from({ length: 4 }, () => "transfer.created" as const)
      )
      yield* settle
      yield* settle
      assert.strictEqual(told().length, 1)
      const [event] = told()
      assert.strictEqual(event.type, "webhook.failing")
      assert.deepInclude(event.data.webhook, { url: bad.url, status: "active" })
      assert.strictEqual(bad.received.length, 13)
      bad.state.answer = answering(200)
      yield* happen(caller)
      yield* settle
      assert.deepInclude(yield* (yield* Webhooks).get(caller, id), { failures: 0, failing_since: null })
      bad.state.answer = answering(500)
      yield* happen(
        caller,
        Array.from({ length: 10 }, () => "transfer.created" as const)
      )
      yield* settle
      yield* settle
      assert.strictEqual(told().length, 2)
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("end with a 410, also where the body of that answer never ends", () =>
    Effect.gen(function* () {
      const { url } = yield* receiver((_, response) => void response.writeHead(410).write("Gone, and "))
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller)
      yield* expandAll
      yield* (yield* otherProcess({ timeout: Duration.seconds(1.5) })).deliverDue
      assert.deepInclude(yield* (yield* Webhooks).get(caller, id), { status: "disabled", status_reason: "gone" })
      const all = yield* attempts(caller, id)
      assert.deepStrictEqual(
        all.map(({ failure, response }) => [failure, response?.status]),
        [["timeout", 410]]
      )
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("after 72 hours of nothing else the subscription is paused, others are told, and its chains stop", () =>
    Effect.gen(function* () {
      const bad = yield* receiver(answering(500))
      const good = yield* receiver()
      const { caller, id } = yield* subscribe(bad.url, { events: ["transfer.*"] })
      yield* subscribe(good.url, { by: caller, events: ["webhook.paused"] })
      const { get } = yield* Webhooks
      for (const pause of ["24 hours", "24 hours", "23 hours"] as const) {
        yield* happen(caller)
        yield* settle
        yield* TestClock.adjust(pause)
      }
      yield* happen(caller)
      yield* settle
      assert.strictEqual((yield* get(caller, id)).status, "active")
      yield* TestClock.adjust("1 hour")
      yield* happen(caller)
      yield* settle
      assert.deepInclude(yield* get(caller, id), { status: "paused", status_reason: "failing" })
      yield* settle
      assert.deepStrictEqual(
        good.received.map(({ body }) => JSON.parse(body).type),
        ["webhook.paused"]
      )
      const before = bad.received.length
      yield* TestClock.adjust("3 days")
      yield* settle
      assert.strictEqual(bad.received.length, before)
      assert.isTrue((yield* attempts(caller, id)).every(({ status }) => status === "failed"))
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("do not go on while nothing is tried: one that was quiet for days is not paused by its next failure", () =>
    Effect.gen(function* () {
      const { deliverDue } = yield* WebhookDeliveries
      const { get } = yield* Webhooks
      const { state, url } = yield* receiver(answering(500))
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller)
      yield* settle
      for (let hours = 0; hours < 49; hours++) {
        yield* TestClock.adjust("1 hour")
        yield* deliverDue
      }
      const before = yield* get(caller, id)
      yield* TestClock.adjust("10 days")
      state.answer = answering(502)
      yield* happen(caller)
      yield* settle
      const after = yield* get(caller, id)
      assert.deepInclude(after, { status: "active", failures: before.failures + 1 })
      const since = (after.failing_since?.getTime() ?? 0) - (before.failing_since?.getTime() ?? 0)
      assert.strictEqual(since, (49 + 240) * 3_600_000)
      state.answer = answering(200)
      yield* TestClock.adjust("31 seconds")
      yield* settle
      assert.deepInclude((yield* attempts(caller, id)).at(-1), { attempt: 2, status: "delivered" })
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("are not those of tests, which end them when they arrive", () =>
    Effect.gen(function* () {
      const { get, test } = yield* Webhooks
      const { received, state, url } = yield* receiver(answering(500))
      const { caller, id } = yield* subscribe(url)
      yield* test(caller, id)
      yield* settle
      yield* TestClock.adjust("31 seconds")
      yield* settle
      assert.strictEqual(received.length, 2)
      assert.deepInclude(yield* get(caller, id), { failures: 0, failing_since: null })
      yield* happen(caller)
      yield* settle
      assert.deepInclude(yield* get(caller, id), { failures: 1 })
      state.answer = answering(200)
      yield* test(caller, id)
      yield* settle
      assert.deepInclude(yield* get(caller, id), { failures: 0, failing_since: null })
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("are not those of a test that is sent again", () =>
    Effect.gen(function* () {
      const { get, test } = yield* Webhooks
      const { received, url } = yield* receiver(answering(500))
      const { caller, id } = yield* subscribe(url)
      const { delivery_id } = yield* test(caller, id)
      yield* settle
      yield* (yield* WebhookDeliveries).replay(caller, id, delivery_id)
      yield* settle
      assert.strictEqual(received.length, 2)
      assert.deepInclude(yield* get(caller, id), { failures: 0, failing_since: null })
    })
  )

  it.effect("are not those of another url, whatever was under way to it", () =>
    Effect.gen(function* () {
      const { get, update } = yield* Webhooks
      const held: Array<Parameters<Answer>[1]> = []
      const before = yield* receiver(answering(500))
      const after = yield* receiver()
      const { caller, id } = yield* subscribe(before.url)
      yield* happen(caller)
      yield* settle
      assert.deepInclude(yield* get(caller, id), { failures: 1 })
      before.state.answer = (_, response) => held.push(response)
      yield* happen(caller)
      const sending = yield* Effect.forkChild(settle)
      yield* until(() => held.length === 1)
      assert.deepInclude(yield* update(caller, id, { url: after.url }), { failures: 0, failing_since: null })
      held[0]?.writeHead(500).end()
      yield* Fiber.join(sending)
      assert.deepInclude(yield* get(caller, id), { failures: 0, failing_since: null })
      assert.deepStrictEqual(yield* broken, [])
    })
  )
})
