import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Who copies the event log to the outside, how far it is copied, and into which of the streams that had its name. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE relays (
    name text PRIMARY KEY,
    seq bigint NOT NULL,
    stream text,
    holder uuid,
    held_until timestamptz,
    CHECK ((holder IS NULL) = (held_until IS NULL))
  ) WITH (fillfactor = 10)`
})
