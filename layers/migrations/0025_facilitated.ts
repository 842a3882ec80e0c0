import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Payments of which a server was told that our facilitator settled them: it is told once. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE facilitated (
    id uuid PRIMARY KEY,
    told_at timestamptz NOT NULL
  )`
})
