import type { SqlClient } from "effect/sql"
import { version } from "#domain/LedgerAccount.ts"
import type { Assurance } from "./Assurance.ts"

/** What holds of quotes, and of the transfers across currencies and networks that are made of them. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => [
  {
    promise: "a used quote and the transfer that was made of it name each other and say the same amounts",
    query: sql`SELECT q.id AS quote, t.id AS transfer FROM (SELECT * FROM quotes WHERE transfer_id IS NOT NULL) q
      FULL JOIN (SELECT * FROM transfers WHERE quote_id IS NOT NULL) t ON t.id = q.transfer_id AND t.quote_id = q.id
        AND t.tenant_id = q.tenant_id AND t.amount = q.send_amount AND t.currency = q.from_currency
        AND t.destination_amount = q.receive_amount AND t.destination_currency = q.to_currency AND t.fee = q.fee
      WHERE q.id IS NULL OR t.id IS NULL LIMIT 10`
  },
  {
    promise: "a quote promises what its rate makes of what is sent, less the fee, rounded down",
    // By less than the smallest coin of any currency that is quoted, a hundredth.
    query: sql`SELECT id, rate, send_amount, fee, receive_amount FROM quotes
      WHERE (CASE WHEN rate ~ '^[0-9]+[.][0-9]+$'
        THEN (send_amount - fee) * rate::numeric - receive_amount BETWEEN 0 AND 9999.999999999 END) IS NOT TRUE LIMIT 10`
  },
  {
    promise: "a quote is used when its fence has moved, and only then",
    query: sql`SELECT q.id, q.transfer_id, f.count AS fence FROM quotes q
      LEFT JOIN tallies f ON f.log = 1 AND f.scope = q.id AND f.subject = ${version}
      WHERE coalesce(f.count, 0) <> (q.transfer_id IS NOT NULL)::int LIMIT 10`
  },
  {
    promise:
      "a cross_border transfer that is under way has its open hold, and no other open hold is for foreign exchange",
    query: sql`SELECT t.id AS transfer, t.status, h.id AS hold FROM (
        SELECT id, status, amount, from_wallet_id FROM transfers WHERE type = 'cross_border' AND status IN ('pending', 'processing')
      ) t FULL JOIN (
        SELECT h.id, h.amount, d.id AS payer FROM holds h JOIN ledger_accounts d ON d.key = h.debit
        JOIN ledger_accounts c ON c.key = h.credit WHERE h.state = 'open' AND c.purpose = 'fx'
      ) h ON h.id = t.id AND h.amount = t.amount AND h.payer = t.from_wallet_id
      WHERE t.id IS NULL OR h.id IS NULL LIMIT 10`
  },
  {
    promise: "a settlement and its transfer say the same",
    query: sql`SELECT t.id AS transfer, t.status, s.state FROM (SELECT * FROM transfers WHERE type = 'cross_border') t
      FULL JOIN settlements s ON s.transfer_id = t.id
      WHERE NOT coalesce(t.tenant_id = s.tenant_id AND t.status = CASE
          WHEN s.state IN ('submitting', 'submitted', 'unknown', 'unresolved') THEN 'processing' ELSE s.state END,
        s.transfer_id IS NULL AND t.status = 'failed') LIMIT 10`
  },
  {
    promise: "a settlement stands at the version that its fence counts",
    query: sql`SELECT s.transfer_id, s.version, f.count AS fence FROM settlements s
      LEFT JOIN tallies f ON f.log = 1 AND f.scope = s.transfer_id AND f.subject = ${version}
      WHERE s.version <> coalesce(f.count, 0) LIMIT 10`
  },
  {
    promise: "a completed cross_border transfer has its movements, and one that did not complete moved nothing",
    query: sql`SELECT t.id, t.status, m.legs FROM (SELECT * FROM transfers WHERE type = 'cross_border') t
      LEFT JOIN (
        SELECT m.command_id, array_agg(
            format('%s %s %s>%s %s %s', m.kind, m.code, d.purpose, c.purpose, c.currency, m.amount) ORDER BY m.step
          ) AS legs, min(d.id::text) FILTER (WHERE m.kind = 'capture') AS payer,
          min(c.id::text) FILTER (WHERE c.purpose = 'wallet') AS payee
        FROM movements m JOIN ledger_accounts d ON d.key = m.debit JOIN ledger_accounts c ON c.key = m.credit
        WHERE m.code IN ('cross_border', 'fee') GROUP BY m.command_id
      ) m ON m.command_id = t.id
      WHERE CASE WHEN t.status <> 'completed' THEN m.legs IS NOT NULL ELSE m.legs IS DISTINCT FROM array_remove(ARRAY[
        format('capture cross_border wallet>fx %s %s', t.currency, t.amount),
        CASE WHEN t.fee > 0 THEN format('transfer fee fx>fees %s %s', t.currency, t.fee) END,
        format('transfer cross_border fx>issuance %s %s', t.currency, t.amount - t.fee),
        format('transfer cross_border issuance>fx %s %s', t.destination_currency, t.destination_amount),
        format('transfer cross_border fx>wallet %s %s', t.destination_currency, t.destination_amount)
      ], NULL) OR (m.payer, m.payee) IS DISTINCT FROM (t.from_wallet_id::text, t.to_wallet_id::text) END LIMIT 10`
  },
  {
    promise: "the books of foreign exchange are empty",
    query: sql`SELECT id, currency, posted, held FROM ledger_accounts WHERE purpose = 'fx' AND (posted <> 0 OR held <> 0)
      LIMIT 10`
  }
]
