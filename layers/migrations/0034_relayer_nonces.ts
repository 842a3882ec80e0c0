import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Whatever waits looks for what stands before it by its nonce, and each look would read all transactions that were ever signed. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX chain_transactions_nonce ON chain_transactions (chain_id, relayer, nonce)`
})
