import { Clock, DateTime, Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import * as Following from "../EventLog/Following.ts"
import { monotonic } from "../RealTime.ts"

/** The name under which the log is followed. */
const follower = "webhooks"

/** How many facts are passed at once, and about how many attempts one statement makes. */
const mostFacts = 1000
const mostAttempts = 10_000
/** How long the number of subscriptions is taken for what it was, in milliseconds. It decides how large a stretch is, nothing else. */
const countKept = 1000

/** How many attempts one fact makes at most. Those of endpoints, of which there may be very many, are not walked: each fact has one. */
export const mostOfAFact = (sql: SqlClient.SqlClient) =>
  sql`SELECT (coalesce(max(own), 0) + 1)::int AS most FROM (
    SELECT count(*) AS own FROM webhooks WHERE status = 'active' AND endpoint_id IS NULL GROUP BY tenant_id) AS tenants`

/** Makes the first attempt of every fact for every subscription that asks for it: once, because the place in the log moves with it. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const clock = yield* Clock.Clock
  const { pass } = yield* Following.make(follower)

  const count = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ most: Schema.Int }),
    execute: () => mostOfAFact(sql)
  })
  const some = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ some: Schema.Boolean }),
    execute: () => sql`SELECT EXISTS (SELECT FROM webhooks WHERE status = 'active') AS some`
  })

  // What a type's families are called is in src/domain/Webhook.ts; a type has three parts at most. What is told about a
  // subscription is told to the others. That of an endpoint gets what happens to the endpoint's payments.
  const expand = (after: bigint, upTo: bigint, now: Date) =>
    sql`WITH fact AS MATERIALIZED (
        SELECT seq, id, tenant_id, type,
          ARRAY['*', type, split_part(type, '.', 1) || '.*', split_part(type, '.', 1) || '.' || split_part(type, '.', 2) || '.*']
            AS patterns,
          CASE WHEN type IN ('webhook.failing', 'webhook.paused', 'webhook.disabled') THEN data -> 'webhook' ->> 'id' END AS about,
          CASE WHEN type LIKE 'x402.payment.%' THEN (data -> 'payment' ->> 'endpoint_id')::uuid END AS endpoint_id
        FROM events WHERE log = 1 AND seq > ${after} AND seq <= ${upTo}
          AND tenant_id IN (SELECT tenant_id FROM webhooks WHERE status = 'active')
      ), made AS (
        INSERT INTO webhook_deliveries (webhook_id, id, chain_id, tenant_id, cause, event_id, event_type, event_seq, attempt,
          again, due_at, status, created_at)
        SELECT webhook_id, attempt_id, attempt_id, tenant_id, 'event', event_id, type, seq, 1, false, ${now}::timestamptz,
          'pending', ${now}::timestamptz
        FROM (
          SELECT w.id AS webhook_id, new_uuid() AS attempt_id, f.tenant_id, f.id AS event_id, f.type, f.seq
          FROM fact f JOIN webhooks w ON w.tenant_id = f.tenant_id AND w.endpoint_id IS NULL
          WHERE w.status = 'active' AND w.since < f.seq AND w.events && f.patterns
            AND (f.about IS NULL OR f.about <> type_id('wh', w.id))
          UNION ALL
          SELECT w.id, new_uuid(), f.tenant_id, f.id, f.type, f.seq
          FROM fact f JOIN webhooks w ON w.endpoint_id = f.endpoint_id AND w.tenant_id = f.tenant_id
          WHERE w.status = 'active' AND w.since < f.seq AND w.events && f.patterns
          OFFSET 0
        ) AS wanted
        RETURNING webhook_id
      )
      INSERT INTO webhook_lanes AS l (webhook_id, again, ready_at)
      SELECT DISTINCT webhook_id, false, ${now}::timestamptz FROM made ORDER BY webhook_id
      ON CONFLICT (webhook_id, again) DO UPDATE SET
        ready_at = CASE WHEN l.blocked THEN l.ready_at ELSE least(l.ready_at, excluded.ready_at) END`

  let counted = { at: Number.NEGATIVE_INFINITY, most: 0 }
  const limit = Effect.gen(function* () {
    const now = monotonic(clock)
    if (now - counted.at >= countKept) counted = { at: now, most: (yield* count(undefined)).most }
    return Math.max(1, Math.min(mostFacts, Math.floor(mostAttempts / Math.max(1, counted.most))))
  }).pipe(Effect.orDie)

  /** Passes a stretch of the log. */
  return pass(limit, ({ after, upTo }) =>
    Effect.gen(function* () {
      if (!(yield* Effect.catchTag(some(undefined), ["SchemaError", "NoSuchElementError"], Effect.die)).some) return
      yield* expand(after, upTo, yield* DateTime.nowAsDate)
    })
  )
})
