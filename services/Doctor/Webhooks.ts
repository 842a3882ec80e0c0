import { DateTime, Duration } from "effect"
import type { SqlClient } from "effect/sql"
import { EventType } from "#domain/Event.ts"
import { later } from "#domain/Instant.ts"
import { patternsOf } from "#domain/Webhook.ts"
import { keptFailures } from "../WebhookDeliveries/Upkeep.ts"
import { sealedWith } from "../Webhooks/SigningSecrets.ts"
import type { Assurance } from "./Assurance.ts"

/** How far clocks of processes may be apart. */
const apart = Duration.seconds(15)

/** From when on the ends of chains that failed are kept. */
const remembered = (now: Date) => DateTime.toDate(DateTime.subtract(DateTime.makeUnsafe(now), keptFailures))

/** Each type of event, with everything that a subscription may call it. */
const named = EventType.literals.flatMap((type) => patternsOf(type).map((pattern) => ({ type, pattern })))

/** What holds of webhooks and their deliveries. */
export const promises = (sql: SqlClient.SqlClient, now: Date): ReadonlyArray<Assurance> => [
  {
    // Of one with few deliveries nothing was forgotten but what failed long ago, and what it asks for is what it asked for since it was
    // last changed. Facts and subscriptions meet by what both name, and from where the first of those who ask for the same began, behind
    // which few facts are: millions of facts, each looked at for each of thousands of subscriptions, would take days.
    promise:
      "every fact after a subscription's beginning that it asks for is on its way to it or was sent, in one chain",
    query: sql`WITH few AS MATERIALIZED (
        SELECT w.id, w.tenant_id, w.endpoint_id, w.events, w.since, w.updated_at FROM webhooks w
        LEFT JOIN (SELECT webhook_id, count(*) AS deliveries FROM webhook_deliveries GROUP BY webhook_id) d ON d.webhook_id = w.id
        WHERE w.status = 'active' AND coalesce(d.deliveries, 0) < 100
      ), asked AS MATERIALIZED (
        SELECT DISTINCT w.id, w.tenant_id, w.endpoint_id, w.since, w.updated_at, k.type
        FROM few w CROSS JOIN LATERAL unnest(w.events) AS e (pattern)
        JOIN unnest(${named.map(({ type }) => type)}::text[], ${named.map(({ pattern }) => pattern)}::text[]) AS k (type, pattern)
          ON k.pattern = e.pattern
      ), first AS MATERIALIZED (
        SELECT tenant_id, type, endpoint_id IS NULL AS is_own, min(since) AS since, min(updated_at) AS updated_at FROM asked
        GROUP BY tenant_id, type, endpoint_id IS NULL
      ), told AS MATERIALIZED (
        SELECT e.seq, e.tenant_id, e.type, e.created_at, f.is_own, e.data -> 'webhook' ->> 'id' AS about,
          CASE WHEN NOT f.is_own THEN (e.data -> 'payment' ->> 'endpoint_id')::uuid END AS endpoint_id
        FROM events e JOIN first f ON f.tenant_id = e.tenant_id AND f.type = e.type
        WHERE e.seq > f.since AND e.created_at > f.updated_at
          AND e.seq <= (SELECT seq FROM followers WHERE name = 'webhooks')
      ), due AS (
        SELECT a.id, t.seq, t.created_at FROM told t JOIN asked a ON a.tenant_id = t.tenant_id AND a.type = t.type
        WHERE t.is_own AND a.endpoint_id IS NULL AND t.seq > a.since AND t.created_at > a.updated_at
          AND (t.type NOT IN ('webhook.failing', 'webhook.paused', 'webhook.disabled') OR t.about <> type_id('wh', a.id))
        UNION ALL
        SELECT a.id, t.seq, t.created_at FROM told t JOIN asked a
          ON a.tenant_id = t.tenant_id AND a.type = t.type AND a.endpoint_id = t.endpoint_id
        WHERE NOT t.is_own AND t.seq > a.since AND t.created_at > a.updated_at
      )
      SELECT due.id AS webhook, due.seq, count(d.id) AS chains FROM due
      LEFT JOIN webhook_deliveries d ON d.webhook_id = due.id AND d.event_seq = due.seq AND d.cause = 'event' AND d.chain_id = d.id
      GROUP BY due.id, due.seq, due.created_at
      HAVING count(d.id) > 1 OR count(d.id) = 0 AND due.created_at > ${remembered(now)} LIMIT 10`
  },
  {
    promise: "a delivery carries an event of the log as it is there, of the tenant whose subscription it is",
    query: sql`SELECT d.id, d.webhook_id, d.tenant_id, d.event_seq, e.tenant_id AS tenant_of_event FROM webhook_deliveries d
      LEFT JOIN webhooks w ON w.id = d.webhook_id LEFT JOIN events e ON e.log = 1 AND e.seq = d.event_seq
      WHERE w.tenant_id <> d.tenant_id
        OR d.event_seq IS NOT NULL AND (e.tenant_id, e.id, e.type) IS DISTINCT FROM (d.tenant_id, d.event_id, d.event_type) LIMIT 10`
  },
  {
    promise: "no chain of deliveries has two attempts that are still to end, and the last of one that goes on is such",
    query: sql`SELECT chain_id, count(*) FILTER (WHERE status IN ('pending', 'sending')) AS open,
        count(*) FILTER (WHERE status = 'delivered') AS delivered FROM webhook_deliveries
      GROUP BY webhook_id, chain_id
      HAVING count(*) FILTER (WHERE status IN ('pending', 'sending')) > 1
        OR count(*) FILTER (WHERE status IN ('pending', 'sending', 'delivered')
          OR status = 'failed' AND next_retry_at IS NULL) <> 1 AND max(attempt) > 0 AND bool_or(chain_id = id)
      LIMIT 10`
  },
  {
    promise:
      "the attempts of a chain are numbered without gaps, but for those that were forgotten, and carry one event",
    query: sql`SELECT chain_id, min(attempt) AS first, max(attempt) AS last, count(DISTINCT attempt) AS attempts
      FROM webhook_deliveries GROUP BY webhook_id, chain_id
      HAVING max(attempt) - min(attempt) + 1 <> count(DISTINCT attempt) OR max(attempt) > 8
        OR count(DISTINCT event_id) > 1 OR count(DISTINCT event_seq) > 1 LIMIT 10`
  },
  {
    promise: "whatever is to be sent is in a lane that will be looked at in time",
    // Of a lane with more to do than it may do at once something is overdue: it is looked at as soon as one of its calls has ended.
    query: sql`SELECT d.webhook_id, d.again, min(d.due_at) AS due, l.ready_at FROM webhook_deliveries d
      LEFT JOIN webhook_lanes l ON l.webhook_id = d.webhook_id AND l.again = d.again
      WHERE d.status = 'pending' GROUP BY d.webhook_id, d.again, l.ready_at, l.blocked
      HAVING l.ready_at IS NULL OR l.ready_at > greatest(min(d.due_at), ${later(now, apart)}) AND NOT l.blocked LIMIT 10`
  },
  {
    promise: "no subscription has more calls in flight than it may",
    query: sql`SELECT webhook_id, again, count(*) FROM webhook_deliveries WHERE status = 'sending'
      GROUP BY webhook_id, again HAVING count(*) > CASE WHEN again THEN 2 ELSE 6 END LIMIT 10`
  },
  {
    promise: "the key that opens what subscriptions are signed with is there",
    // Whoever starts without it makes another one, and nothing is sent to anybody whose secret was sealed before.
    query: sql`SELECT id, url FROM webhooks WHERE NOT EXISTS (SELECT FROM secrets WHERE name = ${sealedWith}) LIMIT 10`
  },
  {
    promise: "a subscription that failed has failures, and one whose last attempts arrived has none",
    query: sql`SELECT w.id, w.failures, w.failing_since FROM webhooks w
      LEFT JOIN (
        SELECT tenant_id, data -> 'webhook' ->> 'id' AS shown, max(created_at) AS told_at FROM events
        WHERE type = 'webhook.failing' GROUP BY 1, 2
      ) e ON e.tenant_id = w.tenant_id AND e.shown = CASE WHEN w.failures >= 10 THEN type_id('wh', w.id) END
      WHERE (w.failures = 0) <> (w.failing_since IS NULL)
        OR w.failures >= 10 AND w.status = 'active' AND (e.told_at >= w.failing_since) IS NOT TRUE
      LIMIT 10`
  }
]
