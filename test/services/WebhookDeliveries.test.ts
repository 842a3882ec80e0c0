import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll } from "vitest"
import { createHmac } from "node:crypto"
import type { TooManyReplays } from "#domain/Delivery.ts"
import { toTypeId } from "#domain/Ids.ts"
import type { NotFound, StateTransitionInvalid } from "#domain/Refusal.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { Webhooks } from "#services/Webhooks.ts"
import { tag } from "./CredentialsHarness.ts"
import { closeAll } from "./PublicHttpHarness.ts"
import {
  answering,
  attempts,
  broken,
  happen,
  multiply,
  receiver,
  settle,
  subscribe,
  testLayer
} from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

layer(testLayer(), { timeout: "60 seconds" })("deliveries", (it) => {
  it.effect("a fact is posted once, signed both ways, under the headers of the contract", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver()
      const { caller, id, secret } = yield* subscribe(url)
      yield* happen(caller)
      assert.strictEqual(yield* settle, 1)
      assert.strictEqual(yield* settle, 0)
      const [{ body, headers, path } = { body: "", headers: {}, path: "" }, ...more] = received
      assert.deepStrictEqual(more, [])
      assert.strictEqual(path, "/hooks?a=b")
      const [delivery] = yield* attempts(caller, id)
      const event = JSON.parse(body)
      assert.deepStrictEqual(Object.keys(event), ["id", "type", "created_at", "data", "tenant_id", "environment"])
      assert.deepInclude(event, {
        id: toTypeId("evt", delivery?.event_id ?? ""),
        type: "transfer.completed",
        created_at: "1970-01-01T00:00:00.000Z",
        data: { transfer: { place: 0 } },
        tenant_id: toTypeId("ten", caller.tenant_id),
        environment: "test"
      })
      assert.deepInclude(headers, {
        "content-type": "application/json",
        "user-agent": "Turnpike-Webhooks/1",
        "x-service-event-id": event.id,
        "x-service-delivery-id": toTypeId("del", delivery?.id ?? ""),
        "x-service-webhook-id": toTypeId("wh", id),
        "webhook-id": event.id,
        "webhook-timestamp": "0"
      })
      const hex = createHmac("sha256", secret).update(`0.${body}`).digest("hex")
      assert.strictEqual(headers["x-service-signature"], `t=0,v1=${hex}`)
      const key = Buffer.from(secret.slice(6), "base64")
      const base64 = createHmac("sha256", key).update(`${event.id}.0.${body}`).digest("base64")
      assert.strictEqual(headers["webhook-signature"], `v1,${base64}`)
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("the history shows what was sent and answered, and keeps signatures to itself", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver((_, response) =>
        response.writeHead(201, { "x-so": "é".normalize("NFC"), "content-type": "text/plain" }).end("thänks")
      )
      const { caller, id, secret } = yield* subscribe(url)
      yield* happen(caller)
      yield* settle
      const [delivery] = yield* attempts(caller, id)
      if (delivery === undefined) return assert.fail("there is none")
      assert.deepInclude(delivery, {
        status: "delivered",
        cause: "event",
        attempt: 1,
        failure: null,
        next_retry_at: null
      })
      assert.strictEqual(delivery.request?.url, url)
      assert.strictEqual(delivery.request?.body, received[0]?.body)
      assert.strictEqual(delivery.request?.headers["X-Service-Signature"], "t=0,v1=[redacted]")
      assert.deepInclude(delivery.response, { status: 201, body: "thänks", truncated: false })
      assert.strictEqual(delivery.response?.headers["content-type"], "text/plain")
      assert.notInclude(JSON.stringify(delivery), secret)
      const { get } = yield* WebhookDeliveries
      assert.deepStrictEqual(yield* get(caller, id, delivery.id), delivery)
    })
  )

  it.effect("only what was asked for is sent: a type, a family, or everything, and of one's own tenant", () =>
    Effect.gen(function* () {
      const one = yield* receiver()
      const two = yield* receiver()
      const three = yield* receiver()
      const { caller } = yield* subscribe(one.url, { events: ["transfer.completed"] })
      yield* subscribe(two.url, { by: caller, events: ["a2a.task.*", "refund.*"] })
      yield* subscribe(three.url)
      yield* happen(caller, [
        "transfer.completed",
        "transfer.created",
        "a2a.task.created",
        "refund.failed",
        "dispute.opened"
      ])
      assert.strictEqual(yield* settle, 3)
      const types = (got: typeof one.received) => got.map(({ body }) => JSON.parse(body).type).sort()
      assert.deepStrictEqual(types(one.received), ["transfer.completed"])
      assert.deepStrictEqual(types(two.received), ["a2a.task.created", "refund.failed"])
      assert.deepStrictEqual(three.received, [])
    })
  )

  it.effect("what happened before a subscription, or while it was paused, is not sent by itself", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver()
      const { update } = yield* Webhooks
      const first = yield* subscribe(url)
      yield* happen(first.caller)
      const { caller, id } = yield* subscribe(url, { by: first.caller })
      yield* settle
      assert.strictEqual(received.length, 1)
      yield* update(caller, id, { status: "paused" })
      yield* happen(caller)
      yield* settle
      assert.strictEqual(received.length, 2)
      yield* update(caller, id, { status: "active" })
      assert.strictEqual(yield* settle, 0)
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("while a secret rotates both sign, in both families", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver()
      const { caller, id, secret: old } = yield* subscribe(url)
      const { secret } = yield* (yield* Webhooks).rotateSecret(caller, id, 60)
      yield* happen(caller)
      yield* settle
      const { body = "", headers = {} } = received[0] ?? {}
      const hex = (key: string) => createHmac("sha256", key).update(`0.${body}`).digest("hex")
      assert.strictEqual(headers["x-service-signature"], `t=0,v1=${hex(secret)},v1=${hex(old)}`)
      assert.match(String(headers["webhook-signature"]), /^v1,\S{44} v1,\S{44}$/)
    })
  )

  it.effect("a subscription to a thousand receivers: each is sent one event once", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver()
      const first = yield* subscribe(url)
      yield* multiply(first.id, 999)
      yield* happen(first.caller)
      assert.strictEqual(yield* settle, 1000)
      assert.strictEqual(new Set(received.map(({ headers }) => headers["x-service-webhook-id"])).size, 1000)
      assert.strictEqual(new Set(received.map(({ headers }) => headers["x-service-delivery-id"])).size, 1000)
      assert.strictEqual(new Set(received.map(({ body }) => body)).size, 1)
    })
  )

  it.effect("a test is sent as it is, also to one that is paused, and is not of the log", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver()
      const { caller, id } = yield* subscribe(url)
      const { test, update } = yield* Webhooks
      yield* update(caller, id, { status: "paused" })
      const { delivery_id, event_id } = yield* test(caller, id, "transfer.failed")
      yield* settle
      assert.strictEqual(received.length, 1)
      assert.deepInclude(JSON.parse(received[0]?.body ?? ""), {
        id: toTypeId("evt", event_id),
        type: "transfer.failed"
      })
      const sent = yield* (yield* WebhookDeliveries).get(caller, id, delivery_id)
      assert.deepInclude(sent, { status: "delivered", cause: "test" })
      assert.strictEqual(sent.request?.body, received[0]?.body)
    })
  )

  it.effect("deliveries of another tenant are found by nobody", () =>
    Effect.gen(function* () {
      const { url } = yield* receiver()
      const { caller, id } = yield* subscribe(url)
      const other = yield* subscribe(url)
      yield* happen(caller)
      yield* settle
      const { get, list, replay, replayAll } = yield* WebhookDeliveries
      const [delivery] = yield* attempts(caller, id)
      const del = delivery?.id
      assert.isDefined(del)
      if (del === undefined) return
      const refused: ReadonlyArray<Effect.Effect<unknown, NotFound | StateTransitionInvalid | TooManyReplays>> = [
        list(other.caller, id, { limit: 1 }),
        get(other.caller, id, del),
        get(other.caller, other.id, del),
        replay(other.caller, id, del),
        replay(other.caller, other.id, del),
        replayAll(other.caller, id, { since: new Date(0) })
      ]
      const tags = yield* Effect.forEach(refused, (one) => tag(one))
      assert.deepStrictEqual(new Set(tags), new Set(["NOT_FOUND"]))
    })
  )

  it.effect("the list narrows by status, type and time, and goes on from a cursor", () =>
    Effect.gen(function* () {
      const { state, url } = yield* receiver()
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller, ["transfer.created", "transfer.created", "transfer.completed"])
      yield* settle
      state.answer = answering(500)
      yield* happen(caller, ["transfer.failed"])
      yield* settle
      const { list } = yield* WebhookDeliveries
      const count = (filter: Omit<Parameters<typeof list>[2], "limit">) =>
        Effect.map(list(caller, id, { ...filter, limit: 10 }), ({ deliveries }) => deliveries.length)
      assert.strictEqual(yield* count({ status: "delivered" }), 3)
      assert.strictEqual(yield* count({ status: "failed" }), 1)
      assert.strictEqual(yield* count({ status: "pending" }), 1)
      assert.strictEqual(yield* count({ event_type: "transfer.created" }), 2)
      assert.strictEqual(yield* count({ since: new Date(1) }), 0)
      const { deliveries: newest, next } = yield* list(caller, id, { limit: 3 })
      assert.isNotNull(next)
      const rest = yield* list(caller, id, { limit: 3, cursor: next ?? undefined })
      assert.strictEqual(rest.next, null)
      assert.strictEqual(new Set([...newest, ...rest.deliveries].map(({ id }) => id)).size, 5)
    })
  )
})
