import type { SqlClient } from "effect/sql"
import { version } from "#domain/LedgerAccount.ts"
import type { Assurance } from "./Assurance.ts"

/** What holds of scheduled transfers. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => [
  {
    promise: "a schedule stands at the version that its fence counts",
    query: sql`SELECT s.id, s.version, f.count AS fence FROM scheduled_transfers s
      LEFT JOIN tallies f ON f.log = 1 AND f.scope = s.id AND f.subject = ${version}
      WHERE s.version <> coalesce(f.count, 0) LIMIT 10`
  },
  {
    promise: "a schedule moves money of its tenant between two wallets of its currency, and so did its transfers",
    query: sql`SELECT s.id, s.from_wallet_id, s.to_wallet_id, x.transfer_id AS transfer FROM scheduled_transfers s
      LEFT JOIN wallets f ON f.id = s.from_wallet_id LEFT JOIN wallets w ON w.id = s.to_wallet_id
      LEFT JOIN scheduled_executions x ON x.schedule_id = s.id LEFT JOIN transfers t ON t.id = x.transfer_id
      WHERE (f.tenant_id, f.currency, w.currency) IS DISTINCT FROM (s.tenant_id, s.currency, s.currency)
        OR t.id IS NOT NULL AND (t.tenant_id, t.from_wallet_id, t.to_wallet_id)
          IS DISTINCT FROM (s.tenant_id, s.from_wallet_id, s.to_wallet_id) LIMIT 10`
  },
  {
    promise: "a schedule moved its money as often as it says, and once at most for each occurrence",
    query: sql`SELECT s.id, s.status, s.occurrences, s.executions_completed, e.* FROM scheduled_transfers s
      FULL JOIN (
        SELECT x.schedule_id, count(*) AS attempts, count(DISTINCT (x.occurrence, x.attempt)) AS different,
          count(*) FILTER (WHERE t.status = 'completed') AS paid,
          count(DISTINCT x.occurrence) FILTER (WHERE t.status = 'completed') AS paid_occurrences,
          max(x.occurrence) AS latest, min(t.amount) AS least, max(t.amount) AS most
        FROM scheduled_executions x LEFT JOIN transfers t ON t.id = x.transfer_id GROUP BY x.schedule_id
      ) e ON e.schedule_id = s.id
      WHERE s.id IS NULL OR s.executions_completed <> coalesce(e.paid, 0) OR e.paid <> e.paid_occurrences
        OR e.attempts <> e.different OR e.latest NOT BETWEEN s.occurrences AND s.occurrences + 1
        OR e.least <> s.amount OR e.most <> s.amount LIMIT 10`
  },
  {
    promise: "every transfer that a schedule made is noted as its execution, and every execution is a transfer",
    query: sql`SELECT t.id AS transfer, x.transfer_id AS execution FROM (
        SELECT id FROM transfers WHERE initiated_by_type = 'system' AND protocol_metadata ? 'scheduled_transfer_id'
      ) t FULL JOIN scheduled_executions x ON x.transfer_id = t.id
      WHERE t.id IS NULL OR x.transfer_id IS NULL LIMIT 10`
  },
  {
    promise: "every execution of a schedule has its event, once",
    query: sql`SELECT s.tenant_id, s.executions, e.events FROM (
        SELECT tenant_id, sum(executions_completed) AS executions FROM scheduled_transfers GROUP BY tenant_id
      ) s FULL JOIN (
        SELECT tenant_id, count(*) AS events FROM events WHERE type = 'scheduled_transfer.executed' GROUP BY tenant_id
      ) e ON e.tenant_id = s.tenant_id
      WHERE coalesce(s.executions, 0) <> coalesce(e.events, 0) LIMIT 10`
  }
]
