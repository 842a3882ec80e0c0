import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Which keys and tokens without an end were revoked long ago is found by the time, to be forgotten. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX credentials_revoked ON credentials (revoked_at)
    WHERE expires_at IS NULL AND revoked_at IS NOT NULL`
})
