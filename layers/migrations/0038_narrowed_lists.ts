import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What lists are narrowed by. A page of a million wallets and their number are read from the index alone, whatever is asked for: what
 * is rare was looked for through every row and its ledger account, for seconds. And a customer's portal tokens are found by the account.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX wallets_listed ON wallets (tenant_id, id) INCLUDE (owner_type, owner_id, currency, network, frozen_at)`
  yield* sql`CREATE INDEX credentials_account ON credentials (account_id, id) WHERE account_id IS NOT NULL`
  // Last, because all who read wallets wait from here on.
  yield* sql`DROP INDEX wallets_tenant`
})
