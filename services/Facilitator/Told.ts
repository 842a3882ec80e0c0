import { DateTime, Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

/**
 * Whether this is the first time that somebody is told of a settlement. A server that got the same payment ten times at once asks ten
 * times, and serves as often as it is told that it was paid.
 */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const insert = SqlSchema.findOneOption({
    Request: Schema.Struct({ id: Schema.String, at: Schema.Date }),
    Result: Schema.Struct({ id: Schema.String }),
    execute: ({ at, id }) =>
      sql`INSERT INTO facilitated (id, told_at) VALUES (${id}, ${at}) ON CONFLICT DO NOTHING RETURNING id`
  })
  return Effect.fnUntraced(function* (id: string) {
    return Option.isSome(yield* insert({ id, at: yield* DateTime.nowAsDate }))
  }, Effect.orDie)
})
