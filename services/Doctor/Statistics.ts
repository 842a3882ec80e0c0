import type { SqlClient } from "effect/sql"
import { everyone } from "#domain/LedgerAccount.ts"
import type { Assurance } from "./Assurance.ts"

/** What holds of the statistics of paid calls. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => [
  {
    promise: "the statistics of an endpoint, with the events that are not counted yet, are its totals",
    query: sql`SELECT coalesce(t.endpoint_id, s.endpoint_id) AS endpoint, t.count, t.amount, s.calls, s.revenue FROM (
        SELECT t.scope AS endpoint_id, t.count, t.amount FROM tallies t JOIN endpoints e ON e.id = t.scope
        WHERE t.subject = ${everyone}
      ) t FULL JOIN (
        SELECT endpoint_id, sum(calls) AS calls, sum(revenue) AS revenue FROM (
          SELECT endpoint_id, calls, revenue FROM statistics_windows WHERE span = 'all'
          UNION ALL
          SELECT (data #>> '{payment,endpoint_id}')::uuid, 1, (data #>> '{payment,charged}')::numeric * 1000000 FROM events
          WHERE log = 1 AND seq > (SELECT seq FROM statistics_cursor WHERE log = 1) AND type = 'x402.payment.completed'
        ) counted GROUP BY endpoint_id
      ) s ON s.endpoint_id = t.endpoint_id
      WHERE coalesce(t.count, 0) <> coalesce(s.calls, 0) OR coalesce(t.amount, 0) <> coalesce(s.revenue, 0) LIMIT 10`
  },
  {
    promise: "what a window of statistics holds is the sum of its buckets, and its payers are those that are listed",
    query: sql`SELECT w.endpoint_id, w.span, w.calls, w.revenue, w.payers, b.*, p.* FROM statistics_windows w
      FULL JOIN (
        SELECT endpoint_id, span, sum(calls) AS in_buckets, sum(revenue) AS revenue_in_buckets FROM statistics_buckets
        GROUP BY endpoint_id, span
      ) b ON b.endpoint_id = w.endpoint_id AND b.span = w.span
      FULL JOIN (
        SELECT endpoint_id, span, count(*) AS listed FROM statistics_sums WHERE kind = 'payer' GROUP BY endpoint_id, span
      ) p ON p.endpoint_id = w.endpoint_id AND p.span = w.span
      WHERE w.span IS NULL OR w.calls <> coalesce(b.in_buckets, 0) OR w.revenue <> coalesce(b.revenue_in_buckets, 0)
        OR w.payers <> coalesce(p.listed, 0) LIMIT 10`
  }
]
