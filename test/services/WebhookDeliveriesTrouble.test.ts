import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import type { ServerResponse } from "node:http"
import { afterAll } from "vitest"
import { newUuid } from "#services/NewId.ts"
import { DeliveryPolicy } from "#services/WebhookDeliveries/Policy.ts"
import * as Sending from "#services/WebhookDeliveries/Sending.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { Webhooks } from "#services/Webhooks.ts"
import { eventually } from "./CredentialsHarness.ts"
import { closeAll } from "./PublicHttpHarness.ts"
import {
  answering,
  attempts,
  broken,
  expandAll,
  happen,
  multiply,
  otherProcess,
  receiver,
  settle,
  subscribe,
  testLayer,
  until
} from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

const tenantOf = Effect.fnUntraced(function* (id: string) {
  const [row] = yield* (yield* SqlClient.SqlClient)`SELECT tenant_id FROM webhooks WHERE id = ${id}`
  return { tenant_id: String(row?.["tenant_id"]) }
})

layer(testLayer(), { timeout: "60 seconds" })("deliveries", (it) => {
  it.effect(
    "410 is told of once, to the tenant's other subscriptions, and what waits for a later attempt ends now",
    () =>
      Effect.gen(function* () {
        const good = yield* receiver()
        const { state, url } = yield* receiver(answering(500))
        const { caller, id } = yield* subscribe(url)
        yield* subscribe(good.url, { by: caller, events: ["webhook.*"] })
        yield* happen(caller)
        yield* settle
        state.answer = answering(410)
        yield* happen(caller, ["transfer.created", "transfer.failed"])
        yield* settle
        assert.isTrue((yield* attempts(caller, id)).every(({ status }) => status === "failed"))
        yield* settle
        const told = good.received.map(({ body }) => JSON.parse(body))
        assert.deepStrictEqual(
          told.map(({ type }) => type),
          ["webhook.disabled"]
        )
        assert.deepInclude(told[0]?.data.webhook, { url, status: "disabled", status_reason: "gone" })
        assert.deepStrictEqual(yield* broken, [])
      })
  )

  it.effect("are found by the time they were made, up to an end that does not belong to it", () =>
    Effect.gen(function* () {
      const { url } = yield* receiver()
      const { caller, id } = yield* subscribe(url)
      const made: Array<Date> = []
      for (const type of ["transfer.created", "transfer.completed", "transfer.failed"] as const) {
        yield* happen(caller, [type])
        yield* settle
        made.push(new Date(yield* Effect.clockWith((clock) => clock.currentTimeMillis)))
        yield* TestClock.adjust("1 second")
      }
      const { list } = yield* WebhookDeliveries
      const { deliveries } = yield* list(caller, id, { since: made[1], until: made[2], limit: 10 })
      assert.deepStrictEqual(
        deliveries.map(({ event_type }) => event_type),
        ["transfer.completed"]
      )
    })
  )

  it.effect("are forgotten as fast as they are made, whatever number of subscriptions makes them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { url } = yield* receiver()
      const { id } = yield* subscribe(url)
      yield* multiply(id, 60)
      const { tenant_id } = yield* tenantOf(id)
      yield* sql`INSERT INTO webhook_deliveries (webhook_id, id, chain_id, tenant_id, cause, event_id, event_type, event_seq, attempt,
          again, due_at, status, created_at, sent_at)
        SELECT w.id, d.id, d.id, w.tenant_id, 'event', d.id, 'transfer.created', 1, 1, false, now(), 'delivered', now(), now()
        FROM webhooks w, LATERAL (SELECT w.id AS one, new_uuid() AS id FROM generate_series(1, CASE WHEN w.id = ${id} THEN 2600 ELSE 101 END)) d
        WHERE w.tenant_id = ${tenant_id}`
      yield* sql`INSERT INTO webhook_lanes (webhook_id, again, finished) SELECT id, false, 101 FROM webhooks WHERE tenant_id = ${tenant_id}`
      yield* (yield* WebhookDeliveries).tidy
      assert.deepStrictEqual(
        yield* sql`SELECT max(kept)::int AS most FROM (SELECT count(*) AS kept FROM webhook_deliveries WHERE tenant_id = ${tenant_id}
          GROUP BY webhook_id) AS all_of`,
        [{ most: 100 }]
      )
    })
  )

  it.effect("are not begun by a process that slept after it had taken them", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver()
      const skipped: Array<string> = []
      const ended: Array<string> = []
      const send = yield* Sending.make(
        { fly: () => Effect.succeed([]), transaction: (flights) => flights },
        "sandbox",
        yield* DeliveryPolicy,
        (one) => void ended.push(one.attempt.id),
        (one) => void skipped.push(one.id)
      )
      const attempt = (id: string) => ({
        webhook_id: newUuid(),
        id,
        again: false,
        attempt: 1,
        chain_id: id,
        cause: "test",
        first_at: new Date(0),
        tenant_id: newUuid(),
        event_id: newUuid(),
        event_type: "webhook.test",
        event_seq: null,
        event_data: "{}",
        event_at: new Date(0),
        sent_at: new Date(0),
        lease_until: new Date(45_000),
        receiver: { url, origin: new URL(url).origin, path: "/", secrets: ["whsec_AAAA"] }
      })
      const [late, early] = [newUuid(), newUuid()]
      yield* TestClock.setTime(22_500)
      yield* send([attempt(early)])
      yield* TestClock.setTime(22_501)
      yield* send([attempt(late)])
      yield* until(() => ended.length === 1)
      assert.deepStrictEqual([ended, skipped, received.length], [[early], [late], 1])
    })
  )

  it.effect("bring back whatever the receiver said: zeroes, half characters, names that mean something elsewhere", () =>
    Effect.gen(function* () {
      const { url } = yield* receiver((_, response) =>
        response
          .writeHead(500, { "x-one": "\xff\x80", constructor: "a", "retry-after": "-5, 9e99" })
          .end(Buffer.from([0x7b, 0, 0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80]))
      )
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller)
      yield* settle
      const [first] = yield* attempts(caller, id)
      assert.strictEqual(first?.response?.body.slice(0, 3), "{\0\ufffd")
      assert.deepInclude(first?.response?.headers, { "x-one": "\xff\x80", constructor: "a" })
      assert.isNotNull(first?.next_retry_at)
    })
  )
})

layer(testLayer(), { timeout: "60 seconds" })("the failures of a subscription", (it) => {
  it.effect("are counted and told of once, and it is paused once, whoever of many processes makes its attempts", () =>
    Effect.gen(function* () {
      const good = yield* receiver()
      const { received, url } = yield* receiver(answering(500))
      const { caller, id } = yield* subscribe(url, { events: ["transfer.*"] })
      yield* subscribe(good.url, { by: caller, events: ["webhook.*"] })
      const processes = yield* Effect.all([otherProcess(), otherProcess(), otherProcess()])
      const work = Effect.all(
        processes.map(({ deliverDue }) => deliverDue),
        { concurrency: 3 }
      )
      const several = Array.from({ length: 30 }, () => "transfer.created" as const)
      yield* happen(caller, several)
      yield* expandAll
      yield* work
      yield* settle
      assert.deepInclude(yield* (yield* Webhooks).get(caller, id), { failures: received.length, status: "active" })
      for (const _ of ["the second day", "the third"]) {
        yield* TestClock.adjust("24 hours")
        yield* happen(caller)
        yield* expandAll
        yield* work
      }
      yield* TestClock.adjust("24 hours")
      yield* happen(caller, several)
      yield* expandAll
      yield* work
      yield* settle
      assert.deepStrictEqual(
        good.received.map(({ body }) => JSON.parse(body).type),
        ["webhook.failing", "webhook.paused"]
      )
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("begin anew where an attempt arrives and the next does not, also when both are written together", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { state, url } = yield* receiver(answering(500))
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller)
      yield* settle
      yield* TestClock.adjust("20 hours")
      const anew = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      const { deliverDue, expand } = yield* WebhookDeliveries
      yield* sql`DELETE FROM webhook_deliveries WHERE webhook_id = ${id} AND status = 'pending'`
      const responses: Array<ServerResponse> = []
      state.answer = (_, response) => void responses.push(response)
      const slow = yield* receiver()
      const other = yield* subscribe(slow.url)
      yield* happen(caller, ["transfer.created", "transfer.failed"])
      yield* happen(other.caller)
      yield* expand
      // The writer waits for the other subscription, and meanwhile an attempt arrives and one does not.
      const locked = yield* Deferred.make<void>()
      const free = yield* Deferred.make<void>()
      yield* sql`SELECT 1 FROM webhooks WHERE id = ${other.id} FOR UPDATE`.pipe(
        Effect.andThen(Deferred.succeed(locked, undefined)),
        Effect.andThen(Deferred.await(free)),
        sql.withTransaction,
        Effect.forkScoped
      )
      yield* Deferred.await(locked)
      const sending = yield* Effect.forkScoped(deliverDue)
      yield* until(() => slow.received.length === 1 && responses.length === 2)
      yield* eventually(
        sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        (found) => found.length > 0
      )
      responses[0]?.end()
      yield* sql`SELECT pg_sleep(0.05)`
      responses[1]?.writeHead(500).end()
      yield* sql`SELECT pg_sleep(0.05)`
      yield* Deferred.succeed(free, undefined)
      yield* Fiber.join(sending)
      const { failing_since, failures } = yield* (yield* Webhooks).get(caller, id)
      assert.strictEqual(failures, 1)
      assert.strictEqual(failing_since?.getTime(), anew)
    })
  )
})

layer(testLayer(), { timeout: "60 seconds" })("a subscription that this version does not understand", (it) => {
  it.effect("keeps no other from its deliveries, and what came of theirs is written", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const good = yield* receiver()
      const bad = yield* receiver()
      const one = yield* subscribe(bad.url)
      const two = yield* subscribe(good.url)
      const three = yield* subscribe(bad.url)
      yield* happen(one.caller)
      yield* happen(two.caller)
      yield* happen(three.caller)
      const { deliverDue, expand } = yield* WebhookDeliveries
      yield* expand
      yield* sql`ALTER TABLE webhooks DROP CONSTRAINT webhooks_status_reason_check, DROP CONSTRAINT webhooks_status_check,
        DROP CONSTRAINT webhooks_check`
      yield* sql`UPDATE webhooks SET status_reason = 'novel' WHERE id = ${one.id}`
      yield* sql`UPDATE webhooks SET status = 'novel', status_reason = 'novel' WHERE id = ${three.id}`
      assert.strictEqual(yield* deliverDue, 2)
      const [only] = yield* attempts(two.caller, two.id)
      assert.strictEqual(only?.status, "delivered")
      assert.strictEqual(good.received.length, 1)
      assert.strictEqual(bad.received.length, 1)
    })
  )

  it.effect("costs no other what came of its attempt, however many are written together", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const waiting: Array<ServerResponse> = []
      const held: Array<ServerResponse> = []
      const novel = yield* subscribe((yield* receiver((_, response) => void held.push(response))).url)
      const { caller, id } = yield* subscribe((yield* receiver((_, response) => void waiting.push(response))).url)
      yield* multiply(id, 29)
      yield* happen(novel.caller)
      yield* happen(caller)
      yield* expandAll
      yield* sql`UPDATE webhooks SET status_reason = 'novel' WHERE id = ${novel.id}`
      const delivering = yield* Effect.forkScoped((yield* WebhookDeliveries).deliverDue)
      yield* until(() => waiting.length === 30 && held.length === 1)
      for (const response of [...waiting.slice(0, 10), ...held, ...waiting.slice(10)]) response.end()
      yield* Fiber.join(delivering)
      const outcomes = yield* sql`SELECT webhook_id = ${novel.id} AS is_novel, status, count(*)::int AS n
        FROM webhook_deliveries WHERE tenant_id IN (${novel.caller.tenant_id}, ${caller.tenant_id})
        GROUP BY 1, 2 ORDER BY 1`
      assert.deepStrictEqual(outcomes, [
        { is_novel: false, status: "delivered", n: 30 },
        { is_novel: true, status: "sending", n: 1 }
      ])
    })
  )
})
