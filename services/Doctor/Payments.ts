import type { SqlClient } from "effect/sql"
import { everyone, version } from "#domain/LedgerAccount.ts"
import type { Assurance } from "./Assurance.ts"

/** What holds of calls that were paid for. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => [
  {
    promise: "a captured payment took exactly what its hold gave",
    query: sql`SELECT p.id, p.state, p.charged, h.state AS hold, h.captured FROM payments p JOIN holds h ON h.id = p.hold_id
      WHERE (p.state = 'captured' AND p.charged <> h.captured)
        OR (p.state <> 'captured' AND h.state = 'captured') LIMIT 10`
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
    promise: "every captured payment has its event, once",
    query: sql`SELECT p.endpoint_id, p.payments, e.events, e.different FROM (
        SELECT endpoint_id::text, count(*) AS payments FROM payments WHERE state = 'captured' GROUP BY endpoint_id
      ) p FULL JOIN (
        SELECT data #>> '{payment,endpoint_id}' AS endpoint_id, count(*) AS events,
          count(DISTINCT data #>> '{payment,id}') AS different
        FROM events WHERE type = 'x402.payment.completed' GROUP BY 1
      ) e USING (endpoint_id)
      WHERE p.payments IS DISTINCT FROM e.events OR p.payments IS DISTINCT FROM e.different LIMIT 10`
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
      JOIN payments p ON p.hold_id = h.id
      WHERE h.state = 'open' AND p.state IN ('captured', 'released') LIMIT 10`
  }
]
