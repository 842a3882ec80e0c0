import { DateTime, Duration } from "effect"
import type { SqlClient } from "effect/sql"
import type { Assurance } from "./Assurance.ts"

/** How far clocks of processes may be apart. */
const apart = Duration.seconds(15)

/** What holds of webhooks and their deliveries. */
export const promises = (sql: SqlClient.SqlClient, now: Date): ReadonlyArray<Assurance> => [
  {
    // Nothing was forgotten of one with few deliveries, and what it asks for is what it asked for since it was last changed.
    promise:
      "every fact after a subscription's beginning that it asks for is on its way to it or was sent, in one chain",
    query: sql`WITH few AS MATERIALIZED (
        SELECT w.id, w.tenant_id, w.endpoint_id, w.events, w.since, w.updated_at FROM webhooks w
        WHERE w.status = 'active' AND (SELECT count(*) FROM webhook_deliveries d WHERE d.webhook_id = w.id) < 100
      ), passed AS MATERIALIZED (SELECT seq FROM followers WHERE name = 'webhooks')
      SELECT w.id AS webhook, e.seq, count(d.id) AS chains FROM few w
      JOIN events e ON e.tenant_id = w.tenant_id AND e.seq > w.since AND e.created_at > w.updated_at
        AND e.seq <= (SELECT seq FROM passed)
      LEFT JOIN webhook_deliveries d ON d.webhook_id = w.id AND d.event_seq = e.seq AND d.cause = 'event' AND d.chain_id = d.id
      WHERE w.events && ARRAY['*', e.type, split_part(e.type, '.', 1) || '.*',
          split_part(e.type, '.', 1) || '.' || split_part(e.type, '.', 2) || '.*']
        AND (w.endpoint_id IS NULL OR e.data -> 'payment' ->> 'endpoint_id' = w.endpoint_id::text)
        AND (e.type NOT IN ('webhook.failing', 'webhook.paused', 'webhook.disabled') OR e.data -> 'webhook' ->> 'id' <> type_id('wh', w.id))
      GROUP BY w.id, e.seq HAVING count(d.id) <> 1 LIMIT 10`
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
      HAVING l.ready_at IS NULL OR l.ready_at > greatest(min(d.due_at), ${DateTime.toDate(DateTime.addDuration(DateTime.makeUnsafe(now), apart))}) AND NOT l.blocked LIMIT 10`
  },
  {
    promise: "no subscription has more calls in flight than it may",
    query: sql`SELECT webhook_id, again, count(*) FROM webhook_deliveries WHERE status = 'sending'
      GROUP BY webhook_id, again HAVING count(*) > CASE WHEN again THEN 2 ELSE 6 END LIMIT 10`
  },
  {
    promise: "a subscription that failed has failures, and one whose last attempts arrived has none",
    query: sql`SELECT w.id, w.failures, w.failing_since FROM webhooks w
      WHERE (w.failures = 0) <> (w.failing_since IS NULL) OR w.failures >= 10 AND w.status = 'active'
        AND NOT EXISTS (SELECT FROM events e WHERE e.tenant_id = w.tenant_id AND e.type = 'webhook.failing'
          AND e.data -> 'webhook' ->> 'id' = type_id('wh', w.id) AND e.created_at >= w.failing_since)
      LIMIT 10`
  }
]
