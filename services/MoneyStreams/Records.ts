import { DateTime, Effect, type Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { EventDraft } from "#domain/Event.ts"
import { StreamId, TenantId } from "#domain/Ids.ts"
import { MoneyStream, StreamFilter, StreamState, type StreamStatus } from "#domain/MoneyStream.ts"
import { exhaustsAt, nextAlertAt, shownAt } from "#domain/MoneyStream/Flow.ts"
import { Reach, reachOf } from "#domain/Ownership.ts"
import type { Principal } from "#domain/Principal.ts"
import type { Alert } from "#domain/MoneyStream/Change.ts"
import * as EachRow from "../Database/EachRow.ts"
import { companion } from "../Ledger/Companion.ts"
import { ownersWithin } from "../Wallets/Searching.ts"

/** The columns that are only there to be searched by: `exhausts_at` and `next_alert_at` follow from the others. */
const columns = [
  ["id", "uuid"],
  ["tenant_id", "uuid"],
  ["from_wallet_id", "uuid"],
  ["to_wallet_id", "uuid"],
  ["currency", "text"],
  ["created_at", "timestamptz"],
  ["metadata", "jsonb"],
  ["flow_rate", "numeric"],
  ["status", "text"],
  ["pause_reason", "text"],
  ["deposited", "bigint"],
  ["buffer", "bigint"],
  ["withdrawn", "bigint"],
  ["returned", "bigint"],
  ["accrued", "numeric"],
  ["since", "timestamptz"],
  ["exhausts_at", "timestamptz"],
  ["alerted", "text"],
  ["next_alert_at", "timestamptz"],
  ["latest_transfer_id", "uuid"],
  ["version", "bigint"],
  ["changed_by", "uuid"],
  ["updated_at", "timestamptz"],
  ["cancelled_at", "timestamptz"]
] as const satisfies ReadonlyArray<readonly [keyof StreamState | "exhausts_at" | "next_alert_at", string]>

const names = columns.map(([name]) => name)
const rows = `jsonb_to_recordset($1::jsonb) AS r (${columns.map(([name, type]) => `${name} ${type}`).join(", ")})`
const unchanging: ReadonlyArray<string> = columns.slice(0, 7).map(([name]) => name)
const changing = names.filter((name) => !unchanging.includes(name))

type Stored = Readonly<Record<(typeof names)[number], unknown>>

const insert = companion<Stored>(
  `INSERT INTO streams (${names.join(", ")}) SELECT ${names.map((name) => `r.${name}`).join(", ")} FROM ${rows}
  ON CONFLICT DO NOTHING`
)
const update = companion<Stored>(
  `UPDATE streams s SET ${changing.map((name) => `${name} = r.${name}`).join(", ")} FROM ${rows} WHERE s.id = r.id`
)

const stored = (stream: StreamState): Stored => ({
  ...stream,
  flow_rate: String(stream.flow_rate),
  deposited: String(stream.deposited),
  buffer: String(stream.buffer),
  withdrawn: String(stream.withdrawn),
  returned: String(stream.returned),
  accrued: String(stream.accrued),
  version: String(stream.version),
  since: stream.since.toISOString(),
  exhausts_at: exhaustsAt(stream)?.toISOString() ?? null,
  next_alert_at: nextAlertAt(stream)?.toISOString() ?? null,
  created_at: stream.created_at.toISOString(),
  updated_at: stream.updated_at.toISOString(),
  cancelled_at: stream.cancelled_at?.toISOString() ?? null
})

/** Writes a stream in the transaction of its first movement. */
export const insertStream = (stream: StreamState) => insert.of(stored(stream))

/** Writes a stream as a change leaves it. */
export const updateStream = (stream: StreamState) => update.of(stored(stream))

const encodeShown = Schema.encodeSync(MoneyStream)
/** A stream as callers see it at `now`. */
export const streamOnWire = (stream: StreamState, now: Date) => encodeShown(shownAt(stream, now))

/** The fact that a stream began or ended. */
export const streamEvent = (happened: "started" | "ended", stream: StreamState): EventDraft => ({
  tenant_id: stream.tenant_id,
  type: `stream.${happened}`,
  data: { stream: streamOnWire(stream, stream.updated_at) }
})

/** The fact that a stream runs short of money, with the stream as it is when that is said. */
export const alertEvent = ({ severity, stream }: Alert): EventDraft => {
  const shown = streamOnWire(stream, stream.since)
  return {
    tenant_id: stream.tenant_id,
    type: "stream.alert",
    data: { stream: shown, alert: { severity, runway_seconds: shown.runway_seconds } }
  }
}

/** Streams of a tenant that match, and the part of them that is wanted. */
const Search = Schema.toType(
  Schema.Struct({
    ...StreamFilter,
    tenant_id: TenantId,
    reach: Reach,
    now: Schema.Date,
    limit: Schema.Int,
    offset: Schema.Int
  })
)
type Search = typeof Search.Type

const read = EachRow.reader("a stream", StreamState)

/** Reads streams. What they say is true at their `since`; the rules tell what it is now. */
export const reader = Effect.map(SqlClient.SqlClient, (sql) => {
  const streams = sql`SELECT id, tenant_id, from_wallet_id, to_wallet_id, currency, flow_rate, status, pause_reason, deposited,
      buffer, withdrawn, returned, accrued, since, alerted, latest_transfer_id, metadata, version, changed_by, created_at,
      updated_at, cancelled_at
    FROM streams s`

  const byId = SqlSchema.findOneOption({
    Request: Schema.toType(Schema.Struct({ tenant_id: TenantId, id: StreamId })),
    Result: StreamState,
    execute: ({ id, tenant_id }) => sql`${streams} WHERE s.id = ${id} AND s.tenant_id = ${tenant_id}`
  })

  // One that has run dry is paused from that instant on, although nobody may have noticed yet.
  const hasStatus = (status: StreamStatus, now: Date) => {
    if (status === "cancelled") return sql`s.status = 'cancelled'`
    return status === "active"
      ? sql`(s.status = 'active' AND (s.exhausts_at > ${now} OR s.exhausts_at IS NULL))`
      : sql`(s.status = 'paused' OR (s.status = 'active' AND s.exhausts_at <= ${now}))`
  }
  const within = (reach: Reach) => {
    if (reach.to === "tenant") return []
    if (reach.to === "nothing") return [sql`false`]
    const own = sql`ARRAY(SELECT id FROM wallets WHERE owner_id = ANY(${ownersWithin(sql, reach)}))`
    return [sql`(s.from_wallet_id = ANY(${own}) OR s.to_wallet_id = ANY(${own}))`]
  }
  const matching = (search: Search) =>
    sql.and([
      sql`s.tenant_id = ${search.tenant_id}`,
      ...within(search.reach),
      ...(search.status === undefined ? [] : [hasStatus(search.status, search.now)]),
      ...(search.from_wallet_id === undefined ? [] : [sql`s.from_wallet_id = ${search.from_wallet_id}`]),
      ...(search.to_wallet_id === undefined ? [] : [sql`s.to_wallet_id = ${search.to_wallet_id}`])
    ])
  const search = SqlSchema.findAll({
    Request: Search,
    Result: StreamState,
    // What comes before the page is passed by in an index; rows are read of the page only. Planned for what it asks: a plan for any
    // value reads all that a large tenant has to find the few of one account or wallet.
    execute: (request) =>
      sql`WITH page AS MATERIALIZED (
          SELECT s.id FROM streams s WHERE ${matching(request)} ORDER BY s.id DESC LIMIT ${request.limit} OFFSET ${request.offset}
        ) ${streams} WHERE s.id IN (SELECT id FROM page) ORDER BY s.id DESC`.unprepared
  })
  const count = SqlSchema.findOne({
    Request: Search,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (request) => sql`SELECT count(*)::int AS total FROM streams s WHERE ${matching(request)}`.unprepared
  })

  const due = SqlSchema.findAll({
    Request: Schema.Struct({ now: Schema.Date, limit: Schema.Int, offset: Schema.Int }),
    Result: EachRow.Raw,
    execute: ({ limit, now, offset }) =>
      sql`${streams} WHERE s.next_alert_at <= ${now} ORDER BY s.next_alert_at LIMIT ${limit} OFFSET ${offset}`
  })

  return {
    find: (tenant_id: TenantId, id: StreamId): Effect.Effect<Option.Option<StreamState>> =>
      Effect.orDie(byId({ tenant_id, id })),
    list: Effect.fnUntraced(function* (caller: Principal, asked: Omit<Search, "now" | "tenant_id" | "reach">) {
      const now = yield* DateTime.nowAsDate
      const request = { ...asked, tenant_id: caller.tenant_id, reach: reachOf(caller), now }
      const found = yield* search(request)
      return { streams: found.map((stream) => shownAt(stream, now)), total: (yield* count(request)).total }
    }, Effect.orDie),
    /** Streams whose next alert is due, the longest due first, after `offset` of them; and how many of those cannot be read. */
    due: Effect.fnUntraced(function* (limit: number, offset: number) {
      const now = yield* DateTime.nowAsDate
      const { rows, unreadable } = yield* read(yield* due({ now, limit, offset }))
      return { now, streams: rows, unreadable: unreadable.length }
    }, Effect.orDie)
  }
})
