import { DateTime, Effect, Metric } from "effect"
import { crowding, failuresToSlow, fullnessOf } from "#domain/DeliverySchedule.ts"
import * as Pipeline from "../Database/Pipeline.ts"
import { OID } from "../Database/Pipeline.ts"
import { begin, commit, type Connection } from "./Connection.ts"
import type { DeliveryPolicy } from "./Policy.ts"
import * as Receiving from "./Receiving.ts"

/** An attempt that is ours to make until the lease is over. */
export interface Attempt {
  readonly webhook_id: string
  readonly id: string
  readonly again: boolean
  readonly attempt: number
  readonly chain_id: string
  readonly cause: string
  readonly first_at: Date
  readonly tenant_id: string
  readonly event_id: string
  readonly event_type: string
  /** Where the event is in the log; of one that is not, its data as text and when it was made. */
  readonly event_seq: bigint | null
  readonly event_data: string | null
  readonly event_at: Date | null
  readonly sent_at: Date
  readonly lease_until: Date
  readonly receiver: Receiving.Receiver
}

export const unusable = Metric.counter("turnpike_webhook_unusable_total", {
  description: "How often attempts were put off because their subscription cannot be signed or called",
  incremental: true
})

interface Lane extends Receiving.Sealed {
  readonly again: boolean
  readonly status: string | null
  readonly failures: number
  readonly tenant_id: string
}

const peek = Pipeline.statement(
  [OID.timestamptz],
  `SELECT 1 WHERE EXISTS (SELECT FROM webhook_lanes WHERE NOT again AND ready_at <= $1)
    OR EXISTS (SELECT FROM webhook_lanes WHERE again AND ready_at <= $1)`
)
// First attempts come before others; a quarter is left to the others, so that they come at all.
const locking = (wanted: string): string =>
  `WITH first AS (
    SELECT webhook_id, again FROM webhook_lanes l WHERE NOT again AND ready_at <= $1${wanted}
    ORDER BY ready_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
  ), other AS (
    SELECT webhook_id, again FROM webhook_lanes l WHERE again AND ready_at <= $1${wanted}
    ORDER BY ready_at LIMIT greatest($2 - (SELECT count(*) FROM first), ($2 + 3) / 4) FOR NO KEY UPDATE SKIP LOCKED
  )
  SELECT l.webhook_id, l.again, w.status, coalesce(w.url, ''), coalesce(w.secret, ''), w.previous_secret,
    w.previous_secret_until, coalesce(w.failures, 0), coalesce(w.tenant_id::text, '')
  FROM (SELECT * FROM first UNION ALL SELECT * FROM other) l LEFT JOIN webhooks w ON w.id = l.webhook_id`
const lock = Pipeline.statement([OID.timestamptz, OID.int4], locking(""))
/** The same, without the lanes of some tenants. */
const lockOfOthers = Pipeline.statement(
  [OID.timestamptz, OID.int4, OID.uuidArray],
  locking(" AND NOT EXISTS (SELECT FROM webhooks w WHERE w.id = l.webhook_id AND w.tenant_id = ANY($3))")
)
const laneOf = (row: Pipeline.Row): Lane => ({
  webhook_id: Pipeline.text(row[0]),
  again: Pipeline.flag(row[1]),
  status: Pipeline.nullable(Pipeline.text)(row[2]),
  url: Pipeline.text(row[3]),
  secret: bytes(row[4]),
  previous_secret: Pipeline.nullable(bytes)(row[5]),
  previous_until: Pipeline.nullable(Pipeline.date)(row[6]),
  failures: Pipeline.int(row[7]),
  tenant_id: Pipeline.text(row[8])
})
const bytes = (value: unknown): Uint8Array => {
  if (value instanceof Uint8Array) return value
  throw new TypeError("Expected bytes in a row")
}

// What is looked at is what comes next, more of it than is taken: there may be any number of replays, which go on while paused.
const stop = Pipeline.statement(
  [OID.uuidArray, OID.boolArray, OID.boolArray],
  `WITH ended AS (
    SELECT d.webhook_id, d.id FROM unnest($1, $2, $3) AS l (webhook_id, again, everything) CROSS JOIN LATERAL (
      SELECT p.webhook_id, p.id, p.cause FROM webhook_deliveries p
      WHERE p.webhook_id = l.webhook_id AND p.again = l.again AND p.status = 'pending'
      ORDER BY p.due_at, p.id LIMIT 200
    ) d WHERE l.everything OR d.cause = 'event'
  )
  UPDATE webhook_deliveries d SET status = 'failed', failure = 'stopped' FROM ended
  WHERE d.webhook_id = ended.webhook_id AND d.id = ended.id AND d.status = 'pending' RETURNING d.webhook_id, d.again`
)
// Only of lanes that are locked: others may be getting an attempt that nobody sees yet.
const forget = Pipeline.statement(
  [OID.uuidArray, OID.boolArray],
  `DELETE FROM webhook_deliveries WHERE (webhook_id, id) IN (
    SELECT d.webhook_id, d.id FROM unnest($1, $2) AS l (webhook_id, again)
    JOIN webhook_deliveries d ON d.webhook_id = l.webhook_id AND d.again = l.again LIMIT 500
  )`
)
const dropLanes = Pipeline.statement(
  [OID.uuidArray, OID.boolArray],
  `DELETE FROM webhook_lanes l USING unnest($1, $2) AS r (webhook_id, again)
  WHERE l.webhook_id = r.webhook_id AND l.again = r.again AND NOT EXISTS (
    SELECT FROM webhook_deliveries d WHERE d.webhook_id = l.webhook_id AND d.again = l.again)`
)
// One that cannot be called at all must not keep the others from being called. Only lanes that are locked: another process may have
// the other lane of the same subscription in hand, and ask for this one.
const postpone = Pipeline.statement(
  [OID.uuidArray, OID.boolArray, OID.timestamptz],
  `UPDATE webhook_lanes l SET ready_at = $3, blocked = false FROM unnest($1, $2) AS r (webhook_id, again)
  WHERE l.webhook_id = r.webhook_id AND l.again = r.again`
)

// A second look, in a statement after the lock: what it reads was committed before the lock was ours.
const take = Pipeline.statement(
  [OID.uuidArray, OID.boolArray, OID.int4Array, OID.textArray, OID.timestamptz, OID.timestamptz],
  `WITH room AS MATERIALIZED (
    SELECT l.webhook_id, l.again, l.url, greatest(l.most - (
      SELECT count(*) FROM webhook_deliveries s
      WHERE s.webhook_id = l.webhook_id AND s.again = l.again AND s.status = 'sending'), 0)::int AS free
    FROM unnest($1, $2, $3, $4) AS l (webhook_id, again, most, url)
  ), next AS MATERIALIZED (
    SELECT room.webhook_id, room.again, room.url, p.id, p.due_at, p.due_at <= $5 AND p.place <= room.free AS is_ours
    FROM room CROSS JOIN LATERAL (
      SELECT id, due_at, row_number() OVER (ORDER BY due_at, id) AS place FROM (
        SELECT id, due_at FROM webhook_deliveries q
        WHERE q.webhook_id = room.webhook_id AND q.again = room.again AND q.status = 'pending'
        ORDER BY due_at, id LIMIT room.free + 1
      ) AS few
    ) p
  ), moved AS (
    UPDATE webhook_lanes l SET ready_at = CASE WHEN rest.due_at <= $5 THEN $6 ELSE rest.due_at END,
      blocked = coalesce(rest.due_at <= $5, false)
    FROM (
      SELECT room.webhook_id, room.again, r.due_at FROM room LEFT JOIN (
        SELECT webhook_id, again, min(due_at) AS due_at FROM next WHERE NOT is_ours GROUP BY webhook_id, again
      ) r ON r.webhook_id = room.webhook_id AND r.again = room.again
    ) AS rest
    WHERE l.webhook_id = rest.webhook_id AND l.again = rest.again
  )
  UPDATE webhook_deliveries d SET status = 'sending', lease_until = $6, sent_at = $5, first_at = coalesce(d.first_at, $5),
    url = next.url
  FROM next WHERE next.is_ours AND d.webhook_id = next.webhook_id AND d.id = next.id AND d.status = 'pending'
  RETURNING d.webhook_id, d.id, d.again, d.attempt, d.chain_id, d.cause, d.first_at, d.tenant_id, d.event_id, d.event_type,
    d.event_seq, d.event_data::text, d.event_at`
)
const attemptOf = (
  row: Pipeline.Row,
  times: { readonly sent_at: Date; readonly lease_until: Date },
  receivers: ReadonlyMap<string, Receiving.Receiver>
): Attempt => {
  const webhook_id = Pipeline.text(row[0])
  const again = Pipeline.flag(row[2])
  return {
    ...times,
    webhook_id,
    id: Pipeline.text(row[1]),
    again,
    attempt: Pipeline.int(row[3]),
    chain_id: Pipeline.text(row[4]),
    cause: Pipeline.text(row[5]),
    first_at: Pipeline.date(row[6]),
    tenant_id: Pipeline.text(row[7]),
    event_id: Pipeline.text(row[8]),
    event_type: Pipeline.text(row[9]),
    event_seq: Pipeline.nullable(Pipeline.bigint)(row[10]),
    event_data: Pipeline.nullable(Pipeline.text)(row[11]),
    event_at: Pipeline.nullable(Pipeline.date)(row[12]),
    receiver: receivers.get(webhook_id) ?? { url: "", origin: "", path: "/", secrets: [] }
  }
}

/** How many lanes are looked at in one claim. */
const lanesAtOnce = 128

/**
 * Of a lane's places, how many there are while the process, or what its tenant may have of it, is so full: hundreds of receivers that
 * hang fill it to where each has one place, and a healthy one always finds that. Thousands of one tenant leave places to the others.
 */
const share = (places: number, fullness: number): number =>
  fullness < 0.25 ? places : fullness < 0.5 ? Math.ceil(places / 2) : fullness < 0.75 ? Math.ceil(places / 4) : 1

/** Takes attempts that are due. The transaction is over before any of them is made. */
export const make = Effect.fnUntraced(function* ({ fly, transaction }: Connection, policy: DeliveryPolicy) {
  const open = yield* Receiving.make
  yield* Metric.update(unusable, 0)
  let isIdle = false

  const receiverOf = (lane: Lane, now: Date) =>
    Effect.catchDefect(open(lane, now), (cause) =>
      Effect.as(Effect.logError("A webhook cannot be signed or called", { id: lane.webhook_id }, cause), undefined)
    )

  /** Ends what is not to be sent any more, some at a time; the lanes in which nothing is left to end. */
  const settled = Effect.fnUntraced(function* (lanes: ReadonlyArray<Lane>) {
    const open = lanes.filter(({ status }) => status === "active")
    const shut = lanes.filter(({ status }) => status === "paused" || status === "disabled")
    const gone = lanes.filter(({ status }) => status === null)
    if (gone.length > 0) {
      const values = [gone.map(({ webhook_id }) => webhook_id), gone.map(({ again }) => again)]
      yield* fly([
        { statement: forget, values },
        { statement: dropLanes, values }
      ])
    }
    if (shut.length === 0) return open
    const values = [
      shut.map(({ webhook_id }) => webhook_id),
      shut.map(({ again }) => again),
      shut.map(({ status }) => status === "disabled")
    ]
    const [ended = []] = yield* fly([{ statement: stop, values }])
    const busy = new Set(ended.map((row) => `${Pipeline.text(row[0])} ${Pipeline.flag(row[1])}`))
    return open.concat(shut.filter(({ again, webhook_id }) => !busy.has(`${webhook_id} ${again}`)))
  })

  /** Of `left` places at most half, so that some are left for others; and how many lanes were looked at. */
  const claim = Effect.fnUntraced(function* (left: number, inFlight: number, calls: ReadonlyMap<string, number>) {
    const now = yield* DateTime.now
    const at = DateTime.toDate(now)
    const lease_until = DateTime.toDate(DateTime.addDuration(now, policy.lease))
    const most = Math.min(Math.ceil(left / 2), policy.batch)
    // Who had nothing to do last time looks before he begins a transaction.
    const [due = []] = isIdle ? yield* fly([{ statement: peek, values: [at] }]) : [[true]]
    isIdle = due.length === 0
    if (isIdle) return { attempts: [], lanes: 0 }
    const tooMany = crowding(calls, left)
    const [, rows = []] = yield* fly([
      begin,
      tooMany.length === 0
        ? { statement: lock, values: [at, Math.min(most, lanesAtOnce)] }
        : { statement: lockOfOthers, values: [at, Math.min(most, lanesAtOnce), tooMany] }
    ])
    const all = rows.map(laneOf)
    isIdle = all.length === 0
    const usable = yield* settled(all)
    const receivers = new Map<string, Receiving.Receiver>()
    const broken = all.filter(({ status }) => status !== null && !Receiving.isKnown(status))
    for (const lane of usable) {
      if (receivers.has(lane.webhook_id)) continue
      const receiver = yield* receiverOf(lane, at)
      if (receiver === undefined) broken.push(lane)
      else receivers.set(lane.webhook_id, receiver)
    }
    if (broken.length > 0) {
      const lanes = [broken.map(({ webhook_id }) => webhook_id), broken.map(({ again }) => again)]
      yield* fly([{ statement: postpone, values: [...lanes, lease_until] }])
      yield* Metric.update(unusable, broken.length)
    }
    const lanes = usable.filter(({ webhook_id }) => receivers.has(webhook_id))
    if (lanes.length === 0) {
      yield* fly([commit])
      return { attempts: [], lanes: all.length }
    }
    const each = Math.max(1, Math.floor(most / lanes.length))
    const places = ({ again, failures, tenant_id }: Lane) => {
      if (failures >= failuresToSlow) return 1
      const fullness = Math.max(inFlight / policy.inFlight, fullnessOf(calls.get(tenant_id) ?? 0, left))
      return Math.min(each, share(again ? policy.again : policy.first, fullness))
    }
    const values = [
      lanes.map(({ webhook_id }) => webhook_id),
      lanes.map(({ again }) => again),
      lanes.map(places),
      lanes.map(({ url }) => url),
      at,
      lease_until
    ]
    const [taken = []] = yield* fly([{ statement: take, values }, commit])
    const attempts = taken.map((row) => attemptOf(row, { sent_at: at, lease_until }, receivers))
    return { attempts, lanes: all.length }
  })
  /** Attempts that are due, but for those of tenants who are `crowding`; `calls` is how many each has under way. */
  return (left: number, inFlight: number, calls: ReadonlyMap<string, number>) =>
    transaction(claim(left, inFlight, calls))
})
