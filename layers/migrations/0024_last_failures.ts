import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** When the last attempt of a subscription's streak failed: time in which nothing was tried is no failing. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE webhooks ADD COLUMN failed_at timestamptz`
})
