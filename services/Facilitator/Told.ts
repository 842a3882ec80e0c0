import { DateTime, Duration, Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

/** For how long after a settlement somebody can be the first to be told of it. Servers ask within minutes. */
const fresh = Duration.days(30)
/** What is kept on top of that: the clocks of two processes are not one. */
const margin = Duration.days(1)

/**
 * Whether this is the first time that somebody is told of a settlement. A server that got the same payment ten times at once asks ten
 * times, and serves as often as it is told that it was paid. A settlement that began long ago was told, if anybody asked: so what
 * was told need not be kept for ever, however long the payment is valid.
 */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const insert = SqlSchema.findOneOption({
    Request: Schema.Struct({ id: Schema.String, at: Schema.Date }),
    Result: Schema.Struct({ id: Schema.String }),
    execute: ({ at, id }) =>
      sql`INSERT INTO facilitated (id, told_at) VALUES (${id}, ${at}) ON CONFLICT DO NOTHING RETURNING id`
  })
  const isOld = (since: Date, now: DateTime.Utc) => since < DateTime.toDate(DateTime.subtractDuration(now, fresh))
  const isFirst = Effect.fnUntraced(function* (id: string, since: Date) {
    const now = yield* DateTime.now
    if (isOld(since, now)) return false
    return Option.isSome(yield* insert({ id, at: DateTime.toDate(now) }))
  }, Effect.orDie)

  const find = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: Schema.Struct({ id: Schema.String }),
    execute: (id) => sql`SELECT id FROM facilitated WHERE id = ${id}`
  })
  /** Whether nobody can be told for the first time any more; tells nobody. */
  const wasTold = Effect.fnUntraced(function* (id: string, since: Date) {
    return isOld(since, yield* DateTime.now) || Option.isSome(yield* find(id))
  }, Effect.orDie)

  const drop = SqlSchema.findAll({
    Request: Schema.Date,
    Result: Schema.Struct({ id: Schema.String }),
    execute: (before) =>
      sql`DELETE FROM facilitated WHERE id = ANY(ARRAY(
          SELECT id FROM facilitated WHERE told_at < ${before} ORDER BY told_at LIMIT 1000 FOR UPDATE SKIP LOCKED
        )) RETURNING id`
  })
  const forgetTold = Effect.gen(function* () {
    const before = DateTime.subtractDuration(yield* DateTime.now, Duration.sum(fresh, margin))
    return (yield* drop(DateTime.toDate(before))).length
  }).pipe(Effect.orDie, Effect.withSpan("Facilitator.forgetTold"))

  return { isFirst, wasTold, forgetTold }
})
export type Told = Effect.Success<typeof make>
