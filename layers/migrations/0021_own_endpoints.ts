import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What this server sells by the call itself: such an endpoint is called at a path of ours, and nothing is forwarded to an origin. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE endpoints ADD COLUMN own_path text UNIQUE CHECK (own_path LIKE '/%')`
})
