import type { SqlClient } from "effect/sql"
import type { Assurance } from "./Assurance.ts"

/** What holds of those who go along the event log. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => [
  {
    promise: "whoever goes along the event log has a place in it",
    // Without it whoever starts next begins at the end of the log, and what came before is sent to nobody.
    query: sql`SELECT s.kind FROM (VALUES
        ('webhooks', EXISTS (SELECT FROM webhook_deliveries WHERE cause = 'event'),
          EXISTS (SELECT FROM followers WHERE name = 'webhooks')),
        ('agent_channel', EXISTS (SELECT FROM agent_events), EXISTS (SELECT FROM followers WHERE name = 'agent_channel')),
        ('statistics', true, EXISTS (SELECT FROM statistics_cursor WHERE log = 1)),
        ('scans', true, EXISTS (SELECT FROM merchant_scan_head WHERE log = 1))
      ) s (kind, has_begun, is_there) WHERE has_begun AND NOT is_there`
  },
  {
    promise: "the logs of movements and of events refuse every change but a new line",
    query: sql`SELECT l.name, t.tgname, t.tgenabled FROM (VALUES ('movements'), ('events')) l (name)
      LEFT JOIN pg_trigger t ON t.tgrelid = to_regclass(l.name) AND t.tgname = 'append_only'
      WHERE (t.tgenabled IN ('O', 'A')) IS NOT TRUE`
  },
  {
    promise: "nobody who follows, copies or hears of the event log is ahead of it",
    query: sql`SELECT f.kind, f.name, f.seq, h.event_seq AS head FROM (
        SELECT 'follower' AS kind, name, seq FROM followers UNION ALL SELECT 'relay', name, seq FROM relays
        UNION ALL SELECT 'statistics', '', seq FROM statistics_cursor
        UNION ALL SELECT 'subscription', id::text, since FROM webhooks
      ) f, ledger_head h WHERE h.log = 1 AND (f.seq < 0 OR f.seq > h.event_seq) LIMIT 10`
  }
]
