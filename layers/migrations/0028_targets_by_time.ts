import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Which target of a batch is due first is asked for often, and of hundreds of thousands that wait it is told at once. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX scan_batch_targets_due ON scan_batch_targets (due_at) WHERE status IN ('pending', 'scanning')`
})
