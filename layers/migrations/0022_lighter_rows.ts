import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const oneOf = (...words: ReadonlyArray<string>) => ({
  base: "text",
  rule: `VALUE IN (${words.map((word) => `'${word}'`).join(", ")})`
})

/** The rules of single columns of busy tables: the type says them. */
const domains = {
  account_purpose: oneOf("wallet", "issuance", "fees", "fx", "scanner_credits", "stream"),
  movement_kind: oneOf("transfer", "hold", "capture", "release", "count", "refuse"),
  hold_state: oneOf("open", "captured", "released", "expired"),
  payment_protocol: oneOf("native", "x402v2", "x402v1", "mpp"),
  payment_rail: oneOf("ledger", "chain"),
  payment_state: oneOf("authorized", "in_flight", "settling", "captured", "released", "expired"),
  transfer_status: oneOf("pending", "processing", "completed", "failed", "cancelled"),
  micros: { base: "bigint", rule: "VALUE >= 0" },
  positive_micros: { base: "bigint", rule: "VALUE > 0" }
}

const columns = [
  ["ledger_accounts", "purpose", "account_purpose", "ledger_accounts_purpose"],
  ["ledger_accounts", "held", "micros", "held_is_not_negative"],
  ["movements", "kind", "movement_kind", "movements_kind"],
  ["holds", "state", "hold_state", "holds_state_check"],
  ["holds", "amount", "positive_micros", "holds_amount_check"],
  ["payments", "protocol", "payment_protocol", "payments_protocol_check"],
  ["payments", "rail", "payment_rail", "payments_rail_check"],
  ["payments", "state", "payment_state", "payments_state_check"],
  ["payments", "amount", "micros", "payments_amount_check"],
  ["transfers", "status", "transfer_status", "transfers_status_check"],
  ["transfers", "amount", "micros", "transfers_amount_check"]
] as const

/** What is written as it came and read as it is, as a whole or by few who look into it. */
const documents = [
  ["events", "data"],
  ["webhook_deliveries", "event_data"],
  ["idempotency_keys", "result"],
  ["payments", "price"],
  ["payment_answers", "headers"]
] as const

/**
 * What a row costs to write. A statement reads every CHECK of its table from its text before the first row, the more so the more words
 * it lists: an eighth of what the ledger's session did for one transfer. A domain is read once by a session. `jsonb` takes a document
 * apart and sorts it, which was a sixth of that session's work under load; `json` looks whether it is one and keeps the text.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Waits until no group is in the middle of these tables, and lets none begin.
  yield* sql`SELECT 1 FROM ledger_head WHERE log = 1 FOR UPDATE`
  // Without its constraint a domain is the type that the columns have already: they are read for the constraint, and not written anew.
  for (const [name, { base }] of Object.entries(domains)) yield* sql`CREATE DOMAIN ${sql(name)} AS ${sql.literal(base)}`
  for (const [table, column, domain, constraint] of columns) {
    yield* sql`ALTER TABLE ${sql(table)} DROP CONSTRAINT ${sql(constraint)},
      ALTER COLUMN ${sql(column)} TYPE ${sql(domain)}`
  }
  for (const [name, { rule }] of Object.entries(domains)) {
    yield* sql`ALTER DOMAIN ${sql(name)} ADD CHECK (${sql.literal(rule)})`
  }
  yield* sql`ALTER TABLE movements DROP CONSTRAINT movements_amount,
    ADD CONSTRAINT movements_amount CHECK (amount > 0 OR (amount = 0 AND (kind = 'count' OR kind = 'refuse')))`
  for (const [table, column] of documents) {
    yield* sql`ALTER TABLE ${sql(table)} ALTER COLUMN ${sql(column)} TYPE json`
  }
})
