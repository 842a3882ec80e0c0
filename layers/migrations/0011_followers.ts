import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Who follows the event log, and how far. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // The lock of its row makes a follower one, whatever the number of processes.
  yield* sql`CREATE TABLE followers (
    name text PRIMARY KEY,
    seq bigint NOT NULL
  ) WITH (fillfactor = 10)`
})
