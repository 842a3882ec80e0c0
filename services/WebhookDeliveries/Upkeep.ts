import { DateTime, Effect, Exit, Metric, Schema } from "effect"
import { SqlClient, type SqlError, SqlSchema } from "effect/sql"
import { retrySchedule } from "#domain/DeliverySchedule.ts"
import { notForLong } from "../EventLog/Head.ts"
import * as Receiving from "./Receiving.ts"

/** How many finished attempts of a subscription are kept at least, beside the last failed ones of chains. */
const keptAttempts = 100
/** How long a chain that failed is kept, by when its last attempt was planned. */
export const keptFailures = { days: 30 }
/** How many lanes are asked at a time whether their subscription is still there. */
const lanes = 1_000
/** How many subscriptions are looked at at once, how many rows of each go at once, and how often that is done in one turn. */
const subscriptions = 50
const rows = 500
const most = 100

/** Of how many subscriptions, those whose turn is next, the oldest attempt is looked for. */
const looked = 1_000
/** How many of the oldest are asked whether they can be made at all. */
const judged = 100

export const behind = Metric.gauge("turnpike_webhook_behind_seconds", {
  description: "For how long the oldest first attempt that is due and can be made has been due, in all processes"
})

const Ids = Schema.Struct({ webhook_id: Schema.String })

/** Cleans up after those who were lost, and forgets what is old: some at a time, in any number of processes. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const horizon = retrySchedule.at(-1) ?? 0

  // As whoever writes what came of calls: subscriptions before lanes before attempts, or the two would wait for each other. What
  // another has in hand is left to him or to the next turn: several share what there is.
  const overdue = SqlSchema.findAll({
    Request: Schema.Struct({ now: Schema.Date }),
    Result: Ids,
    execute: ({ now }) =>
      sql`WITH lost AS MATERIALIZED (
          SELECT DISTINCT webhook_id FROM webhook_deliveries WHERE status = 'sending' AND lease_until <= ${now}
        )
        SELECT w.id AS webhook_id, ${sql.literal(notForLong)} FROM lost JOIN webhooks w ON w.id = lost.webhook_id ORDER BY w.id
        LIMIT ${sql.literal(String(subscriptions))} FOR NO KEY UPDATE OF w SKIP LOCKED`
  })
  const lockLanes = (ids: ReadonlyArray<string>) =>
    sql`SELECT 1 FROM webhook_lanes WHERE webhook_id = ANY(${ids}::uuid[]) ORDER BY webhook_id, again FOR NO KEY UPDATE`
  // The same attempt again, because nobody knows what came of it: the schedule goes on as if it had not been made.
  const resend = (ids: ReadonlyArray<string>, now: Date, oldest: Date) =>
    sql`WITH lost AS (
        UPDATE webhook_deliveries d SET status = 'failed', failure = 'lost', lease_until = NULL,
          next_retry_at = CASE WHEN d.first_at > ${oldest}::timestamptz
            AND (w.status = 'active' OR w.status = 'paused' AND d.cause <> 'event') THEN ${now}::timestamptz END
        FROM webhooks w WHERE w.id = d.webhook_id AND d.webhook_id = ANY(${ids}::uuid[]) AND d.status = 'sending'
          AND d.lease_until <= ${now}::timestamptz
        RETURNING d.*
      ), again AS (
        INSERT INTO webhook_deliveries (webhook_id, id, chain_id, tenant_id, cause, event_id, event_type, event_seq, event_data,
          event_at, attempt, again, first_at, due_at, status, created_at)
        SELECT webhook_id, new_uuid(), chain_id, tenant_id, cause, event_id, event_type, event_seq, event_data, event_at,
          attempt, again, first_at, next_retry_at, 'pending', ${now}::timestamptz
        FROM lost WHERE next_retry_at IS NOT NULL
      )
      UPDATE webhook_lanes l SET ready_at = ${now}::timestamptz, blocked = false, finished = l.finished + lost.count
      FROM (SELECT webhook_id, again, count(*)::int FROM lost GROUP BY webhook_id, again) AS lost
      WHERE l.webhook_id = lost.webhook_id AND l.again = lost.again`
  /** Makes attempts again whose lease is over; of how many subscriptions. */
  const sendLost = Effect.gen(function* () {
    const now = yield* DateTime.now
    const at = DateTime.toDate(now)
    const ids = (yield* overdue({ now: at })).map(({ webhook_id }) => webhook_id)
    if (ids.length === 0) return 0
    yield* lockLanes(ids)
    // One that kills whoever makes it is not made for ever.
    yield* resend(ids, at, DateTime.toDate(DateTime.subtract(now, { milliseconds: horizon, hours: 1 })))
    return ids.length
  }).pipe(sql.withTransaction)
  // All there are: nothing new is sent to a subscription while its places are taken by calls that nobody makes any more.
  const sendAllLost = Effect.gen(function* () {
    let all = 0
    for (let turn = 0; turn < most; turn++) {
      const found = yield* sendLost
      all += found
      if (found < subscriptions) break
    }
    return all
  })

  const full = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Ids,
    // Nothing is locked while rows go: whoever writes what came of calls does not wait for that.
    execute: () =>
      sql`WITH f AS (
          SELECT webhook_id, again FROM webhook_lanes WHERE finished >= ${sql.literal(String(keptAttempts))}
          LIMIT ${sql.literal(String(subscriptions))} FOR NO KEY UPDATE SKIP LOCKED
        )
        UPDATE webhook_lanes l SET finished = 0 FROM f WHERE l.webhook_id = f.webhook_id AND l.again = f.again
        RETURNING l.webhook_id`
  })
  // By when they were sent: a repetition was queued before much that is over by then, and has its place among the last all the same. The
  // oldest go first, so that a chain loses its beginning and never its end or its middle, however many turns it takes.
  // Others forget the same rows, in orders of their own: what one of them has in hand is left to it, so that nobody waits in a ring.
  const forget = (ids: ReadonlyArray<string>) =>
    sql`WITH old AS (
        SELECT f.webhook_id, f.id, f.event_seq, f.status FROM unnest(${ids}::uuid[]) AS w (id) CROSS JOIN LATERAL (
          SELECT p.webhook_id, p.id FROM webhook_deliveries p
          WHERE p.webhook_id = w.id AND (p.status = 'delivered' OR p.next_retry_at IS NOT NULL) AND (p.sent_at, p.id) <= (
            SELECT n.sent_at, n.id FROM webhook_deliveries n
            WHERE n.webhook_id = w.id AND (n.status = 'delivered' OR n.next_retry_at IS NOT NULL)
            ORDER BY n.sent_at DESC, n.id DESC OFFSET ${sql.literal(String(keptAttempts))} LIMIT 1
          ) ORDER BY p.sent_at, p.id LIMIT ${sql.literal(String(rows))}
        ) d JOIN webhook_deliveries f ON f.webhook_id = d.webhook_id AND f.id = d.id FOR UPDATE OF f SKIP LOCKED
      ), known AS (
        -- What is told of an arrival here is told by nobody else, if the chain that failed ended after it.
        UPDATE webhook_deliveries m SET arrived = true FROM old WHERE old.status = 'delivered'
          AND m.webhook_id = old.webhook_id AND m.event_seq = old.event_seq AND m.status = 'failed' AND m.next_retry_at IS NULL
          AND NOT m.arrived
      )
      DELETE FROM webhook_deliveries d USING old WHERE d.webhook_id = old.webhook_id AND d.id = old.id
      RETURNING d.webhook_id`
  // In turn, as whoever follows the log takes them.
  const remain = (ids: ReadonlyArray<string>) =>
    sql`UPDATE webhook_lanes l SET finished = greatest(l.finished, ${sql.literal(String(keptAttempts))}) FROM (
        SELECT webhook_id, again FROM webhook_lanes WHERE webhook_id = ANY(${ids}::uuid[]) AND again = false
        ORDER BY webhook_id FOR NO KEY UPDATE
      ) f WHERE l.webhook_id = f.webhook_id AND l.again = f.again`
  /** Forgets finished attempts beyond those that are kept; how many. */
  const prune = Effect.gen(function* () {
    const ids = [...new Set((yield* full(undefined)).map(({ webhook_id }) => webhook_id))]
    if (ids.length === 0) return 0
    const forgotten = yield* forget(ids)
    // Of one that has more, the rest goes next.
    const many = Map.groupBy(forgotten, (row) => String(row["webhook_id"]))
    const left = ids.filter((id) => (many.get(id)?.length ?? 0) >= rows)
    if (left.length > 0) yield* remain(left)
    return forgotten.length
  })
  const forgetFailures = Effect.gen(function* () {
    const before = DateTime.toDate(DateTime.subtract(yield* DateTime.now, keptFailures))
    // With the end goes what is left of its chain, which would say that it goes on.
    const forgotten = yield* sql`WITH ends AS (
        SELECT webhook_id, id, chain_id FROM webhook_deliveries
        WHERE status = 'failed' AND next_retry_at IS NULL AND created_at < ${before}
        ORDER BY created_at LIMIT ${sql.literal(String(rows))} FOR UPDATE SKIP LOCKED
      ), earlier AS (
        SELECT d.webhook_id, d.id FROM ends JOIN webhook_deliveries d
          ON d.webhook_id = ends.webhook_id AND d.chain_id = ends.chain_id AND d.next_retry_at IS NOT NULL
        FOR UPDATE OF d SKIP LOCKED
      )
      DELETE FROM webhook_deliveries WHERE (webhook_id, id) IN (
        SELECT webhook_id, id FROM ends UNION ALL SELECT webhook_id, id FROM earlier
      ) RETURNING id`
    return forgotten.length
  })

  // As much as there is: a subscription that is busy for hours, or fails for days, must not leave more behind than goes.
  const asMuch = Effect.fnUntraced(function* (step: Effect.Effect<number, SqlError.SqlError | Schema.SchemaError>) {
    let all = 0
    for (let turn = 0; turn < most; turn++) {
      const forgotten = yield* step
      if (forgotten === 0) break
      all += forgotten
    }
    return all
  })

  const beginning = { webhook_id: "00000000-0000-0000-0000-000000000000", again: false }
  let place = beginning
  const shutNext = SqlSchema.findOne({
    Request: Schema.Struct({ webhook_id: Schema.String, again: Schema.Boolean, now: Schema.Date }),
    Result: Schema.Struct({
      webhook_id: Schema.NullOr(Schema.String),
      again: Schema.NullOr(Schema.Boolean),
      seen: Schema.Int,
      shut: Schema.Int
    }),
    execute: ({ again, now, webhook_id }) =>
      sql`WITH page AS MATERIALIZED (
          SELECT webhook_id, again FROM webhook_lanes WHERE (webhook_id, again) > (${webhook_id}::uuid, ${again}::boolean)
          ORDER BY webhook_id, again LIMIT ${sql.literal(String(lanes))}
        ), shut AS (
          UPDATE webhook_lanes l SET ready_at = ${now}::timestamptz, blocked = false FROM (
            SELECT f.webhook_id, f.again FROM page JOIN webhook_lanes f USING (webhook_id, again)
            WHERE f.ready_at IS DISTINCT FROM ${now}::timestamptz
              AND NOT EXISTS (SELECT FROM webhooks w WHERE w.id = f.webhook_id) FOR NO KEY UPDATE OF f SKIP LOCKED
          ) p WHERE l.webhook_id = p.webhook_id AND l.again = p.again RETURNING 1
        )
        SELECT last.webhook_id, last.again, (SELECT count(*)::int FROM page) AS seen, (SELECT count(*)::int FROM shut) AS shut
        FROM (SELECT 1) one LEFT JOIN (SELECT webhook_id, again FROM page ORDER BY webhook_id DESC, again DESC LIMIT 1) last ON true`
  })
  // Whoever deletes a subscription leaves its lanes behind; a claim then finds out, and forgets the rest. Goes on where it ended the
  // last time, so that a look costs as much with very many subscriptions as with few.
  const shutDeserted = Effect.gen(function* () {
    const { again, seen, shut, webhook_id } = yield* shutNext({ ...place, now: yield* DateTime.nowAsDate })
    place = seen < lanes || webhook_id === null || again === null ? beginning : { webhook_id, again }
    return shut
  })

  const open = yield* Receiving.make
  const oldestDue = SqlSchema.findAll({
    Request: Schema.Struct({ now: Schema.Date }),
    Result: Schema.Struct({
      due_at: Schema.Date,
      webhook_id: Schema.String,
      status: Schema.String,
      url: Schema.String,
      secret: Schema.Uint8Array,
      previous_secret: Schema.NullOr(Schema.Uint8Array),
      previous_until: Schema.NullOr(Schema.Date)
    }),
    // One step in an index for each of them. Only what cannot be signed or called is put off while it is due and nothing is in flight.
    execute: ({ now }) =>
      sql`SELECT d.due_at, w.id AS webhook_id, w.status, w.url, w.secret, w.previous_secret,
          w.previous_secret_until AS previous_until
        FROM (
          SELECT webhook_id FROM webhook_lanes WHERE NOT again AND ready_at IS NOT NULL AND (blocked OR ready_at <= ${now})
          ORDER BY ready_at LIMIT ${sql.literal(String(looked))}
        ) l JOIN webhooks w ON w.id = l.webhook_id CROSS JOIN LATERAL (
          SELECT p.due_at FROM webhook_deliveries p
          WHERE p.webhook_id = l.webhook_id AND p.again = false AND p.status = 'pending' AND p.due_at <= ${now}
          ORDER BY p.due_at, p.id LIMIT 1
        ) d ORDER BY d.due_at LIMIT ${sql.literal(String(judged))}`
  })
  /** Says how far behind first attempts are. Those that cannot be made would be further behind for ever, and hide the others. */
  const measure = Effect.gen(function* () {
    const now = yield* DateTime.nowAsDate
    for (const { due_at, status, ...sealed } of yield* oldestDue({ now })) {
      // An event that has just come makes such a one look due until somebody finds out.
      if (!Receiving.isKnown(status) || Exit.isFailure(yield* Effect.exit(open(sealed, now)))) continue
      return yield* Metric.update(behind, (now.getTime() - due_at.getTime()) / 1_000)
    }
    yield* Metric.update(behind, 0)
  })

  return {
    measure: Effect.orDie(measure),
    sendLost: Effect.orDie(sendAllLost),
    prune: Effect.orDie(asMuch(prune)),
    forgetFailures: Effect.orDie(asMuch(forgetFailures)),
    shutDeserted: Effect.orDie(shutDeserted)
  }
})
