import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Refunds and disputes. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SELECT 1`
})
