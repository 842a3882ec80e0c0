import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Which transfer of a transaction a settlement ended with; those that were left to the operator are found, and none is asked about for
 * longer than a week, however long its payer said that it is valid.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`ALTER TABLE chain_settlements ADD COLUMN transfer_log integer`
  yield* sql`CREATE INDEX chain_settlements_unresolved ON chain_settlements (created_at, id) WHERE state = 'unresolved'`
  yield* sql`UPDATE chain_settlements SET give_up_at = created_at + interval '7 days'
    WHERE state IN ('prepared', 'submitting', 'pending', 'unknown') AND give_up_at > created_at + interval '7 days'`
})
