import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** In one transaction, whose own failures no caller can act on. */
export const inTransaction =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.catchTag(sql.withTransaction(effect), "SqlError", Effect.die)
