import { Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { type Delivery, DeliveryCause, DeliveryFailure, type DeliveryFilter, DeliveryStatus } from "#domain/Delivery.ts"
import { EventType } from "#domain/Event.ts"
import { DeliveryId, EventId, highestUuid, TenantId, WebhookId } from "#domain/Ids.ts"
import type { Environment } from "#domain/Principal.ts"
import { bodyOf, shownHeaders } from "./Message.ts"

const moment = Schema.NullOr(Schema.Date)
const Row = Schema.Struct({
  id: DeliveryId.to,
  webhook_id: WebhookId.to,
  tenant_id: TenantId.to,
  event_id: EventId.to,
  event_type: EventType,
  cause: DeliveryCause,
  attempt: Schema.Int,
  status: DeliveryStatus,
  created_at: Schema.Date,
  due_at: Schema.Date,
  sent_at: moment,
  duration_ms: Schema.NullOr(Schema.Int),
  url: Schema.NullOr(Schema.String),
  response_status: Schema.NullOr(Schema.Int),
  response_headers: Schema.NullOr(Schema.Record(Schema.String, Schema.String)),
  response_body: Schema.NullOr(Schema.Uint8Array),
  response_truncated: Schema.NullOr(Schema.Boolean),
  failure: Schema.NullOr(DeliveryFailure),
  next_retry_at: moment,
  data: Schema.NullOr(Schema.String),
  event_at: moment
})

const Search = Schema.Struct({
  webhook_id: WebhookId.to,
  before: Schema.String,
  status: Schema.NullOr(DeliveryStatus),
  event_type: Schema.NullOr(EventType),
  since: moment,
  until: moment,
  limit: Schema.Int
})

const shown =
  (environment: Environment) =>
  (row: typeof Row.Type): Delivery => {
    const { attempt, created_at, data, duration_ms, event_at, event_id, event_type, failure, id, sent_at, status } = row
    const event = { id: event_id, type: event_type, tenant_id: row.tenant_id }
    const numbers = (at: Date) => ({
      event: event_id,
      delivery: id,
      webhook: row.webhook_id,
      timestamp: Math.floor(at.getTime() / 1000)
    })
    return {
      id,
      webhook_id: row.webhook_id,
      event_id,
      event_type,
      cause: row.cause,
      attempt,
      status,
      created_at,
      sent_at,
      duration_ms,
      request:
        sent_at === null || row.url === null || data === null || event_at === null
          ? null
          : {
              url: row.url,
              headers: shownHeaders(numbers(sent_at)),
              body: bodyOf({ ...event, data, at: event_at }, environment)
            },
      response:
        row.response_status === null
          ? null
          : {
              status: row.response_status,
              headers: row.response_headers ?? {},
              body: Buffer.from(row.response_body ?? []).toString("utf8"),
              truncated: row.response_truncated ?? false
            },
      failure,
      next_retry_at: status === "pending" && sent_at === null && attempt > 1 ? row.due_at : row.next_retry_at
    }
  }

/** Reads the history of deliveries. */
export const make = Effect.fnUntraced(function* (environment: Environment) {
  const sql = yield* SqlClient.SqlClient
  const rows = sql`SELECT d.id, d.webhook_id, d.tenant_id, d.event_id, d.event_type, d.cause, d.attempt,
      CASE d.status WHEN 'sending' THEN 'pending' ELSE d.status END AS status, d.created_at, d.due_at, d.sent_at, d.duration_ms,
      d.url, d.response_status, d.response_headers, d.response_body, d.response_truncated, d.failure, d.next_retry_at,
      coalesce(d.event_data, e.data)::text AS data, coalesce(d.event_at, e.created_at) AS event_at
    FROM webhook_deliveries d LEFT JOIN events e ON e.log = 1 AND e.seq = d.event_seq`
  const search = SqlSchema.findAll({
    Request: Search,
    Result: Row,
    execute: ({ before, event_type, limit, since, status, until, webhook_id }) =>
      sql`${rows} WHERE ${sql.and([
        sql`d.webhook_id = ${webhook_id} AND d.id < ${before}`,
        ...(status === null
          ? []
          : [status === "pending" ? sql`d.status IN ('pending', 'sending')` : sql`d.status = ${status}`]),
        ...(event_type === null ? [] : [sql`d.event_type = ${event_type}`]),
        ...(since === null ? [] : [sql`d.created_at >= ${since}`]),
        ...(until === null ? [] : [sql`d.created_at < ${until}`])
      ])} ORDER BY d.id DESC LIMIT ${limit}`
  })
  const byId = SqlSchema.findOneOption({
    Request: Schema.Struct({ webhook_id: WebhookId.to, id: DeliveryId.to }),
    Result: Row,
    execute: ({ id, webhook_id }) => sql`${rows} WHERE d.webhook_id = ${webhook_id} AND d.id = ${id}`
  })

  const show = shown(environment)
  return {
    /** Newest first; one more than asked for tells that there are more. */
    list: Effect.fnUntraced(function* (
      webhook_id: WebhookId,
      which: DeliveryFilter & { readonly limit: number; readonly cursor?: DeliveryId | undefined }
    ) {
      const {
        cursor: before = highestUuid,
        event_type = null,
        limit,
        since = null,
        status = null,
        until = null
      } = which
      const filter = { status, event_type, since, until }
      const found = yield* search({ ...filter, webhook_id, before, limit: limit + 1 })
      const deliveries = found.slice(0, limit).map(show)
      return { deliveries, next: found.length > limit ? (deliveries.at(-1)?.id ?? null) : null }
    }, Effect.orDie),
    find: (webhook_id: WebhookId, id: DeliveryId): Effect.Effect<Option.Option<Delivery>> =>
      Effect.orDie(Effect.map(byId({ webhook_id, id }), Option.map(show)))
  }
})
