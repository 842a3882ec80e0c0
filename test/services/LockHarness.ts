import { Effect, Fiber, Latch } from "effect"
import { SqlClient, type Statement } from "effect/sql"

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

/** Begins something while a transaction of somebody else has what a query locks, which does the rest beside it. */
const beside = Effect.fnUntraced(function* <A, E, R, B, E2, R2>(
  query: Statement.Statement<object>,
  use: Effect.Effect<A, E, R>,
  rest: (doing: Fiber.Fiber<A, E>) => Effect.Effect<B, E2, R2>
) {
  const sql = yield* SqlClient.SqlClient
  const locked = Latch.makeUnsafe()
  const doing = yield* Effect.forkChild(Effect.andThen(locked.await, use))
  const seen = yield* sql.withTransaction(
    query.pipe(Effect.andThen(locked.open), Effect.andThen(Effect.suspend(() => rest(doing))))
  )
  return { seen, made: yield* Fiber.join(doing) }
})

/** What comes of it while somebody else has these rows in hand; it fails if it waits for them. */
export const whileOthersHave = <A, E, R>(query: Statement.Statement<object>, use: Effect.Effect<A, E, R>) =>
  Effect.map(beside(query, use, Fiber.join), ({ made }) => made)

/** Whether it waits for what somebody else has done and not committed yet, and what comes of it then. */
export const behind = <A, E, R>(query: Statement.Statement<object>, use: Effect.Effect<A, E, R>) =>
  Effect.map(
    beside(query, use, (doing) => Effect.raceFirst(Effect.as(awaited, true), Effect.as(Fiber.await(doing), false))),
    ({ made, seen: waited }) => ({ waited, made })
  )
