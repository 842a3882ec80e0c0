import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Which agent a quote was promised to; null of those promised to the tenant itself. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE quotes ADD COLUMN agent_id uuid`
})
