import type { SqlClient } from "effect/sql"
import { version } from "#domain/LedgerAccount.ts"
import type { Assurance } from "./Assurance.ts"

/** What holds of refunds and disputes. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => [
  {
    promise:
      "what was refunded of a transfer is the sum of its refunds, and with what is promised never more than the transfer",
    query: sql`SELECT t.id, t.amount, t.refunded_amount, r.completed, r.pending FROM transfers t
      LEFT JOIN (
        SELECT transfer_id, coalesce(sum(amount) FILTER (WHERE status = 'completed'), 0) AS completed,
          coalesce(sum(amount) FILTER (WHERE status = 'pending'), 0) AS pending
        FROM refunds GROUP BY transfer_id
      ) r ON r.transfer_id = t.id
      WHERE t.refunded_amount <> coalesce(r.completed, 0) OR t.refunded_amount + coalesce(r.pending, 0) > t.amount
      LIMIT 10`
  },
  {
    promise: "a completed refund brought its payer exactly its amount, and nothing comes back without a refund",
    query: sql`SELECT r.id AS refund, r.amount, m.command_id, m.sum FROM (
        SELECT r.id, r.amount, r.refund_transfer_id, t.from_wallet_id FROM refunds r JOIN transfers t ON t.id = r.transfer_id
        WHERE r.status = 'completed'
      ) r FULL JOIN (
        SELECT m.command_id, a.id AS account, sum(m.amount) AS sum
        FROM movements m JOIN ledger_accounts a ON a.key = m.credit
        WHERE m.code = 'refund' AND a.purpose = 'wallet' GROUP BY m.command_id, a.id
      ) m ON m.command_id = r.refund_transfer_id AND m.account = r.from_wallet_id AND m.sum = r.amount
      WHERE r.id IS NULL OR m.command_id IS NULL LIMIT 10`
  },
  {
    promise: "a dispute that ended with a refund has it, and no other dispute has one",
    query: sql`SELECT d.id AS dispute, r.id AS refund FROM (
        SELECT id, transfer_id, refund_id FROM disputes
        WHERE refund_id IS NOT NULL OR resolution IN ('full_refund', 'partial_refund')
      ) d FULL JOIN (SELECT id, transfer_id, dispute_id FROM refunds WHERE dispute_id IS NOT NULL) r
        ON r.id = d.refund_id AND r.dispute_id = d.id AND r.transfer_id = d.transfer_id
      WHERE d.id IS NULL OR r.id IS NULL LIMIT 10`
  },
  {
    promise: "a dispute brings back no more than it is about",
    query: sql`SELECT d.id AS dispute, d.amount_disputed, r.amount FROM disputes d JOIN refunds r ON r.id = d.refund_id
      WHERE r.amount > d.amount_disputed LIMIT 10`
  },
  {
    promise:
      "a refund, and a dispute, is about a transfer of its tenant, in its currency, between its payer and its payee",
    query: sql`SELECT r.kind, r.id, t.id AS transfer, r.amount, t.amount AS of FROM (
        SELECT 'refund' AS kind, id, tenant_id, transfer_id, currency, payer_account_id AS payer,
          receiver_account_id AS payee, amount FROM refunds
        UNION ALL
        SELECT 'dispute', id, tenant_id, transfer_id, currency, filer_account_id, respondent_account_id, amount_disputed FROM disputes
      ) r LEFT JOIN transfers t ON t.id = r.transfer_id
      WHERE (r.tenant_id, r.currency, r.payer, r.payee)
        IS DISTINCT FROM (t.tenant_id, t.currency, t.from_account_id, t.to_account_id) OR r.amount > t.amount LIMIT 10`
  },
  {
    promise: "refunds and disputes have as many events as they had changes, told to their tenant",
    query: sql`SELECT * FROM (
        SELECT tenant_id, count(*) AS refunds, count(*) FILTER (WHERE status = 'completed') AS completed,
          count(*) FILTER (WHERE status = 'failed') AS failed FROM refunds GROUP BY tenant_id
      ) r FULL JOIN (
        SELECT tenant_id, count(*) AS disputes, count(*) FILTER (WHERE status = 'resolved') AS ended,
          sum(version) AS changes FROM disputes GROUP BY tenant_id
      ) d USING (tenant_id) FULL JOIN (
        SELECT tenant_id, count(*) FILTER (WHERE type = 'refund.created') AS refund_created,
          count(*) FILTER (WHERE type = 'refund.completed') AS refund_completed,
          count(*) FILTER (WHERE type = 'transfer.refunded') AS transfer_refunded,
          count(*) FILTER (WHERE type = 'refund.failed') AS refund_failed,
          count(DISTINCT data #>> '{refund,id}') FILTER (WHERE type LIKE 'refund.%') AS told_refunds,
          count(*) FILTER (WHERE type = 'dispute.opened') AS opened,
          count(*) FILTER (WHERE type = 'dispute.resolved') AS resolved,
          count(*) FILTER (WHERE type IN ('dispute.updated', 'dispute.resolved')) AS changed,
          count(DISTINCT data #>> '{dispute,id}') FILTER (WHERE type LIKE 'dispute.%') AS told_disputes
        FROM events WHERE type LIKE 'refund.%' OR type LIKE 'dispute.%' OR type = 'transfer.refunded' GROUP BY tenant_id
      ) e USING (tenant_id)
      WHERE e.tenant_id IS NULL
        OR (coalesce(refunds, 0), coalesce(completed, 0), coalesce(completed, 0), coalesce(failed, 0), coalesce(refunds, 0))
          <> (refund_created, refund_completed, transfer_refunded, refund_failed, told_refunds)
        OR (coalesce(disputes, 0), coalesce(ended, 0), coalesce(changes, 0), coalesce(disputes, 0))
          <> (opened, resolved, changed, told_disputes) LIMIT 10`
  },
  {
    promise: "a dispute, and the refunds of a transfer, stand at the versions that their fences count",
    query: sql`SELECT s.id, s.version, f.count AS fence FROM (
        SELECT id, version, id AS scope FROM disputes
        UNION ALL
        -- The scope is src/domain/Refund.ts refundsScope: a uuid of a hash.
        SELECT id, refunds_version, (substr(x, 1, 12) || '8' || substr(x, 14, 3)
          || to_hex((('x' || substr(x, 17, 1))::bit(4)::int & 3) | 8) || substr(x, 18, 15))::uuid
        FROM (
          SELECT id, refunds_version, encode(sha256(convert_to('refunds ' || id::text, 'UTF8')), 'hex') AS x
          FROM transfers LEFT JOIN (SELECT DISTINCT transfer_id FROM refunds) r ON r.transfer_id = id
          WHERE refunds_version > 0 OR r.transfer_id IS NOT NULL
        ) hashed
      ) s LEFT JOIN tallies f ON f.log = 1 AND f.scope = s.scope AND f.subject = ${version}
      WHERE s.version <> coalesce(f.count, 0) LIMIT 10`
  }
]
