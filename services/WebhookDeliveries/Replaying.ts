import { DateTime, Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { maxReplayed, type Replaying } from "#domain/Delivery.ts"
import type { EventType } from "#domain/Event.ts"
import { DeliveryId, EventId, type TenantId, WebhookId } from "#domain/Ids.ts"
import { newId } from "../NewId.ts"

/** How many facts of the tenant one call looks through. */
const mostRead = 20_000
/** Of one instant there may be more facts than a call replays: as many as a batch of transfers makes, and these go together. */
const mostAtOnce = 5 * maxReplayed
/** What is replayed together is due one after the other, in milliseconds. */
const apart = 20

const toJson = Schema.encodeSync(Schema.fromJsonString(Schema.Unknown))

const Copied = Schema.Struct({ event_id: EventId.to })
const moment = Schema.Date

const RangeRequest = Schema.Struct({
  webhook_id: WebhookId.to,
  after: Schema.BigInt,
  since: moment,
  until: moment,
  patterns: Schema.Array(Schema.String)
})
const Found = Schema.Struct({ seq: Schema.BigInt, at: moment })

/** Makes attempts of what is not new: tests, and what is sent again. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  /** Everything that a subscription to the type of an event may say to have it; the same as in src/domain/Webhook.ts. */
  const families = sql`ARRAY['*', e.type, split_part(e.type, '.', 1) || '.*',
    split_part(e.type, '.', 1) || '.' || split_part(e.type, '.', 2) || '.*']`

  const openLane = (webhook_id: string, again: boolean, now: Date) =>
    sql`INSERT INTO webhook_lanes AS l (webhook_id, again, ready_at) VALUES (${webhook_id}, ${again}, ${now})
      ON CONFLICT (webhook_id, again) DO UPDATE SET
        ready_at = CASE WHEN l.blocked THEN l.ready_at ELSE least(l.ready_at, excluded.ready_at) END`

  const send = Effect.fnUntraced(function* (
    webhook: { readonly id: WebhookId; readonly tenant_id: TenantId },
    event: {
      readonly id: EventId
      readonly type: EventType
      readonly created_at: Date
      readonly data: { readonly [key: string]: unknown }
    }
  ) {
    const id = yield* newId(DeliveryId.to)
    const now = yield* DateTime.nowAsDate
    yield* sql`INSERT INTO webhook_deliveries (webhook_id, id, chain_id, tenant_id, cause, event_id, event_type, event_data,
        event_at, attempt, again, due_at, status, created_at)
      VALUES (${webhook.id}, ${id}, ${id}, ${webhook.tenant_id}, 'test', ${event.id}, ${event.type},
        ${toJson(event.data)}::json, ${event.created_at}, 1, false, ${now}, 'pending', ${now})`
    yield* openLane(webhook.id, false, now)
    return id
  }, Effect.orDie)

  const copy = SqlSchema.findOneOption({
    Request: Schema.Struct({ webhook_id: WebhookId.to, of: DeliveryId.to, id: DeliveryId.to, now: moment }),
    Result: Copied,
    execute: ({ id, now, of, webhook_id }) =>
      sql`INSERT INTO webhook_deliveries (webhook_id, id, chain_id, tenant_id, cause, event_id, event_type, event_seq, event_data,
          event_at, attempt, again, due_at, status, created_at)
        SELECT webhook_id, ${id}::uuid, ${id}::uuid, tenant_id, 'replay', event_id, event_type, event_seq, event_data, event_at,
          1, false, ${now}::timestamptz, 'pending', ${now}::timestamptz
        FROM webhook_deliveries WHERE webhook_id = ${webhook_id} AND id = ${of} RETURNING event_id`
  })
  const replay = Effect.fnUntraced(function* (webhook_id: WebhookId, of: DeliveryId) {
    const id = yield* newId(DeliveryId.to)
    const now = yield* DateTime.nowAsDate
    const copied = yield* copy({ webhook_id, of, id, now })
    if (Option.isNone(copied)) return Option.none()
    yield* openLane(webhook_id, false, now)
    return Option.some({ event_id: copied.value.event_id, delivery_id: id })
  }, Effect.orDie)

  const At = Schema.Struct({ at: moment })
  const Place = Schema.Struct({ place: Schema.BigInt })
  // The log has no index on time, and needs none: it is in the order of time, but for what was written at once by several.
  const before = SqlSchema.findOne({
    Request: At,
    Result: Place,
    execute: ({ at }) =>
      sql`WITH RECURSIVE halves (low, high) AS (
          SELECT 0::bigint, event_seq + 1 FROM ledger_head WHERE log = 1
          UNION ALL
          SELECT CASE WHEN e.created_at < ${at}::timestamptz - interval '1 minute' THEN e.seq ELSE low END,
            CASE WHEN e.created_at < ${at}::timestamptz - interval '1 minute' THEN high ELSE e.seq END
          FROM halves JOIN events e ON e.log = 1 AND e.seq = (low + high) / 2 WHERE high - low > 1
        )
        SELECT max(low) AS place FROM halves`
  })
  const wanted = ({ patterns, since, until, webhook_id }: typeof RangeRequest.Encoded) =>
    sql`w.id = ${webhook_id} AND e.created_at >= ${since} AND e.created_at < ${until}
      AND w.events && ${families} AND ${patterns}::text[] && ${families}
      AND (w.endpoint_id IS NULL OR e.data -> 'payment' ->> 'endpoint_id' = w.endpoint_id::text)
      AND (e.type NOT IN ('webhook.failing', 'webhook.paused', 'webhook.disabled') OR e.data -> 'webhook' ->> 'id' <> type_id('wh', w.id))
      ORDER BY e.seq LIMIT ${sql.literal(String(mostAtOnce + 1))}`
  const inLog = SqlSchema.findAll({
    Request: RangeRequest,
    Result: Found,
    execute: (request) =>
      sql`SELECT e.seq, e.created_at AS at FROM webhooks w, LATERAL (
          SELECT seq, type, created_at, data FROM events WHERE tenant_id = w.tenant_id AND seq > ${request.after}
          ORDER BY seq LIMIT ${sql.literal(String(mostRead))}
        ) e WHERE ${wanted(request)}`
  })
  const failed = SqlSchema.findAll({
    Request: RangeRequest,
    Result: Found,
    execute: (request) =>
      sql`WITH lost AS MATERIALIZED (
          SELECT event_seq FROM webhook_deliveries WHERE webhook_id = ${request.webhook_id} AND event_seq > ${request.after}
          GROUP BY event_seq
          HAVING bool_or(status = 'failed' AND next_retry_at IS NULL) AND NOT bool_or(status <> 'failed')
        )
        SELECT e.seq, e.created_at AS at FROM webhooks w, lost JOIN events e ON e.log = 1 AND e.seq = lost.event_seq
        WHERE ${wanted(request)}`
  })
  const reach = SqlSchema.findOneOption({
    Request: Schema.Struct({ tenant_id: Schema.String, after: Schema.BigInt }),
    Result: Schema.Struct({ at: moment }),
    execute: ({ after, tenant_id }) =>
      sql`SELECT created_at AS at FROM events WHERE tenant_id = ${tenant_id} AND seq > ${after}
        ORDER BY seq OFFSET ${sql.literal(String(mostRead))} LIMIT 1`
  })
  const queue = (webhook_id: WebhookId, seqs: ReadonlyArray<bigint>, now: Date) =>
    sql`INSERT INTO webhook_deliveries (webhook_id, id, chain_id, tenant_id, cause, event_id, event_type, event_seq, attempt,
        again, due_at, status, created_at)
      SELECT ${webhook_id}::uuid, attempt_id, attempt_id, tenant_id, 'replay', event_id, type, seq, 1, true,
        ${now}::timestamptz + place * interval '1 millisecond' * ${apart}::int, 'pending', ${now}::timestamptz
      FROM (
        SELECT new_uuid() AS attempt_id, e.tenant_id, e.id AS event_id, e.type, e.seq, wanted.place
        FROM unnest(${seqs}::bigint[]) WITH ORDINALITY AS wanted (seq, place)
        JOIN events e ON e.log = 1 AND e.seq = wanted.seq ORDER BY wanted.place OFFSET 0
      ) AS one`
  const replayAll = Effect.fnUntraced(function* (
    webhook_id: WebhookId,
    tenant_id: TenantId,
    { only_failed = false, since, types = ["*"], until: wantedUntil }: Replaying
  ) {
    const now = yield* DateTime.nowAsDate
    // What happened just now happened before now.
    const soon = DateTime.toDate(DateTime.add(DateTime.makeUnsafe(now), { milliseconds: 1 }))
    const until = wantedUntil === undefined || wantedUntil > soon ? soon : wantedUntil
    const { place: after } = yield* before({ at: since })
    const find = only_failed ? failed : inLog
    const found = yield* find({ webhook_id, after, since, until, patterns: types })
    const { end, queued } = firstOf(found)
    if (queued.length > 0) {
      yield* queue(webhook_id, queued, now)
      yield* openLane(webhook_id, true, now)
    }
    if (end !== undefined) return { queued: queued.length, until: end }
    const next = only_failed ? Option.none() : yield* reach({ tenant_id, after })
    return { queued: queued.length, until: Option.isSome(next) && next.value.at < until ? next.value.at : until }
  }, Effect.orDie)

  return { send, replay, replayAll, openLane }
})

/**
 * The first `maxReplayed` facts, and where the next call begins. Facts of one instant are not parted, or the next call would begin
 * with some of them again.
 */
const firstOf = (found: ReadonlyArray<typeof Found.Type>): { queued: ReadonlyArray<bigint>; end: Date | undefined } => {
  const next = found[maxReplayed]
  if (next === undefined) return { queued: found.map(({ seq }) => seq), end: undefined }
  const [first] = found
  const isOneInstant = first !== undefined && first.at.getTime() === next.at.getTime()
  const end = isOneInstant ? found.find(({ at }) => at > next.at)?.at : next.at
  const queued = found.slice(0, mostAtOnce).filter(({ at }) => end === undefined || at < end)
  return { queued: queued.map(({ seq }) => seq), end }
}
