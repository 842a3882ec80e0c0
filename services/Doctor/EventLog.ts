import type { SqlClient } from "effect/sql"
import type { Assurance } from "./Assurance.ts"

/** What holds of those who go along the event log. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => [
  {
    promise: "nobody who follows or copies the event log is ahead of it",
    query: sql`SELECT f.kind, f.name, f.seq, h.event_seq AS head FROM (
        SELECT 'follower' AS kind, name, seq FROM followers UNION ALL SELECT 'relay', name, seq FROM relays
        UNION ALL SELECT 'statistics', '', seq FROM statistics_cursor
      ) f, ledger_head h WHERE h.log = 1 AND (f.seq < 0 OR f.seq > h.event_seq) LIMIT 10`
  }
]
