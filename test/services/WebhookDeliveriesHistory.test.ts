import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { afterAll } from "vitest"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { closeAll } from "./PublicHttpHarness.ts"
import {
  answering,
  attempts,
  broken,
  expandAll,
  happen,
  receiver,
  settle,
  subscribe,
  testLayer,
  times
} from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

layer(testLayer(), { timeout: "60 seconds" })("the history", (it) => {
  it.effect("keeps the last hundred attempts and what failed for good, the latter for thirty days", () =>
    Effect.gen(function* () {
      const { state, url } = yield* receiver(answering(410))
      const gone = yield* subscribe(url)
      yield* happen(gone.caller)
      yield* settle
      state.answer = answering(200)
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller, times(150))
      yield* settle
      const { tidy } = yield* WebhookDeliveries
      yield* tidy
      const all = yield* attempts(caller, id)
      assert.strictEqual(all.length, 100)
      assert.deepStrictEqual(yield* broken, [])
      yield* TestClock.adjust("30 days")
      yield* tidy
      assert.strictEqual((yield* attempts(gone.caller, gone.id)).length, 1)
      yield* TestClock.adjust("1 second")
      yield* tidy
      assert.strictEqual((yield* attempts(gone.caller, gone.id)).length, 0)
      assert.strictEqual((yield* attempts(caller, id)).length, 100)
    })
  )

  it.effect("one delivery is sent again as a chain of its own, with the same event and bytes", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver()
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller)
      yield* settle
      const [first] = yield* attempts(caller, id)
      if (first === undefined) return assert.fail("there is none")
      const { deliverDue, get, replay } = yield* WebhookDeliveries
      const { delivery_id, event_id } = yield* replay(caller, id, first.id)
      yield* deliverDue
      assert.strictEqual(event_id, first.event_id)
      assert.deepInclude(yield* get(caller, id, delivery_id), { cause: "replay", attempt: 1, status: "delivered" })
      assert.strictEqual(received[0]?.body, received[1]?.body)
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("replays what is asked for of a time, at most a thousand a call, and says from where to go on", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver()
      const { caller, id } = yield* subscribe(url, { events: ["transfer.*"] })
      const at = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      for (let second = 0; second < 5; second++) {
        yield* happen(caller, [...times(300), "refund.created"])
        yield* TestClock.adjust("1 second")
      }
      yield* expandAll
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM webhook_deliveries WHERE webhook_id = ${id}`
      const { replayAll, deliverDue } = yield* WebhookDeliveries
      const since = new Date(at)
      const first = yield* replayAll(caller, id, { since })
      assert.deepInclude(first, { queued: 900, until: new Date(at + 3000) })
      const second = yield* replayAll(caller, id, { since: first.until, until: new Date(at + 4000) })
      assert.deepStrictEqual(second, { queued: 300, until: first.until, next: null })
      assert.deepInclude(yield* replayAll(caller, id, { since, types: ["transfer.failed"] }), { queued: 0 })
      yield* deliverDue
      // One every 20 ms, whatever number of calls queued them.
      assert.strictEqual(received.length, 0)
      yield* TestClock.adjust("1 second")
      yield* deliverDue
      assert.strictEqual(received.length, 50)
      const [all] =
        yield* sql`SELECT count(DISTINCT event_id)::int AS events FROM webhook_deliveries WHERE webhook_id = ${id}`
      assert.deepStrictEqual(all, { events: 1200 })
      yield* sql`DELETE FROM webhook_deliveries WHERE webhook_id = ${id}`
    })
  )

  it.effect("replays only what never arrived when that is asked for", () =>
    Effect.gen(function* () {
      const { received, state, url } = yield* receiver()
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller)
      yield* settle
      state.answer = answering(500)
      yield* happen(caller, ["transfer.failed"])
      yield* settle
      const { deliverDue, replayAll } = yield* WebhookDeliveries
      const only = { since: new Date(0), only_failed: true }
      assert.deepInclude(yield* replayAll(caller, id, only), { queued: 0 })
      for (let hour = 0; hour < 60; hour++) {
        yield* TestClock.adjust("1 hour")
        yield* deliverDue
      }
      state.answer = answering(200)
      assert.deepInclude(yield* replayAll(caller, id, only), { queued: 1 })
      yield* TestClock.adjust("1 second")
      yield* deliverDue
      assert.strictEqual(JSON.parse(received.at(-1)?.body ?? "").type, "transfer.failed")
      assert.deepInclude(yield* replayAll(caller, id, only), { queued: 0 })
    })
  )

  it.effect("takes what a replay brought for arrived, also when the history has forgotten that replay", () =>
    Effect.gen(function* () {
      const { state, url } = yield* receiver(answering(500))
      const { caller, id } = yield* subscribe(url)
      const { deliverDue, replayAll, tidy } = yield* WebhookDeliveries
      yield* happen(caller, times(2))
      yield* settle
      for (let hour = 0; hour < 60; hour++) {
        yield* TestClock.adjust("1 hour")
        yield* deliverDue
      }
      state.answer = answering(200)
      const only = { since: new Date(0), only_failed: true }
      assert.deepInclude(yield* replayAll(caller, id, only), { queued: 2 })
      yield* TestClock.adjust("1 second")
      yield* deliverDue
      yield* happen(caller, times(150))
      yield* settle
      yield* tidy
      const all = yield* attempts(caller, id)
      assert.isFalse(all.some(({ cause }) => cause === "replay"))
      // What failed for good is still shown.
      assert.strictEqual(
        all.filter(({ next_retry_at, status }) => status === "failed" && next_retry_at === null).length,
        2
      )
      assert.deepInclude(yield* replayAll(caller, id, only), { queued: 0 })
    })
  )
})
