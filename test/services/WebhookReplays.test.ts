import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Result } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { maxReplayedAtOnce, maxReplaysWaiting } from "#domain/Delivery.ts"
import type { EventType } from "#domain/Event.ts"
import { toTypeId, type WebhookId } from "#domain/Ids.ts"
import { EventLog } from "#services/EventLog.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { attempts, expandAll, happen, subscribe, testLayer } from "./WebhookDeliveriesHarness.ts"

const nobody = "http://127.0.0.1:1/hooks"
const times = (count: number, type: EventType) => Array.from({ length: count }, () => type)
const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))

/** A subscription to transfers, and what happens to its tenant at one instant. */
const subscribedTo = Effect.fnUntraced(function* (...facts: ReadonlyArray<EventType>) {
  const { caller, id } = yield* subscribe(nobody, { events: ["transfer.*"] })
  const since = yield* now
  yield* happen(caller, facts)
  yield* TestClock.adjust("1 second")
  return { caller, id, since }
})

/** How many different events are to be sent again, and how many times. */
const replayed = Effect.fnUntraced(function* (id: WebhookId) {
  const sql = yield* SqlClient.SqlClient
  const [row] =
    yield* sql`SELECT count(DISTINCT event_id)::int AS events, count(*)::int AS times FROM webhook_deliveries
    WHERE webhook_id = ${id} AND cause = 'replay'`
  return row
})

layer(testLayer(), { timeout: "60 seconds" })("replaying past events", (it) => {
  it.effect("begins at `since`, however much happened in the minute before it", () =>
    Effect.gen(function* () {
      const { caller, id } = yield* subscribedTo(...times(20_001, "transfer.created"))
      const since = yield* now
      yield* happen(caller, ["transfer.completed"])
      yield* TestClock.adjust("1 second")
      const { replayAll } = yield* WebhookDeliveries
      assert.deepInclude(yield* replayAll(caller, id, { since, until: yield* now }), { queued: 1, next: null })
    })
  )

  it.effect("goes up to `until`, also where that is long ago", () =>
    Effect.gen(function* () {
      const { caller, id, since } = yield* subscribedTo("transfer.created")
      const until = yield* now
      yield* TestClock.adjust("1 hour")
      yield* happen(caller, ["transfer.completed"])
      yield* TestClock.adjust("1 second")
      const { replayAll } = yield* WebhookDeliveries
      assert.deepInclude(yield* replayAll(caller, id, { since, until }), { queued: 1, next: null })
    })
  )

  it.effect(
    "misses nothing from `until` on: what had happened before the call, and was written after it, is sent",
    () =>
      Effect.gen(function* () {
        const { caller, id, since } = yield* subscribedTo("transfer.created")
        const sql = yield* SqlClient.SqlClient
        const [happened, asked] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const late = yield* happen(caller).pipe(
          Effect.andThen(Deferred.succeed(happened, undefined)),
          Effect.andThen(Deferred.await(asked)),
          sql.withTransaction,
          Effect.forkChild
        )
        yield* Deferred.await(happened)
        yield* TestClock.adjust("1 second")
        const { replayAll } = yield* WebhookDeliveries
        const first = yield* replayAll(caller, id, { since })
        assert.deepInclude(first, { queued: 1, next: null })
        yield* Deferred.succeed(asked, undefined)
        yield* Fiber.join(late)
        yield* replayAll(caller, id, { since: first.until })
        assert.strictEqual((yield* replayed(id))?.["events"], 2)
      })
  )

  it.effect(
    "gets on where others have more events of one instant than a call looks through, by cursor and by time",
    () =>
      Effect.gen(function* () {
        const { caller, id, since } = yield* subscribedTo(...times(20_000, "refund.created"), "transfer.completed")
        yield* happen(caller, ["transfer.completed"])
        const { replayAll } = yield* WebhookDeliveries
        const first = yield* replayAll(caller, id, { since })
        assert.deepInclude(first, { queued: 0, until: new Date(since.getTime() + 1) })
        assert.deepInclude(yield* replayAll(caller, id, { since: first.until }), { queued: 1, next: null })
        const rest = yield* replayAll(caller, id, { since, cursor: first.next ?? undefined })
        assert.deepInclude(rest, { queued: 2, next: null })
      })
  )

  it.effect("takes of one instant with more events than go at once each once, call by call", () =>
    Effect.gen(function* () {
      const { caller, id, since } = yield* subscribedTo(...times(maxReplayedAtOnce + 1, "transfer.created"))
      yield* happen(caller, ["transfer.completed"])
      const { replayAll } = yield* WebhookDeliveries
      const first = yield* replayAll(caller, id, { since })
      assert.deepInclude(first, { queued: maxReplayedAtOnce, until: new Date(since.getTime() + 1) })
      const rest = yield* replayAll(caller, id, { since, cursor: first.next ?? undefined })
      assert.deepInclude(rest, { queued: 2, next: null })
      const all = maxReplayedAtOnce + 2
      assert.deepStrictEqual(yield* replayed(id), { events: all, times: all })
    })
  )

  it.effect("ends when as many replays of a webhook wait as may, also for those who ask at once", () =>
    Effect.gen(function* () {
      const { caller, id, since } = yield* subscribedTo(...times(maxReplayedAtOnce, "transfer.created"))
      yield* expandAll
      const { replay, replayAll } = yield* WebhookDeliveries
      const asking = times(4, "transfer.created").map(() => Effect.result(replayAll(caller, id, { since })))
      const [taken, refused] = [yield* Effect.all(asking, { concurrency: 4 }), "TOO_MANY_REPLAYS"]
      const tags = taken.map((one) => (Result.isFailure(one) ? one.failure._tag : one.success.queued)).sort()
      assert.deepStrictEqual(tags, [maxReplayedAtOnce, maxReplayedAtOnce, refused, refused])
      assert.deepStrictEqual(yield* replayed(id), { events: maxReplayedAtOnce, times: maxReplaysWaiting })
      const [delivery] = yield* attempts(caller, id)
      if (delivery === undefined) return assert.fail("there is none")
      assert.strictEqual((yield* Effect.flip(replay(caller, id, delivery.id)))._tag, refused)
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM webhook_deliveries WHERE webhook_id = ${id} AND cause = 'replay' AND event_seq =
        (SELECT min(event_seq) FROM webhook_deliveries WHERE webhook_id = ${id} AND cause = 'replay')`
      yield* replay(caller, id, delivery.id)
    })
  )

  it.effect("that failed are those that failed to reach this webhook, and nobody else's", () =>
    Effect.gen(function* () {
      const { caller, id, since } = yield* subscribedTo("transfer.completed")
      const stranger = yield* subscribedTo()
      yield* expandAll
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE webhook_deliveries SET status = 'failed', failure = 'status' WHERE webhook_id = ${id}`
      const { replayAll } = yield* WebhookDeliveries
      const failed = { since, only_failed: true }
      assert.deepInclude(yield* replayAll(stranger.caller, stranger.id, failed), { queued: 0 })
      assert.deepInclude(yield* replayAll(caller, id, failed), { queued: 1 })
    })
  )

  it.effect("leaves out what was told about the webhook itself, which the others were told", () =>
    Effect.gen(function* () {
      const { caller, id } = yield* subscribe(nobody)
      const other = yield* subscribe(nobody, { by: caller })
      const since = yield* now
      const { tenant_id } = caller
      const data = { webhook: { id: toTypeId("wh", id) } }
      for (const type of ["webhook.failing", "webhook.paused", "webhook.disabled"] as const) {
        yield* (yield* EventLog).append([{ tenant_id, type, data }])
      }
      yield* TestClock.adjust("1 second")
      const { replayAll } = yield* WebhookDeliveries
      assert.deepInclude(yield* replayAll(caller, id, { since }), { queued: 0 })
      assert.deepInclude(yield* replayAll(caller, other.id, { since }), { queued: 3 })
    })
  )
})

layer(testLayer(), { timeout: "60 seconds" })("replaying past events, where the clock was set back", (it) => {
  it.effect("finds what happened since a clock that was an hour ahead was set right", () =>
    Effect.gen(function* () {
      const { caller, id, since } = yield* subscribedTo(...times(3, "transfer.created"))
      const right = yield* Clock.currentTimeMillis
      yield* TestClock.adjust("1 hour")
      yield* happen(caller, times(20, "transfer.created"))
      yield* TestClock.setTime(right)
      yield* happen(caller, times(5, "transfer.completed"))
      const { replayAll } = yield* WebhookDeliveries
      assert.deepInclude(yield* replayAll(caller, id, { since }), { queued: 8, next: null })
    })
  )
})
