import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Closed words of busy tables: the type says them. */
const words = {
  account_purpose: ["wallet", "issuance", "fees", "fx", "scanner_credits", "stream"],
  movement_kind: ["transfer", "hold", "capture", "release", "count", "refuse"],
  hold_state: ["open", "captured", "released", "expired"],
  payment_protocol: ["native", "x402v2", "x402v1", "mpp"],
  payment_rail: ["ledger", "chain"],
  payment_state: ["authorized", "in_flight", "settling", "captured", "released", "expired"],
  transfer_status: ["pending", "processing", "completed", "failed", "cancelled"]
}

const columns = [
  ["ledger_accounts", "purpose", "account_purpose", "ledger_accounts_purpose"],
  ["movements", "kind", "movement_kind", "movements_kind"],
  ["holds", "state", "hold_state", "holds_state_check"],
  ["payments", "protocol", "payment_protocol", "payments_protocol_check"],
  ["payments", "rail", "payment_rail", "payments_rail_check"],
  ["payments", "state", "payment_state", "payments_state_check"],
  ["transfers", "status", "transfer_status", "transfers_status_check"]
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
  // Without its constraint a domain is the text that the columns have already: they are read for the constraint, and not written anew.
  for (const name of Object.keys(words)) yield* sql`CREATE DOMAIN ${sql(name)} AS text`
  for (const [table, column, domain, constraint] of columns) {
    yield* sql`ALTER TABLE ${sql(table)} DROP CONSTRAINT ${sql(constraint)},
      ALTER COLUMN ${sql(column)} TYPE ${sql(domain)}`
  }
  for (const [name, allowed] of Object.entries(words)) {
    const list = sql.literal(allowed.map((word) => `'${word}'`).join(", "))
    yield* sql`ALTER DOMAIN ${sql(name)} ADD CHECK (VALUE IN (${list}))`
  }
  yield* sql`ALTER TABLE movements DROP CONSTRAINT movements_amount,
    ADD CONSTRAINT movements_amount CHECK (amount > 0 OR (amount = 0 AND (kind = 'count' OR kind = 'refuse')))`
  for (const [table, column] of documents) {
    yield* sql`ALTER TABLE ${sql(table)} ALTER COLUMN ${sql(column)} TYPE json`
  }
})
