import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { verifyWebhook } from "#client/verifyWebhook.ts"
import type { EndpointId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import { maxWebhooks } from "#domain/Webhook.ts"
import * as Test from "#layers/Test.ts"
import { promises } from "#services/Doctor/Webhooks.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { EventLog } from "#services/EventLog.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { Secrets } from "#services/Secrets.ts"
import { Wallets } from "#services/Wallets.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { Webhooks } from "#services/Webhooks.ts"
import { answering, expandAll, multiply, receiver } from "./WebhookDeliveriesHarness.ts"
import { signing, tenant } from "./WebhooksHarness.ts"

const outbound = Layer.succeed(PublicHttpPolicy, { ...PublicHttpPolicy.defaultValue(), allowLoopback: true })

const selling = Effect.gen(function* () {
  const caller = yield* tenant
  yield* (yield* Wallets).create(caller, {})
  const endpoints = yield* Endpoints
  const register = (webhookUrl?: string) =>
    endpoints.create(caller, {
      name: "Weather",
      path: "/a",
      method: "GET",
      ...(webhookUrl === undefined ? {} : { webhookUrl })
    })
  return { caller, endpoints, register }
})

/** A payment of this endpoint, as the log has it. */
const paid = ({ tenant_id }: Principal, endpoint_id: EndpointId) =>
  Effect.flatMap(EventLog, (log) =>
    log.append([{ tenant_id, type: "x402.payment.completed", data: { payment: { endpoint_id } } }])
  )

const deliver = Effect.flatMap(WebhookDeliveries, ({ deliverDue }) => Effect.andThen(expandAll, deliverDue))

/** The subscriptions that an endpoint's `webhookUrl` is. */
const ofEndpoint = (caller: Principal, endpoint_id: EndpointId) =>
  Effect.flatMap(Webhooks, ({ list }) =>
    Effect.map(list(caller, { endpoint_id }, { limit: 10, offset: 0 }), ({ webhooks }) => webhooks)
  )

const endpointOf = ({ body }: { readonly body: string }) => JSON.parse(body).data.payment.endpoint_id

layer(Test.layer.pipe(Layer.provide(outbound)), { timeout: "60 seconds" })("the webhookUrl of an endpoint", (it) => {
  it.effect("is sent what happens to that endpoint's payments, and nothing else", () =>
    Effect.gen(function* () {
      const { caller, register } = yield* selling
      const [one, other] = [yield* receiver(), yield* receiver()]
      const first = yield* register(one.url)
      const second = yield* register(other.url)
      const silent = yield* register()
      const log = yield* EventLog
      yield* log.append([{ tenant_id: caller.tenant_id, type: "transfer.completed", data: {} }])
      for (const { id } of [first, second, silent, first]) yield* paid(caller, id)
      const stranger = yield* tenant
      yield* (yield* Webhooks).create(stranger, { url: "https://example.com/", events: ["refund.*"] })
      yield* paid(stranger, first.id)
      yield* deliver
      assert.deepStrictEqual(one.received.map(endpointOf), [first.id, first.id])
      assert.deepStrictEqual(other.received.map(endpointOf), [second.id])
      const sql = yield* SqlClient.SqlClient
      for (const { promise, query } of promises(sql, yield* DateTime.nowAsDate))
        assert.deepStrictEqual(yield* query, [], promise)
    })
  )

  it.effect("is signed with a secret that rotating shows", () =>
    Effect.gen(function* () {
      const { caller, register } = yield* selling
      const { received, url } = yield* receiver()
      const { id } = yield* register(url)
      const [webhook] = yield* ofEndpoint(caller, id)
      assert.exists(webhook)
      assert.deepInclude(webhook, { url, endpoint_id: id, events: ["x402.payment.*"], status: "active" })
      const { secret } = yield* (yield* Webhooks).rotateSecret(caller, webhook.id)
      yield* paid(caller, id)
      yield* deliver
      const [one] = received
      assert.exists(one)
      const now = Date.parse(JSON.parse(one.body).created_at)
      const event = yield* Effect.promise(() => verifyWebhook({ ...one, secret, now }))
      assert.strictEqual(event.type, "x402.payment.completed")
    })
  )

  it.effect("moves with the endpoint, begins anew where it had failed, and ends with null", () =>
    Effect.gen(function* () {
      const { caller, endpoints, register } = yield* selling
      const gone = yield* receiver(answering(410))
      const there = yield* receiver()
      const { id } = yield* register(gone.url)
      yield* paid(caller, id)
      yield* deliver
      assert.deepInclude((yield* ofEndpoint(caller, id))[0], { status: "disabled", status_reason: "gone" })
      yield* paid(caller, id)
      yield* endpoints.update(caller, id, { webhookUrl: there.url })
      assert.deepInclude((yield* ofEndpoint(caller, id))[0], { failures: 0, failing_since: null })
      yield* paid(caller, id)
      yield* deliver
      assert.deepStrictEqual([gone.received.length, there.received.length], [1, 1])
      const moved = yield* ofEndpoint(caller, id)
      assert.deepInclude(moved[0], { url: there.url, status: "active", status_reason: null, failures: 0 })
      yield* TestClock.adjust("1 second")
      yield* endpoints.update(caller, id, { webhookUrl: there.url, name: "Other" })
      assert.deepStrictEqual(yield* ofEndpoint(caller, id), moved)
      yield* endpoints.update(caller, id, { webhookUrl: null })
      yield* paid(caller, id)
      yield* deliver
      assert.deepStrictEqual([yield* ofEndpoint(caller, id), there.received.length], [[], 1])
    })
  )

  it.effect("that moves while it is active misses nothing of what happened before", () =>
    Effect.gen(function* () {
      const { caller, endpoints, register } = yield* selling
      const [before, after] = [yield* receiver(), yield* receiver()]
      const { id } = yield* register(before.url)
      yield* paid(caller, id)
      yield* endpoints.update(caller, id, { webhookUrl: after.url })
      yield* paid(caller, id)
      yield* deliver
      assert.deepStrictEqual([before.received.length, after.received.length], [0, 2])
    })
  )

  it.effect("says where its subscription goes: that can be paused, not moved or deleted", () =>
    Effect.gen(function* () {
      const { caller, endpoints, register } = yield* selling
      const webhooks = yield* Webhooks
      const { id } = yield* register("https://example.com/hooks")
      const [webhook] = yield* ofEndpoint(caller, id)
      assert.exists(webhook)
      const refused = [
        yield* Effect.flip(webhooks.update(caller, webhook.id, { url: "https://example.com/other" })),
        yield* Effect.flip(webhooks.update(caller, webhook.id, { events: ["*"] })),
        yield* Effect.flip(webhooks.remove(caller, webhook.id))
      ]
      for (const refusal of refused) assert.deepInclude(refusal, { _tag: "WEBHOOK_OF_ENDPOINT", endpoint_id: id })
      assert.strictEqual((yield* webhooks.update(caller, webhook.id, { status: "paused" })).status, "paused")
      const refusal = yield* Effect.flip(endpoints.update(caller, id, { webhookUrl: "http://example.com/" }))
      assert.deepInclude(refusal, { _tag: "ORIGIN_NOT_ALLOWED", field: "webhookUrl", reason: "SchemeNotAllowed" })
      assert.strictEqual((yield* endpoints.get(caller, id)).webhookUrl, "https://example.com/hooks")
    })
  )

  it.effect("stays paused for who asked for that, wherever it moves", () =>
    Effect.gen(function* () {
      const { caller, endpoints, register } = yield* selling
      const webhooks = yield* Webhooks
      const { received, url } = yield* receiver()
      const { id } = yield* register("https://example.com/hooks")
      const [webhook] = yield* ofEndpoint(caller, id)
      assert.exists(webhook)
      yield* webhooks.update(caller, webhook.id, { status: "paused" })
      yield* endpoints.update(caller, id, { webhookUrl: url })
      yield* paid(caller, id)
      yield* deliver
      assert.deepInclude((yield* ofEndpoint(caller, id))[0], { url, status: "paused", status_reason: "requested" })
      assert.strictEqual(received.length, 0)
      yield* webhooks.update(caller, webhook.id, { status: "active" })
      yield* paid(caller, id)
      yield* deliver
      assert.strictEqual(received.length, 1)
    })
  )

  it.effect("stays paused for who asked for that, also when the endpoint had none meanwhile", () =>
    Effect.gen(function* () {
      const { caller, endpoints, register } = yield* selling
      const webhooks = yield* Webhooks
      const { received, url } = yield* receiver()
      const { id } = yield* register(url)
      const again = Effect.gen(function* () {
        yield* endpoints.update(caller, id, { webhookUrl: null })
        yield* endpoints.update(caller, id, { webhookUrl: url })
        yield* paid(caller, id)
        yield* deliver
        const [webhook] = yield* ofEndpoint(caller, id)
        assert.exists(webhook)
        return webhook
      })
      const { id: first } = yield* again
      assert.strictEqual(received.length, 1)
      yield* webhooks.update(caller, first, { status: "paused" })
      yield* again
      const paused = yield* again
      assert.deepInclude(paused, { url, status: "paused", status_reason: "requested" })
      assert.strictEqual(received.length, 1)
      yield* webhooks.update(caller, paused.id, { status: "active" })
      assert.deepInclude(yield* again, { status: "active", status_reason: null })
      assert.strictEqual(received.length, 2)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE webhooks SET status = 'paused', status_reason = 'failing' WHERE endpoint_id = ${id}`
      assert.deepInclude(yield* again, { status: "active", status_reason: null }, "nobody asked for that")
      assert.strictEqual(received.length, 3)
    })
  )

  it.effect("is sent again what it was sent, on demand, and that of no other endpoint", () =>
    Effect.gen(function* () {
      const { caller, register } = yield* selling
      const { received, url } = yield* receiver()
      const first = yield* register(url)
      const second = yield* register()
      for (const { id } of [first, second]) yield* paid(caller, id)
      yield* deliver
      const [webhook] = yield* ofEndpoint(caller, first.id)
      assert.exists(webhook)
      const deliveries = yield* WebhookDeliveries
      const { queued } = yield* deliveries.replayAll(caller, webhook.id, { since: new Date(0) })
      assert.strictEqual(queued, 1)
      yield* TestClock.adjust("1 second")
      yield* deliveries.deliverDue
      assert.deepStrictEqual(received.map(endpointOf), [first.id, first.id])
    })
  )

  it.effect("takes no place from the subscriptions that a tenant may have", () =>
    Effect.gen(function* () {
      const { caller, register } = yield* selling
      const webhooks = yield* Webhooks
      const { id } = yield* webhooks.create(caller, { url: "https://example.com/", events: ["*"] })
      yield* multiply(id, maxWebhooks - 2)
      yield* register("https://example.com/hooks")
      yield* webhooks.create(caller, { url: "https://example.com/", events: ["*"] })
      const refusal = yield* Effect.flip(webhooks.create(caller, { url: "https://example.com/", events: ["*"] }))
      assert.strictEqual(refusal._tag, "TOO_MANY_WEBHOOKS")
    })
  )
})

layer(Test.layer.pipe(Layer.provide(outbound)), { timeout: "60 seconds" })(
  "the first webhookUrl of a database",
  (it) => {
    it.effect("leaves a key that every process has, though what asked for it first was undone", () =>
      Effect.gen(function* () {
        const { caller, register } = yield* selling
        const { url } = yield* receiver()
        const sql = yield* SqlClient.SqlClient
        yield* Effect.flip(sql.withTransaction(Effect.andThen(register(url), Effect.fail("undone"))))
        const [webhook] = yield* ofEndpoint(caller, (yield* register(url)).id)
        assert.exists(webhook)
        const another = yield* Layer.build(Layer.fresh(Secrets.layer))
        assert.deepStrictEqual(yield* Effect.provideContext(signing(webhook.id), another), yield* signing(webhook.id))
      })
    )
  }
)
