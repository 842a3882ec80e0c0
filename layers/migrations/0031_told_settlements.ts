import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Of which settlements a server was told long ago is found by the time, to be forgotten. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX facilitated_told ON facilitated (told_at)`
})
