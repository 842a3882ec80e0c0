import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What is to settle outside of the ledger. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SELECT 1`
})
