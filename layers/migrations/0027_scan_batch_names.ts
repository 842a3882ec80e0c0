import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What whoever ordered a batch of scans calls it. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE scan_batches ADD COLUMN name text, ADD COLUMN description text`
})
