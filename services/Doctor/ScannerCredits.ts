import type { SqlClient } from "effect/sql"
import { everyone } from "#domain/LedgerAccount.ts"
import { unit } from "#domain/Money.ts"
import { returnCode } from "../ScannerCredits/Charges.ts"
import type { Assurance } from "./Assurance.ts"

/** What holds of the credits that pay for the scanner, and of batches of scans. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => {
  // What moved out of and into purses. A return's command is its charge's, but for the version digit.
  const taken = sql`(
    SELECT m.command_id AS charge_id, p.id AS tenant_id, m.code, m.amount
    FROM movements m JOIN ledger_accounts p ON p.key = m.debit AND p.purpose = 'scanner_credits' WHERE m.kind = 'transfer'
  )`
  const given = sql`(
    SELECT overlay(m.command_id::text placing '7' from 15 for 1)::uuid AS charge_id, p.id AS tenant_id, m.code, m.amount
    FROM movements m JOIN ledger_accounts p ON p.key = m.credit AND p.purpose = 'scanner_credits' WHERE m.kind = 'transfer'
  )`
  // The scopes are services/ScannerCredits/Charges.ts chargedTally and returnedTally: a uuid of a hash.
  const scopeOf = (prefix: string) =>
    sql`(SELECT (substr(x, 1, 12) || '8' || substr(x, 14, 3) || to_hex((('x' || substr(x, 17, 1))::bit(4)::int & 3) | 8)
      || substr(x, 18, 15))::uuid FROM (SELECT encode(sha256(convert_to(${prefix} || c.tenant_id::text, 'UTF8')), 'hex') AS x) h)`
  return [
    {
      promise:
        "a tenant has the credits it was granted, less what was charged, plus what was returned, and never less than none",
      query: sql`SELECT p.id AS tenant, p.posted, p.held, g.granted, d.adjusted, c.charged, c.returned FROM ledger_accounts p
        LEFT JOIN (
          SELECT tenant_id, sum(amount) AS granted FROM ${given} g WHERE code <> ${returnCode} GROUP BY tenant_id
        ) g ON g.tenant_id = p.id
        LEFT JOIN (
          SELECT t.tenant_id, sum(amount) AS adjusted FROM ${taken} t
          LEFT JOIN credit_charges c ON c.id = t.charge_id WHERE c.id IS NULL GROUP BY t.tenant_id
        ) d ON d.tenant_id = p.id
        LEFT JOIN (
          SELECT c.tenant_id, sum(c.credits) * ${unit}::bigint AS charged,
            -- What is being given back is so as soon as the ledger says it.
            sum(CASE WHEN c.state = 'returned' OR r.charge_id IS NOT NULL THEN c.returned ELSE 0 END) * ${unit}::bigint AS returned
          FROM credit_charges c LEFT JOIN ${given} r ON r.charge_id = c.id AND r.code = ${returnCode} GROUP BY c.tenant_id
        ) c ON c.tenant_id = p.id
        WHERE p.purpose = 'scanner_credits' AND (p.posted < 0 OR p.held <> 0 OR p.currency <> 'CREDIT' OR p.posted
          <> coalesce(g.granted, 0) - coalesce(d.adjusted, 0) - coalesce(c.charged, 0) + coalesce(c.returned, 0)) LIMIT 10`
    },
    {
      promise: "a charge took its credits from its tenant, once, and nothing is taken for the scanner without a charge",
      query: sql`SELECT c.id AS charge, c.credits, t.charge_id AS command, t.amount FROM credit_charges c
        FULL JOIN (SELECT * FROM ${taken} t WHERE code IN ('scan', 'batch', 'test')) t ON t.charge_id = c.id
          AND t.tenant_id = c.tenant_id AND t.code = c.operation AND t.amount = c.credits * ${unit}::bigint
        WHERE c.id IS NULL OR t.charge_id IS NULL LIMIT 10`
    },
    {
      promise: "of a charge came back what its state says, once, and nothing comes back without a charge",
      query: sql`SELECT c.id AS charge, c.state, c.returned, r.charge_id AS command, r.amount
        FROM (SELECT * FROM credit_charges WHERE state IN ('returning', 'returned')) c
        FULL JOIN (SELECT * FROM ${given} r WHERE code = ${returnCode}) r ON r.charge_id = c.id
          AND r.tenant_id = c.tenant_id AND r.amount = c.returned * ${unit}::bigint
        WHERE c.id IS NULL OR (c.state = 'returned' AND r.charge_id IS NULL) LIMIT 10`
    },
    {
      promise: "what the ledger counts as charged and returned of a tenant is the sum of its charges",
      query: sql`SELECT c.tenant_id AS tenant, c.charged, x.amount AS counted, c.returned, y.amount AS counted_returned FROM (
          SELECT c.tenant_id, sum(c.credits) * ${unit}::bigint AS charged, coalesce(sum(r.amount), 0) AS returned
          FROM credit_charges c LEFT JOIN ${given} r ON r.charge_id = c.id AND r.code = ${returnCode} GROUP BY c.tenant_id
        ) c
        LEFT JOIN tallies x ON x.log = 1 AND x.subject = ${everyone} AND x.scope = ${scopeOf("credits charged ")}
        LEFT JOIN tallies y ON y.log = 1 AND y.subject = ${everyone} AND y.scope = ${scopeOf("credits returned ")}
        WHERE c.charged <> coalesce(x.amount, 0) OR c.returned <> coalesce(y.amount, 0) LIMIT 10`
    },
    {
      promise: "a batch counts its targets as they are, and each has its own place and domain",
      query: sql`SELECT coalesce(b.id, t.batch_id) AS batch, b.status, b.total, b.completed, b.failed, b.cancelled, t.targets
        FROM scan_batches b FULL JOIN (
          SELECT batch_id, tenant_id, count(*) AS targets, count(DISTINCT domain) AS domains, max(position) AS last,
            count(*) FILTER (WHERE status = 'completed') AS completed, count(*) FILTER (WHERE status = 'failed') AS failed,
            count(*) FILTER (WHERE status = 'cancelled') AS cancelled
          FROM scan_batch_targets GROUP BY batch_id, tenant_id
        ) t ON t.batch_id = b.id AND t.tenant_id = b.tenant_id
        WHERE (b.total, b.total, b.total - 1, b.completed, b.failed, b.cancelled)
          IS DISTINCT FROM (t.targets, t.domains, t.last, t.completed, t.failed, t.cancelled) LIMIT 10`
    },
    {
      promise:
        "a batch was paid for by its own charge, which ends with it and keeps half a credit for each scan that was billed",
      query: sql`SELECT coalesce(b.id, c.id) AS batch, b.status, b.billed, b.credits_returned, c.state, c.credits, c.returned
        FROM scan_batches b FULL JOIN (SELECT * FROM credit_charges WHERE operation = 'batch') c ON c.id = b.id
        WHERE b.tenant_id IS DISTINCT FROM c.tenant_id OR b.credits_charged <> c.credits OR b.credits_returned <> c.returned
          OR (b.completed_at IS NULL) <> (c.state = 'open')
          OR (b.completed_at IS NOT NULL AND c.credits - c.returned <> (b.billed + 1) / 2) LIMIT 10`
    }
  ]
}
