import { assert, layer } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { afterAll } from "vitest"
import { retrySchedule } from "#domain/DeliverySchedule.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { Webhooks } from "#services/Webhooks.ts"
import { closeAll } from "./PublicHttpHarness.ts"
import {
  type Answer,
  answering,
  attempts,
  broken,
  happen,
  otherProcess,
  receiver,
  settle,
  subscribe,
  testLayer
} from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

/** When the attempts of the only chain were made, in milliseconds since the first. */
const made = (all: Effect.Success<ReturnType<typeof attempts>>) => {
  const times = all.flatMap(({ sent_at }) => (sent_at === null ? [] : [sent_at.getTime()]))
  return times.map((time) => time - (times[0] ?? 0))
}

layer(testLayer(), { timeout: "60 seconds" })("attempts that fail", (it) => {
  it.effect(
    "are repeated by the schedule from the first, never early, and the last ends the chain; bytes and event stay",
    () =>
      Effect.gen(function* () {
        const { received, url } = yield* receiver(answering(500))
        const { caller, id } = yield* subscribe(url)
        yield* happen(caller)
        yield* settle
        const { deliverDue } = yield* WebhookDeliveries
        let now = 0
        for (const [index, offset] of retrySchedule.entries()) {
          if (index === 0) continue
          yield* TestClock.adjust(Duration.millis(offset - now - 1))
          assert.strictEqual(yield* deliverDue, 0, `attempt ${index + 1} is early`)
          yield* TestClock.adjust("31 seconds")
          assert.strictEqual(yield* deliverDue, 1, `attempt ${index + 1} is not made`)
          now = offset - 1 + 31_000
        }
        yield* TestClock.adjust("30 days")
        assert.strictEqual(yield* deliverDue, 0)
        assert.strictEqual(received.length, 8)
        assert.strictEqual(new Set(received.map(({ body }) => body)).size, 1)
        assert.strictEqual(new Set(received.map(({ headers }) => headers["webhook-id"])).size, 1)
        assert.strictEqual(new Set(received.map(({ headers }) => headers["x-service-delivery-id"])).size, 8)
        assert.strictEqual(new Set(received.map(({ headers }) => headers["x-service-signature"])).size, 8)
        const all = yield* attempts(caller, id)
        assert.deepStrictEqual(
          all.map(({ attempt }) => attempt),
          [1, 2, 3, 4, 5, 6, 7, 8]
        )
        assert.deepInclude(all.at(-1), { status: "failed", failure: "status", next_retry_at: null })
        for (const [index, at] of made(all).entries()) assert.isAtLeast(at, retrySchedule[index] ?? 0)
        assert.deepStrictEqual(yield* broken, [])
      })
  )

  it.effect("are forgotten with the end of their chain, and the books hold", () =>
    Effect.gen(function* () {
      const { url } = yield* receiver(answering(500))
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller)
      yield* settle
      const { deliverDue, tidy } = yield* WebhookDeliveries
      yield* Effect.forEach(retrySchedule, () => Effect.andThen(TestClock.adjust("1 day"), deliverDue), {
        discard: true
      })
      const kept = (yield* attempts(caller, id)).at(-1)
      assert.deepInclude(kept, { status: "failed", next_retry_at: null })
      assert.isAbove(kept?.attempt ?? 0, 1)
      yield* TestClock.adjust("31 days")
      yield* tidy
      assert.deepStrictEqual(yield* attempts(caller, id), [])
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("go on where they were after a restart", () =>
    Effect.gen(function* () {
      const { received, state, url } = yield* receiver(answering(503))
      const { caller, id } = yield* subscribe(url)
      const first = yield* otherProcess()
      yield* happen(caller)
      yield* first.expand
      yield* first.deliverDue
      yield* first.kill
      yield* TestClock.adjust("30 seconds")
      const second = yield* otherProcess()
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* second.deliverDue, 1)
      yield* second.kill
      state.answer = answering(200)
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(yield* settle, 1)
      assert.strictEqual(new Set(received.map(({ body }) => body)).size, 1)
      const all = yield* attempts(caller, id)
      assert.deepStrictEqual(
        all.map(({ status }) => status),
        ["failed", "failed", "delivered"]
      )
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("leave out the places before what the receiver asks for, in seconds or by a date, but never the last", () =>
    Effect.gen(function* () {
      const { deliverDue } = yield* WebhookDeliveries
      // A date is told in whole seconds.
      yield* TestClock.setTime(10_000_000_000)
      const start = new Date(10_000_000_000)
      const seconds = yield* receiver(answering(429, { "retry-after": "90" }))
      const date = yield* receiver(answering(503, { "retry-after": new Date(start.getTime() + 400_000).toUTCString() }))
      const long = yield* receiver(answering(429, { "retry-after": "9999999" }))
      const soon = yield* receiver(answering(429, { "retry-after": "1" }))
      const nonsense = yield* receiver(answering(429, { "retry-after": "soon" }))
      const nexts: Array<number> = []
      for (const { url } of [seconds, date, long, soon, nonsense]) {
        const { caller, id } = yield* subscribe(url)
        yield* happen(caller)
        yield* settle
        const [first] = yield* attempts(caller, id)
        nexts.push((first?.next_retry_at?.getTime() ?? 0) - start.getTime())
      }
      const places = [300_000, 1_800_000, 172_800_000, 30_000, 30_000]
      for (const [index, place] of places.entries()) {
        assert.isAtLeast(nexts[index] ?? 0, place)
        assert.isBelow(nexts[index] ?? 0, place + 30_001)
      }
      yield* TestClock.adjust("299 seconds")
      yield* deliverDue
      assert.deepStrictEqual([seconds.received.length, soon.received.length], [1, 2])
      yield* TestClock.adjust("31 seconds")
      yield* deliverDue
      assert.strictEqual(seconds.received.length, 2)
    })
  )

  it.effect("that a receiver put off for hours are not made up for, and are numbered as they are made", () =>
    Effect.gen(function* () {
      const { deliverDue } = yield* WebhookDeliveries
      const { received, state, url } = yield* receiver(answering(503, { "retry-after": "14400" }))
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller)
      yield* settle
      state.answer = answering(503)
      for (let hours = 0; hours < 60; hours++) {
        yield* TestClock.adjust("1 hour")
        yield* deliverDue
      }
      assert.strictEqual(received.length, 4)
      const all = yield* attempts(caller, id)
      assert.deepStrictEqual(
        all.map(({ attempt }) => attempt),
        [1, 2, 3, 4]
      )
      // They are looked for once an hour here.
      const hours = made(all).map((millis) => Math.floor(millis / 3_600_000))
      assert.deepStrictEqual(hours, [0, 13, 25, 49])
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("410 disables the subscription and ends what is pending; nothing is sent to it any more", () =>
    Effect.gen(function* () {
      const { received, state, url } = yield* receiver(answering(500))
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller)
      yield* settle
      state.answer = answering(410)
      yield* happen(caller, ["transfer.created"])
      yield* settle
      assert.deepInclude(yield* (yield* Webhooks).get(caller, id), { status: "disabled", status_reason: "gone" })
      yield* happen(caller)
      yield* TestClock.adjust("1 hour")
      yield* settle
      assert.strictEqual(received.length, 2)
      const all = yield* attempts(caller, id)
      assert.deepStrictEqual(all.map(({ failure }) => failure).sort(), ["status", "status", "stopped"])
      assert.isTrue(all.every(({ status }) => status === "failed"))
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("410 of an address that the subscription has left meanwhile says nothing of the one that it has", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<Parameters<Answer>[1]>()
      const { url } = yield* receiver((_, response) => Deferred.doneUnsafe(asked, Effect.succeed(response)))
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller)
      const sending = yield* Effect.forkChild(settle)
      const response = yield* Deferred.await(asked)
      const webhooks = yield* Webhooks
      yield* webhooks.update(caller, id, { url: (yield* receiver()).url })
      response.writeHead(410).end()
      yield* Fiber.join(sending)
      assert.deepInclude(yield* webhooks.get(caller, id), { status: "active", failures: 0 })
    })
  )

  it.effect("what fails while a subscription is paused is repeated if somebody asked for it, and not otherwise", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<Parameters<Answer>[1]>()
      const { state, url } = yield* receiver((_, response) => Deferred.doneUnsafe(asked, Effect.succeed(response)))
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller)
      const sending = yield* Effect.forkChild(settle)
      const response = yield* Deferred.await(asked)
      const webhooks = yield* Webhooks
      yield* webhooks.update(caller, id, { status: "paused" })
      response.writeHead(500).end()
      yield* Fiber.join(sending)
      state.answer = answering(500)
      yield* webhooks.test(caller, id)
      yield* settle
      const all = yield* attempts(caller, id)
      assert.deepStrictEqual(
        all.map(({ cause, next_retry_at, status }) => [cause, status, next_retry_at !== null]),
        [
          ["event", "failed", false],
          ["test", "failed", true],
          ["test", "pending", true]
        ]
      )
    })
  )

  it.effect(
    "what is pending when a subscription is paused stops, and can be replayed; when it is deleted it is gone",
    () =>
      Effect.gen(function* () {
        const { received, state, url } = yield* receiver(answering(500))
        const { caller, id } = yield* subscribe(url)
        const { remove, update } = yield* Webhooks
        const { deliverDue, replayAll, tidy } = yield* WebhookDeliveries
        yield* happen(caller)
        yield* settle
        yield* update(caller, id, { status: "paused" })
        yield* happen(caller, ["refund.created"])
        yield* TestClock.adjust("1 hour")
        yield* settle
        assert.strictEqual(received.length, 1)
        assert.deepInclude((yield* attempts(caller, id)).at(-1), {
          status: "failed",
          failure: "stopped",
          sent_at: null
        })
        state.answer = answering(200)
        yield* update(caller, id, { status: "active" })
        yield* settle
        assert.strictEqual(received.length, 1)
        assert.deepInclude(yield* replayAll(caller, id, { since: new Date(0) }), { queued: 2 })
        yield* TestClock.adjust("1 second")
        yield* deliverDue
        assert.strictEqual(received.length, 3)
        state.answer = answering(500)
        yield* happen(caller)
        yield* settle
        yield* remove(caller, id)
        yield* TestClock.adjust("1 hour")
        yield* tidy
        yield* deliverDue
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT id FROM webhook_deliveries WHERE webhook_id = ${id}`, [])
        assert.deepStrictEqual(yield* sql`SELECT again FROM webhook_lanes WHERE webhook_id = ${id}`, [])
        assert.strictEqual(received.length, 4)
      })
  )

  it.effect(
    "a secret that is changed in the middle of a chain signs what comes after, alone once the old one's time is over",
    () =>
      Effect.gen(function* () {
        const { received, url } = yield* receiver(answering(500))
        const { caller, id } = yield* subscribe(url)
        yield* happen(caller)
        yield* settle
        yield* (yield* Webhooks).rotateSecret(caller, id, 31)
        yield* TestClock.adjust("31 seconds")
        yield* settle
        const [one, two] = received.map(({ headers }) => headers["webhook-signature"])
        assert.match(String(two), /^v1,\S{44}$/)
        assert.notStrictEqual(one, two)
        assert.strictEqual(received[0]?.body, received[1]?.body)
      })
  )
})
