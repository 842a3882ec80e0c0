import { DateTime, Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import {
  longestUnwritten,
  maxReplayedAtOnce,
  maxReplaysWaiting,
  readUntil,
  replayDefaults,
  replayedOf,
  type Replaying,
  TooManyReplays
} from "#domain/Delivery.ts"
import type { EventType } from "#domain/Event.ts"
import { DeliveryId, EventId, type TenantId, WebhookId } from "#domain/Ids.ts"
import { later } from "#domain/Instant.ts"
import { newId } from "../NewId.ts"

/** How many facts of the tenant one call looks through. */
const mostRead = 20_000
/** What is replayed together is due one after the other, in milliseconds. */
const apart = 20
/** Facts that were written at once by several may stand so far from their place in time. */
const margin = `${longestUnwritten} milliseconds`

const toJson = Schema.encodeSync(Schema.fromJsonString(Schema.Unknown))

const Copied = Schema.Struct({ event_id: EventId.to })
const moment = Schema.Date

const RangeRequest = Schema.Struct({
  webhook_id: WebhookId.to,
  tenant_id: Schema.String,
  after: Schema.BigInt,
  upTo: Schema.BigInt,
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
    // Without a turn: each makes one, so calls at once may pass the limit by their number, and none waits for a range to be read.
    yield* refuseTooMany(webhook_id)
    const id = yield* newId(DeliveryId.to)
    const now = yield* DateTime.nowAsDate
    const copied = yield* copy({ webhook_id, of, id, now })
    if (Option.isNone(copied)) return Option.none()
    yield* openLane(webhook_id, false, now)
    return Option.some({ event_id: copied.value.event_id, delivery_id: id })
  }, Effect.catchTags(noRefusals))

  // The log has no index on time, and needs none: it is in the order of time, but for what was written at once by several.
  const places = SqlSchema.findOne({
    Request: Schema.Struct({ since: moment, until: moment }),
    Result: Schema.Struct({ after: Schema.BigInt, upTo: Schema.BigInt, head: Schema.BigInt }),
    execute: ({ since, until }) =>
      sql`WITH RECURSIVE halves (edge, at, low, high) AS (
          SELECT edge.name, edge.at, 0::bigint, event_seq + 1 FROM ledger_head, (VALUES
            ('after', ${since}::timestamptz - ${margin}::interval), ('up to', ${until}::timestamptz + ${margin}::interval)
          ) AS edge (name, at) WHERE log = 1
          UNION ALL
          SELECT edge, at, CASE WHEN e.created_at < at THEN e.seq ELSE low END, CASE WHEN e.created_at < at THEN high ELSE e.seq END
          FROM halves JOIN events e ON e.log = 1 AND e.seq = (low + high) / 2 WHERE high - low > 1
        )
        SELECT max(low) FILTER (WHERE edge = 'after') AS after, max(low) FILTER (WHERE edge = 'up to') AS "upTo",
          (SELECT event_seq FROM ledger_head WHERE log = 1) AS head FROM halves`
  })
  const within = ({ since, until }: Pick<typeof RangeRequest.Encoded, "since" | "until">) =>
    sql`created_at >= ${since} AND created_at < ${until}`
  const wanted = ({ patterns, webhook_id }: typeof RangeRequest.Encoded) =>
    sql`w.id = ${webhook_id} AND w.events && ${families} AND ${patterns}::text[] && ${families}
      AND (w.endpoint_id IS NULL OR e.data -> 'payment' ->> 'endpoint_id' = w.endpoint_id::text)
      AND (e.type NOT IN ('webhook.failing', 'webhook.paused', 'webhook.disabled') OR e.data -> 'webhook' ->> 'id' <> type_id('wh', w.id))
      ORDER BY e.seq LIMIT ${sql.literal(String(maxReplayedAtOnce + 1))}`
  const stretch = ({ after, tenant_id, upTo, ...range }: typeof RangeRequest.Encoded) =>
    sql`FROM events WHERE tenant_id = ${tenant_id} AND seq > ${after} AND seq <= ${upTo} AND ${within(range)} ORDER BY seq`
  const inLog = SqlSchema.findAll({
    Request: RangeRequest,
    Result: Found,
    execute: (request) =>
      sql`SELECT e.seq, e.created_at AS at FROM webhooks w, LATERAL (
          SELECT seq, type, created_at, data ${stretch(request)} LIMIT ${sql.literal(String(mostRead))}
        ) e WHERE ${wanted(request)}`
  })
  const failed = SqlSchema.findAll({
    Request: RangeRequest,
    Result: Found,
    execute: (request) =>
      sql`WITH lost AS MATERIALIZED (
          SELECT event_seq FROM webhook_deliveries
          WHERE webhook_id = ${request.webhook_id} AND event_seq > ${request.after} AND event_seq <= ${request.upTo}
          GROUP BY event_seq
          HAVING bool_or(status = 'failed' AND next_retry_at IS NULL) AND NOT bool_or(status <> 'failed' OR arrived)
        )
        SELECT e.seq, e.created_at AS at FROM webhooks w, lost
          JOIN events e ON e.log = 1 AND e.seq = lost.event_seq AND ${within(request)}
        WHERE ${wanted(request)}`
  })
  /** The first fact that a call does not look at. */
  const beyond = SqlSchema.findOneOption({
    Request: RangeRequest,
    Result: Found,
    execute: (request) =>
      sql`SELECT seq, created_at AS at ${stretch(request)} OFFSET ${sql.literal(String(mostRead))} LIMIT 1`
  })
  const waiting = SqlSchema.findOne({
    Request: WebhookId.to,
    Result: Schema.Struct({ replays: Schema.Int }),
    execute: (webhook_id) =>
      sql`SELECT count(*)::int AS replays FROM (
          SELECT FROM webhook_deliveries WHERE webhook_id = ${webhook_id} AND status = 'pending' AND cause = 'replay'
          LIMIT ${sql.literal(String(maxReplaysWaiting))}
        ) AS few`
  })
  const refuseTooMany = Effect.fnUntraced(function* (webhook_id: WebhookId) {
    const { replays } = yield* waiting(webhook_id)
    if (replays >= maxReplaysWaiting) return yield* new TooManyReplays({ limit: maxReplaysWaiting })
  })
  // Behind what earlier calls queued, or all together would be sent faster, and mixed. Not behind repetitions: they may be days away.
  const queue = (webhook_id: WebhookId, seqs: ReadonlyArray<bigint>, now: Date) =>
    sql`INSERT INTO webhook_deliveries (webhook_id, id, chain_id, tenant_id, cause, event_id, event_type, event_seq, attempt,
        again, due_at, status, created_at)
      SELECT ${webhook_id}::uuid, attempt_id, attempt_id, tenant_id, 'replay', event_id, type, seq, 1, true,
        greatest(${now}::timestamptz, last.due_at) + place * interval '1 millisecond' * ${apart}::int, 'pending', ${now}::timestamptz
      FROM (
        SELECT max(due_at) AS due_at FROM webhook_deliveries
        WHERE webhook_id = ${webhook_id} AND status = 'pending' AND cause = 'replay' AND again AND attempt = 1
      ) AS last, (
        SELECT new_uuid() AS attempt_id, e.tenant_id, e.id AS event_id, e.type, e.seq, wanted.place
        FROM unnest(${seqs}::bigint[]) WITH ORDINALITY AS wanted (seq, place)
        JOIN events e ON e.log = 1 AND e.seq = wanted.seq ORDER BY wanted.place OFFSET 0
      ) AS one`
  const replayAll = Effect.fnUntraced(function* (
    webhook_id: WebhookId,
    tenant_id: TenantId,
    { cursor = 0n, since, until: wantedUntil, ...which }: Replaying
  ) {
    const { only_failed = replayDefaults.only_failed, types = replayDefaults.types } = which
    // One call after the other, or all of them would find that there is room.
    yield* sql`SELECT pg_advisory_xact_lock(hashtextextended('turnpike.replay', hashtext(${webhook_id})))`
    yield* refuseTooMany(webhook_id)
    const now = yield* DateTime.nowAsDate
    // What happened just now happened before now.
    const soon = later(now, 1)
    const until = wantedUntil === undefined || wantedUntil > soon ? soon : wantedUntil
    const { after, head, upTo } = yield* places({ since, until })
    const begin = after > cursor ? after : cursor
    // What is asked for up to now goes to the end of the log, also past what a clock that was ahead has left in it.
    const isUpToNow = until >= now
    const range = { webhook_id, tenant_id, after: begin, upTo: isUpToNow ? head : upTo, since, until, patterns: types }
    const found = yield* (only_failed ? failed : inLog)(range)
    const queued = found.slice(0, replayedOf(found)).map(({ seq }) => seq)
    if (queued.length > 0) {
      yield* queue(webhook_id, queued, now)
      yield* openLane(webhook_id, true, now)
    }
    const [next, ...others] = found.slice(queued.length)
    const rest = next === undefined && !only_failed ? Option.getOrUndefined(yield* beyond(range)) : next
    if (rest === undefined) return { queued: queued.length, until: readUntil({ since, until }, now), next: null }
    const from = others.reduce((earliest, { at }) => (at < earliest ? at : earliest), rest.at)
    // Whoever goes on by time alone gets on, also where an instant has more facts than a call takes.
    return { queued: queued.length, until: from > since ? from : later(since, 1), next: rest.seq - 1n }
  }, Effect.catchTags(noRefusals))

  return { send, replay, replayAll, openLane }
})

const noRefusals = { SqlError: Effect.die, SchemaError: Effect.die, NoSuchElementError: Effect.die }
