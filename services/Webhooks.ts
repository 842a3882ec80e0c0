import { Context, DateTime, Effect, Equal, Layer, Option, Result, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { EventType } from "#domain/Event.ts"
import { exampleData } from "#domain/EventExamples.ts"
import { type DeliveryId, EndpointId, EventId, TenantId, toTypeId, WebhookId } from "#domain/Ids.ts"
import { OriginNotAllowed } from "#domain/OriginUrl.ts"
import type { Principal } from "#domain/Principal.ts"
import { NotFound, StateTransitionInvalid } from "#domain/Refusal.ts"
import {
  changed,
  type ChangeWebhook,
  type CreateWebhook,
  defaultOverlap,
  maxWebhooks,
  receiverUrl,
  refuseOfEndpoint,
  TooManyWebhooks,
  Webhook,
  type WebhookOfEndpoint,
  webhookOnWire,
  WebhookStatus,
  type WebhookWithSecret
} from "#domain/Webhook.ts"
import { inTransaction } from "./Database/InTransaction.ts"
import { notForLong } from "./EventLog/Head.ts"
import { newId } from "./NewId.ts"
import { PublicHttpPolicy } from "./PublicHttp/Policy.ts"
import { WebhookDeliveries } from "./WebhookDeliveries.ts"
import * as SigningSecrets from "./Webhooks/SigningSecrets.ts"

export interface WebhookFilter {
  readonly status?: WebhookStatus
  readonly endpoint_id?: EndpointId
}

/** Subscriptions of a tenant to its events. What belongs to another tenant is `NotFound`. */
export class Webhooks extends Context.Service<
  Webhooks,
  {
    /** Exactly the facts that are committed after it exists are sent. This answer alone has the secret. */
    create(
      caller: Principal,
      webhook: CreateWebhook
    ): Effect.Effect<WebhookWithSecret, OriginNotAllowed | TooManyWebhooks>
    get(caller: Principal, id: WebhookId): Effect.Effect<Webhook, NotFound>
    /** Newest first, with the number of all that match. */
    list(
      caller: Principal,
      filter: WebhookFilter,
      range: { readonly limit: number; readonly offset: number }
    ): Effect.Effect<{ readonly webhooks: ReadonlyArray<Webhook>; readonly total: number }>
    /** One that becomes active has no failures, and is sent what is committed from then on. What is so already changes nothing. */
    update(
      caller: Principal,
      id: WebhookId,
      change: ChangeWebhook
    ): Effect.Effect<Webhook, NotFound | WebhookOfEndpoint | OriginNotAllowed | StateTransitionInvalid>
    /** That of an endpoint goes when the endpoint has no `webhookUrl` any more. */
    remove(caller: Principal, id: WebhookId): Effect.Effect<void, NotFound | WebhookOfEndpoint>
    /** The secret that was signs as well for `overlap` seconds; one that did so until now does no more. */
    rotateSecret(caller: Principal, id: WebhookId, overlap?: number): Effect.Effect<WebhookWithSecret, NotFound>
    /** Sends an example of an event as a real one is sent, also to one that is paused. */
    test(
      caller: Principal,
      id: WebhookId,
      type?: EventType
    ): Effect.Effect<
      { readonly event_id: EventId; readonly delivery_id: DeliveryId },
      NotFound | StateTransitionInvalid
    >
  }
>()("turnpike/services/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rules = yield* PublicHttpPolicy
      const deliveries = yield* WebhookDeliveries
      const secrets = yield* SigningSecrets.make

      const columns = sql.literal(
        "id, url, events, description, endpoint_id, status, status_reason, failures, failing_since, created_at, updated_at"
      )
      const byTenant = SqlSchema.findOneOption({
        Request: One,
        Result: Row,
        execute: ({ id, tenant_id }) =>
          sql`SELECT ${columns} FROM webhooks WHERE tenant_id = ${tenant_id} AND id = ${id}`
      })
      const lock = SqlSchema.findOneOption({
        Request: One,
        Result: Row,
        execute: ({ id, tenant_id }) =>
          sql`SELECT ${columns}, ${sql.literal(notForLong)} FROM webhooks WHERE tenant_id = ${tenant_id} AND id = ${id}
            FOR NO KEY UPDATE`
      })
      const found = (id: WebhookId, webhook: Option.Option<Webhook>) =>
        Option.isSome(webhook)
          ? Effect.succeed(webhook.value)
          : Effect.fail(new NotFound({ resource: "webhook", id: toTypeId("wh", id) }))
      const get = Effect.fn("Webhooks.get")(function* ({ tenant_id }: Principal, id: WebhookId) {
        return yield* found(id, yield* Effect.orDie(byTenant({ tenant_id, id })))
      })
      const locked = Effect.fnUntraced(function* ({ tenant_id }: Principal, id: WebhookId) {
        return yield* found(id, yield* Effect.orDie(lock({ tenant_id, id })))
      })

      const checkedUrl = (given: string) => {
        const url = receiverUrl(given, rules)
        return Result.isSuccess(url)
          ? Effect.succeed(url.success)
          : Effect.fail(new OriginNotAllowed({ field: "url", reason: url.failure }))
      }

      const countUpTo = SqlSchema.findOne({
        Request: TenantId.to,
        Result: Schema.Struct({ webhooks: Schema.Int }),
        execute: (tenant_id) => sql`SELECT count(*)::int AS webhooks FROM webhooks
          WHERE tenant_id = ${tenant_id} AND endpoint_id IS NULL`
      })
      /** Whoever holds the head of the log comes after all facts up to it and before all others: last, because everybody waits. */
      const insert = (
        tenant_id: TenantId,
        { created_at, description, events, id, status, url }: Webhook,
        secret: Uint8Array
      ) =>
        sql`INSERT INTO webhooks (id, tenant_id, url, events, description, status, secret, since, created_at, updated_at)
          SELECT ${id}, ${tenant_id}, ${url}, ${events}::text[], ${description}, ${status}, ${secret}, event_seq,
            ${created_at}, ${created_at}
          FROM ledger_head, ${sql.literal(notForLong)} WHERE log = 1 FOR UPDATE OF ledger_head`
      const store = Effect.fnUntraced(function* (tenant_id: TenantId, webhook: Webhook, secret: Uint8Array) {
        // One at a time for a tenant, so that the limit holds.
        yield* Effect.orDie(sql`SELECT id FROM tenants WHERE id = ${tenant_id} FOR NO KEY UPDATE`)
        const { webhooks } = yield* Effect.orDie(countUpTo(tenant_id))
        if (webhooks >= maxWebhooks) return yield* new TooManyWebhooks({ limit: maxWebhooks })
        yield* Effect.orDie(insert(tenant_id, webhook, secret))
      }, inTransaction(sql))
      const create = Effect.fn("Webhooks.create")(function* ({ tenant_id }: Principal, wanted: CreateWebhook) {
        const url = yield* checkedUrl(wanted.url)
        const id = yield* newId(WebhookId)
        const at = yield* DateTime.nowAsDate
        const webhook: Webhook = {
          id,
          url,
          events: wanted.events,
          description: wanted.description ?? null,
          endpoint_id: null,
          status: "active",
          status_reason: null,
          failures: 0,
          failing_since: null,
          created_at: at,
          updated_at: at
        }
        const secret = SigningSecrets.fresh()
        yield* store(tenant_id, webhook, yield* secrets.seal(id, secret))
        return { ...webhook, secret }
      })

      const matching = ({ endpoint_id, status, tenant_id }: Omit<typeof Search.Encoded, "limit" | "offset">) =>
        sql.and([
          sql`tenant_id = ${tenant_id}`,
          ...(status === undefined ? [] : [sql`status = ${status}`]),
          ...(endpoint_id === undefined ? [] : [sql`endpoint_id = ${endpoint_id}`])
        ])
      const listPage = SqlSchema.findAll({
        Request: Search,
        Result: Row,
        execute: ({ limit, offset, ...search }) =>
          sql`SELECT ${columns} FROM webhooks WHERE ${matching(search)} ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}`
      })
      const countAll = SqlSchema.findOne({
        Request: Search,
        Result: Schema.Struct({ total: Schema.Int }),
        execute: (search) => sql`SELECT count(*)::int AS total FROM webhooks WHERE ${matching(search)}`
      })
      const list = Effect.fn("Webhooks.list")(function* (
        { tenant_id }: Principal,
        filter: WebhookFilter,
        range: { readonly limit: number; readonly offset: number }
      ) {
        const search = { ...range, ...filter, tenant_id }
        const { total } = yield* countAll(search)
        return { webhooks: yield* listPage(search), total }
      }, Effect.orDie)

      const write = (webhook: Webhook) =>
        sql`UPDATE webhooks SET url = ${webhook.url}, events = ${webhook.events}::text[], description = ${webhook.description},
          status = ${webhook.status}, status_reason = ${webhook.status_reason}, failures = ${webhook.failures},
          failing_since = ${webhook.failing_since}, updated_at = ${webhook.updated_at} WHERE id = ${webhook.id}`
      /** What happened while nothing was sent is not made up for: replaying is. */
      const beginHere = (id: WebhookId) =>
        sql`WITH head AS MATERIALIZED (SELECT event_seq, ${sql.literal(notForLong)} FROM ledger_head WHERE log = 1 FOR UPDATE)
          UPDATE webhooks SET since = head.event_seq FROM head WHERE id = ${id}`
      const update = Effect.fn("Webhooks.update")(function* (caller: Principal, id: WebhookId, wanted: ChangeWebhook) {
        const current = yield* locked(caller, id)
        if (wanted.url !== undefined || wanted.events !== undefined) {
          yield* Effect.fromResult(refuseOfEndpoint(current))
        }
        const url = wanted.url === undefined ? current.url : yield* checkedUrl(wanted.url)
        const next = yield* Effect.fromResult(changed(current, { ...wanted, url }, yield* DateTime.now))
        if (Equal.equals({ ...next, updated_at: current.updated_at }, current)) return current
        yield* Effect.orDie(write(next))
        if (next.status !== current.status && next.status !== "active") yield* deliveries.stop(id)
        if (next.status === "active" && current.status !== "active") yield* Effect.orDie(beginHere(id))
        return next
      }, inTransaction(sql))

      const remove = Effect.fn("Webhooks.remove")(function* (caller: Principal, id: WebhookId) {
        yield* Effect.fromResult(refuseOfEndpoint(yield* locked(caller, id)))
        yield* deliveries.stop(id)
        yield* Effect.orDie(sql`DELETE FROM webhooks WHERE id = ${id}`)
      }, inTransaction(sql))

      const rotateSecret = Effect.fn("Webhooks.rotateSecret")(function* (
        caller: Principal,
        id: WebhookId,
        overlap: number = defaultOverlap
      ) {
        const current = yield* locked(caller, id)
        const now = yield* DateTime.now
        const until = overlap === 0 ? null : DateTime.toDate(DateTime.add(now, { seconds: overlap }))
        const updated_at = DateTime.toDate(now)
        const secret = SigningSecrets.fresh()
        yield* Effect.orDie(
          sql`UPDATE webhooks SET secret = ${yield* secrets.seal(id, secret)}, previous_secret_until = ${until},
            previous_secret = CASE WHEN ${until}::timestamptz IS NOT NULL THEN secret END, updated_at = ${updated_at}
            WHERE id = ${id}`
        )
        return { ...current, updated_at, secret }
      }, inTransaction(sql))

      const test = Effect.fn("Webhooks.test")(function* (
        caller: Principal,
        id: WebhookId,
        type: EventType = "webhook.test"
      ) {
        const webhook = yield* locked(caller, id)
        if (webhook.status === "disabled") {
          return yield* new StateTransitionInvalid({ resource: "webhook", from: webhook.status, to: "tested" })
        }
        const data = type === "webhook.test" ? { webhook: webhookOnWire(webhook) } : exampleData(type)
        const event = { id: yield* newId(EventId), type, data, created_at: yield* DateTime.nowAsDate }
        const { delivery_id } = yield* deliveries.send({ id, tenant_id: caller.tenant_id }, event, "test")
        return { event_id: event.id, delivery_id }
      }, inTransaction(sql))

      return Webhooks.of({ create, get, list, update, remove, rotateSecret, test })
    })
  )
}

const Row = Schema.toType(Webhook)
const One = Schema.Struct({ tenant_id: TenantId.to, id: WebhookId.to })
const Search = Schema.Struct({
  tenant_id: TenantId.to,
  status: Schema.optionalKey(WebhookStatus),
  endpoint_id: Schema.optionalKey(EndpointId),
  limit: Schema.Int,
  offset: Schema.Int
})
