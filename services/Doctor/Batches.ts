import type { SqlClient } from "effect/sql"
import type { Assurance } from "./Assurance.ts"

/** What holds of batches. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => [
  {
    promise: "a batch's totals are those of its items, each of which has its own place",
    query: sql`SELECT b.id, b.total, b.completed, i.* FROM batches b
      FULL JOIN (
        SELECT batch_id, count(*) AS items, count(*) FILTER (WHERE status = 'completed') AS done,
          count(DISTINCT place) AS places, min(place) AS lowest, max(place) AS highest
        FROM (
          SELECT batch_id, tenant_id, batch_index AS place, status FROM transfers WHERE batch_id IS NOT NULL
          UNION ALL
          SELECT b.id, b.tenant_id, r.key::int, t.status
          FROM batches b CROSS JOIN jsonb_each_text(b.replayed) r JOIN transfers t ON t.id = r.value::uuid
        ) item GROUP BY batch_id
      ) i ON i.batch_id = b.id
      WHERE (b.total, b.total, b.completed, 0, b.total - 1)
        IS DISTINCT FROM (i.items, i.places, i.done, i.lowest, i.highest) LIMIT 10`
  },
  {
    promise: "a transfer of a batch belongs to the batch's tenant",
    query: sql`SELECT t.id, t.batch_id FROM transfers t JOIN batches b ON b.id = t.batch_id
      WHERE t.tenant_id <> b.tenant_id LIMIT 10`
  },
  {
    promise: "every batch has its event, once",
    query: sql`SELECT b.tenant_id, b.batches, e.events, e.different FROM (
        SELECT tenant_id, count(*) AS batches FROM batches GROUP BY tenant_id
      ) b FULL JOIN (
        SELECT tenant_id, count(*) AS events, count(DISTINCT data #>> '{batch,id}') AS different
        FROM events WHERE type = 'batch.completed' GROUP BY tenant_id
      ) e ON e.tenant_id = b.tenant_id
      WHERE b.batches IS DISTINCT FROM e.events OR b.batches IS DISTINCT FROM e.different LIMIT 10`
  }
]
