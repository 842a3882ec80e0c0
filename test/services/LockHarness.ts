import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Until somebody waits for what the transaction that this runs in holds. The locks say so each time; `pg_stat_activity` would show
 * what there was at the first look, without connections opened since.
 */
export const awaited = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.repeat(
    sql`SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)) LIMIT 1`,
    {
      until: (waiting) => waiting.length > 0
    }
  )
)
