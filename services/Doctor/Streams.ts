import type { SqlClient } from "effect/sql"
import { version } from "#domain/LedgerAccount.ts"
import type { Assurance } from "./Assurance.ts"

/** What holds of money streams. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => [
  {
    promise: "a stream owns what was deposited less what was withdrawn and returned, and nothing once it is cancelled",
    query: sql`SELECT s.id, s.status, s.deposited, s.withdrawn, s.returned, a.posted, a.held FROM streams s
      JOIN ledger_accounts a ON a.id = s.id
      WHERE a.purpose <> 'stream' OR a.currency <> s.currency OR a.frozen OR a.held <> 0
        OR a.posted <> s.deposited - s.withdrawn - s.returned OR (s.status = 'cancelled' AND a.posted <> 0) LIMIT 10`
  },
  {
    promise: "the account of a stream that was never opened is empty",
    query: sql`SELECT a.id, a.posted FROM ledger_accounts a
      WHERE a.purpose = 'stream' AND a.posted <> 0 AND NOT EXISTS (SELECT FROM streams s WHERE s.id = a.id) LIMIT 10`
  },
  {
    promise: "a stream is at the version that the ledger counts",
    query: sql`SELECT s.id, s.version, t.count FROM streams s
      LEFT JOIN tallies t ON t.log = 1 AND t.scope = s.id AND t.subject = ${version}
      WHERE s.version <> coalesce(t.count, 0) LIMIT 10`
  },
  {
    promise: "what was deposited, withdrawn and returned of a stream is the sum of its transfers",
    query: sql`SELECT s.id, s.deposited, s.withdrawn, s.returned, t.deposits, t.withdrawals, t.returns FROM streams s
      FULL JOIN (
        SELECT stream_id, coalesce(sum(amount) FILTER (WHERE type = 'stream_start'), 0) AS deposits,
          coalesce(sum(amount) FILTER (WHERE type = 'stream_withdraw'), 0) AS withdrawals,
          coalesce(sum(amount) FILTER (WHERE type = 'stream_cancel'), 0) AS returns
        FROM transfers WHERE status = 'completed' AND stream_id IS NOT NULL GROUP BY stream_id
      ) t ON t.stream_id = s.id
      WHERE s.id IS NULL OR t.deposits IS DISTINCT FROM s.deposited OR t.withdrawals <> s.withdrawn
        OR t.returns <> s.returned LIMIT 10`
  },
  {
    promise: "a stream flows between two wallets of its currency, and its transfers are between them",
    query: sql`SELECT s.id, s.from_wallet_id, s.to_wallet_id, t.id AS transfer FROM streams s
      LEFT JOIN wallets f ON f.id = s.from_wallet_id LEFT JOIN wallets w ON w.id = s.to_wallet_id
      LEFT JOIN transfers t ON t.stream_id = s.id
      WHERE (f.tenant_id, f.currency, w.currency) IS DISTINCT FROM (s.tenant_id, s.currency, s.currency)
        OR CASE t.type WHEN 'stream_cancel' THEN t.to_wallet_id IS DISTINCT FROM s.from_wallet_id
          ELSE t.id IS NOT NULL AND (t.from_wallet_id, t.to_wallet_id) IS DISTINCT FROM (s.from_wallet_id, s.to_wallet_id) END LIMIT 10`
  },
  {
    promise: "a transfer of a stream is exactly its movement when it completed, and moved nothing otherwise",
    // A stream that is cancelled when nothing is left returns nothing, which no movement can say.
    query: sql`SELECT coalesce(t.id, m.command_id) AS id, t.type, t.status, t.amount, m.seq, m.kind, m.amount AS moved FROM (
        SELECT t.id, t.type, t.status, t.amount, s.key AS stream, f.key AS payer, w.key AS payee FROM transfers t
        LEFT JOIN ledger_accounts s ON s.id = t.stream_id AND s.currency = t.currency
        LEFT JOIN ledger_accounts f ON f.id = t.from_wallet_id
        LEFT JOIN ledger_accounts w ON w.id = t.to_wallet_id
        WHERE t.type IN ('stream_start', 'stream_withdraw', 'stream_cancel')
      ) t FULL JOIN (
        SELECT seq, command_id, kind, step, debit, credit, amount FROM movements
        WHERE code IN ('stream_start', 'stream_withdraw', 'stream_cancel')
      ) m ON m.command_id = t.id
      WHERE t.id IS NULL OR CASE
        WHEN t.status = 'completed' AND t.amount = 0 THEN t.type <> 'stream_cancel' OR m.kind IS NOT NULL
        WHEN t.status = 'completed' THEN (m.kind = 'transfer' AND m.step = 0 AND m.amount = t.amount AND CASE t.type
            WHEN 'stream_start' THEN m.debit = t.payer AND m.credit = t.stream
            ELSE m.debit = t.stream AND m.credit = t.payee
          END) IS NOT TRUE
        ELSE m.kind IS DISTINCT FROM 'refuse'
      END LIMIT 10`
  },
  {
    promise: "every stream has the event of its start, and that of its end when it is cancelled, once",
    query: sql`SELECT tenant_id, s.started, s.ended, e.started AS start_events, e.ended AS end_events, e.different FROM (
        SELECT tenant_id, count(*) AS started, count(*) FILTER (WHERE status = 'cancelled') AS ended FROM streams GROUP BY 1
      ) s FULL JOIN (
        SELECT tenant_id, count(*) FILTER (WHERE type = 'stream.started') AS started,
          count(*) FILTER (WHERE type = 'stream.ended') AS ended,
          count(DISTINCT type || (data #>> '{stream,id}')) AS different
        FROM events WHERE type IN ('stream.started', 'stream.ended') GROUP BY 1
      ) e USING (tenant_id)
      WHERE s.started IS DISTINCT FROM e.started OR s.ended <> e.ended OR e.different <> e.started + e.ended LIMIT 10`
  }
]
