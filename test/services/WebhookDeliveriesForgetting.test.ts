import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { afterAll } from "vitest"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { Webhooks } from "#services/Webhooks.ts"
import { closeAll } from "./PublicHttpHarness.ts"
import {
  answering,
  attempts,
  broken,
  happen,
  receiver,
  settle,
  subscribe,
  testLayer,
  times
} from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

layer(testLayer(), { timeout: "60 seconds" })("who forgets old attempts", (it) => {
  it.effect("counts a repetition among the last that are over from when it was sent, not from when it was queued", () =>
    Effect.gen(function* () {
      const { state, url } = yield* receiver(answering(500))
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller, ["transfer.failed"])
      yield* settle
      state.answer = answering(200)
      yield* happen(caller, times(150))
      yield* settle
      yield* TestClock.adjust("1 minute")
      const { deliverDue, tidy } = yield* WebhookDeliveries
      assert.strictEqual(yield* deliverDue, 1)
      yield* tidy
      const all = yield* attempts(caller, id)
      assert.strictEqual(all.length, 100)
      assert.strictEqual(all.filter(({ attempt, status }) => attempt === 2 && status === "delivered").length, 1)
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("takes no chain that failed to its end for one that arrived", () =>
    Effect.gen(function* () {
      const { state, url } = yield* receiver(answering(500, { "retry-after": "259200" }))
      const { caller, id } = yield* subscribe(url)
      const { deliverDue, replayAll } = yield* WebhookDeliveries
      yield* happen(caller)
      yield* settle
      yield* TestClock.adjust("49 hours")
      yield* deliverDue
      const all = yield* attempts(caller, id)
      assert.deepStrictEqual([all.length, all.at(-1)?.next_retry_at], [2, null])
      state.answer = answering(200)
      assert.deepInclude(yield* replayAll(caller, id, { since: new Date(0), only_failed: true }), { queued: 1 })
    })
  )

  it.effect("is not said to have lost what failed a month ago, where there is little else", () =>
    Effect.gen(function* () {
      const { state, url } = yield* receiver(answering(500, { "retry-after": "259200" }))
      const { caller, id } = yield* subscribe(url)
      yield* TestClock.adjust("1 second")
      const { deliverDue, tidy } = yield* WebhookDeliveries
      yield* happen(caller)
      yield* settle
      yield* TestClock.adjust("49 hours")
      yield* deliverDue
      state.answer = answering(200)
      yield* happen(caller)
      yield* settle
      yield* TestClock.adjust("31 days")
      yield* tidy
      assert.lengthOf(yield* attempts(caller, id), 1)
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("keeps in mind that an event arrived by a replay before its own attempts were given up", () =>
    Effect.gen(function* () {
      const { state, url } = yield* receiver(answering(500))
      const { caller, id } = yield* subscribe(url)
      const { deliverDue, replay, replayAll, tidy } = yield* WebhookDeliveries
      const { update } = yield* Webhooks
      yield* happen(caller, ["transfer.failed"])
      yield* settle
      state.answer = answering(200)
      const [failed] = yield* attempts(caller, id)
      yield* replay(caller, id, failed?.id ?? assert.fail("nothing was sent"))
      yield* deliverDue
      // The attempt that was to come is given up.
      yield* update(caller, id, { status: "paused" })
      yield* TestClock.adjust("2 minutes")
      yield* deliverDue
      yield* update(caller, id, { status: "active" })
      const missed = { since: new Date(0), only_failed: true }
      assert.deepInclude(yield* replayAll(caller, id, missed), { queued: 0 })
      yield* happen(caller, times(160))
      yield* settle
      yield* tidy
      assert.deepInclude(yield* replayAll(caller, id, missed), { queued: 0 })
    })
  )

  it.effect("forgets all that failed long ago at one time, however many that are", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { url } = yield* receiver()
      const { caller, id } = yield* subscribe(url)
      yield* sql`INSERT INTO webhook_deliveries (webhook_id, id, chain_id, tenant_id, cause, event_id, event_type, event_seq, attempt,
          again, due_at, status, failure, created_at)
        SELECT ${id}, one, one, ${caller.tenant_id}, 'event', one, 'transfer.created', n, 1, false, '1969-01-01', 'failed', 'timeout',
          '1969-01-01' FROM generate_series(1, 1001) AS n, LATERAL (SELECT new_uuid() AS one OFFSET 0 * n) AS made`
      yield* (yield* WebhookDeliveries).tidy
      assert.deepStrictEqual(
        yield* sql`SELECT count(*)::int AS left FROM webhook_deliveries WHERE webhook_id = ${id}`,
        [{ left: 0 }]
      )
    })
  )
})
