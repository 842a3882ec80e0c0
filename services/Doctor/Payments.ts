import type { SqlClient } from "effect/sql"
import { everyone, version } from "#domain/LedgerAccount.ts"
import type { Assurance } from "./Assurance.ts"

/** What holds of calls that were paid for. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => [
  {
    promise: "a captured payment took exactly what its hold gave, from its payer to its payee",
    query: sql`SELECT p.id, p.state, p.charged, h.state AS hold, h.captured, d.id AS debit, c.id AS credit FROM payments p
      LEFT JOIN holds h ON h.id = p.hold_id
      LEFT JOIN ledger_accounts d ON d.key = h.debit LEFT JOIN ledger_accounts c ON c.key = h.credit
      WHERE (p.state = 'captured' AND p.rail = 'ledger' AND p.charged IS DISTINCT FROM coalesce(h.captured, 0))
        OR (p.state <> 'captured' AND h.state = 'captured')
        OR (p.hold_id IS NOT NULL AND (d.id, c.id, d.currency) IS DISTINCT FROM (p.payer_id, p.payee_wallet_id, p.currency))
      LIMIT 10`
  },
  {
    promise: "a payment belongs to the tenant of its endpoint",
    query: sql`SELECT p.id, p.endpoint_id, p.tenant_id, e.tenant_id AS tenant_of_endpoint FROM payments p
      LEFT JOIN endpoints e ON e.id = p.endpoint_id WHERE e.tenant_id IS DISTINCT FROM p.tenant_id LIMIT 10`
  },
  {
    promise: "the totals of an endpoint are the sum of its captured payments",
    query: sql`SELECT coalesce(t.scope, p.endpoint_id) AS endpoint, t.count, t.amount, p.count AS payments, p.amount AS charged
      FROM (
        SELECT t.* FROM tallies t JOIN endpoints e ON e.id = t.scope WHERE t.subject = ${everyone}
      ) t FULL JOIN (
        SELECT endpoint_id, count(*) AS count, sum(charged) AS amount FROM payments WHERE state = 'captured' GROUP BY endpoint_id
      ) p ON p.endpoint_id = t.scope
      WHERE t.count IS DISTINCT FROM p.count OR t.amount IS DISTINCT FROM p.amount LIMIT 10`
  },
  {
    promise: "the totals of a payer are the sum of the payer's captured payments",
    query: sql`SELECT coalesce(t.scope, p.endpoint_id) AS endpoint, coalesce(t.subject, p.payer_id) AS payer,
        t.count, t.amount, p.count AS payments, p.amount AS charged
      FROM (
        SELECT t.* FROM tallies t JOIN endpoints e ON e.id = t.scope WHERE t.subject NOT IN (${everyone}, ${version})
      ) t FULL JOIN (
        SELECT endpoint_id, payer_id, count(*) AS count, sum(charged) AS amount FROM payments
        WHERE state = 'captured' GROUP BY endpoint_id, payer_id
      ) p ON p.endpoint_id = t.scope AND p.payer_id = t.subject
      WHERE t.count IS DISTINCT FROM p.count OR t.amount IS DISTINCT FROM p.amount LIMIT 10`
  },
  {
    promise: "every captured payment has its event, once, and the events say what was charged",
    query: sql`SELECT p.tenant_id, p.endpoint_id, p.payments, p.charged, e.events, e.different, e.told FROM (
        SELECT tenant_id, endpoint_id::text, count(*) AS payments, sum(charged) AS charged FROM payments
        WHERE state = 'captured' GROUP BY 1, 2
      ) p FULL JOIN (
        SELECT tenant_id, said.endpoint_id, count(*) AS events, count(DISTINCT said.id) AS different,
          sum(CASE WHEN said.charged ~ '^[0-9]+[.][0-9]+$' THEN said.charged::numeric * 1000000 END) AS told
        FROM events CROSS JOIN json_to_record(data -> 'payment') AS said (id text, endpoint_id text, charged text)
        WHERE type = 'x402.payment.completed' GROUP BY 1, 2
      ) e USING (tenant_id, endpoint_id)
      WHERE (p.payments, p.payments, p.charged) IS DISTINCT FROM (e.events, e.different, e.told) LIMIT 10`
  },
  {
    promise: "what was charged on a chain is what was settled there, once",
    query: sql`SELECT p.id AS payment, p.charged, p.transaction, c.id AS settlement, c.amount, c.state FROM (
        SELECT id, charged, transaction FROM payments WHERE rail = 'chain' AND state = 'captured' AND charged > 0
      ) p FULL JOIN (
        SELECT id, payment_id, amount, transaction, state FROM chain_settlements
        WHERE payment_id IS NOT NULL AND state = 'confirmed' AND booked_at IS NOT NULL
      ) c ON c.payment_id = p.id AND c.amount = p.charged AND c.transaction = p.transaction
      WHERE p.id IS NULL OR c.id IS NULL LIMIT 10`
  },
  {
    promise: "one transfer on a chain is the end of one settlement",
    query: sql`SELECT network, transaction, transfer_log, array_agg(id) AS settlements FROM chain_settlements
      WHERE state = 'confirmed' AND transfer_log IS NOT NULL
      GROUP BY network, transaction, transfer_log HAVING count(*) > 1 LIMIT 10`
  },
  {
    promise: "money that is held for a call belongs to a payment that may still be used",
    query: sql`SELECT h.id AS hold, p.id AS payment, p.state FROM holds h
      JOIN movements m ON m.hold_id = h.id AND m.kind = 'hold' AND m.code = 'payment'
      LEFT JOIN payments p ON p.hold_id = h.id
      WHERE h.state = 'open' AND (p.id IS NULL OR p.state IN ('captured', 'released')) LIMIT 10`
  }
]
