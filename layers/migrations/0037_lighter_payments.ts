import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What a payment's row costs to write. Its endpoint's row, which nobody ever deletes, was looked up and locked for each payment: a
 * third of the statement's time, and a place where all who sell through one endpoint met. No column changes its type: processes of
 * the version before would answer the paid calls of a moment with 500, because what they have prepared returns another one.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Waits until no group is in the middle of these tables, and lets none begin.
  yield* sql`SELECT 1 FROM ledger_head WHERE log = 1 FOR UPDATE`
  yield* sql`ALTER TABLE payments DROP CONSTRAINT payments_endpoint_id_fkey`
})
