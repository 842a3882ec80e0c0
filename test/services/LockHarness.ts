import { Deferred, Effect, Fiber, Latch } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { CurrentTransformer, type Transformer } from "effect/sql/Statement"

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

/** Begins the work, does something else when the work is about to make the first statement with this text, and lets it go on. */
export const interrupted = Effect.fnUntraced(function* <A, E, R, B, F, S>(
  work: Effect.Effect<A, E, R>,
  text: string,
  meanwhile: Effect.Effect<B, F, S>
) {
  const there = yield* Deferred.make<void>()
  const goOn = yield* Deferred.make<void>()
  const stopping: Transformer = (statement) =>
    statement.compile()[0].includes(text)
      ? Effect.as(Effect.andThen(Deferred.succeed(there, undefined), Deferred.await(goOn)), statement)
      : Effect.succeed(statement)
  const working = yield* Effect.forkChild(Effect.provideService(work, CurrentTransformer, stopping))
  // What never makes that statement is through, and has failed the test.
  yield* Effect.raceFirst(
    Deferred.await(there),
    Effect.andThen(Fiber.join(working), Effect.die(`Nothing reads ${text}`))
  )
  yield* meanwhile
  yield* Deferred.succeed(goOn, undefined)
  return yield* Fiber.join(working)
})

/** Asks the ledger for something, does something else while that waits for the head of the log, and lets it go on. */
export const whileHeadIsHeld = Effect.fnUntraced(function* <A, E, R, B, E2, R2>(
  work: Effect.Effect<A, E, R>,
  meanwhile: Effect.Effect<B, E2, R2>
) {
  const sql = yield* SqlClient.SqlClient
  const head = sql`SELECT 1 FROM ledger_head WHERE log = 1 FOR UPDATE`
  const { made, seen } = yield* beside(head, work, (doing) =>
    // What never waits is through, and has failed the test.
    Effect.andThen(
      Effect.raceFirst(awaited, Effect.andThen(Fiber.join(doing), Effect.die("Nothing waits for the ledger"))),
      meanwhile
    )
  )
  return { made, seen }
})
