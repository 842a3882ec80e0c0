import { DateTime, Duration, Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

/** For how long it can still be seen that there was such a credential. Agents open a session every hour, so those go sooner. */
const kept = [
  { kind: "session_token", since: Duration.days(1) },
  { kind: "portal_token", since: Duration.days(30) }
] as const

/** The same of keys and of agents' tokens, which have no end, after they were revoked: lists of keys show those as well. */
const keptRevoked = Duration.days(30)

/** Forgets credentials that ended or were revoked long ago, at most 1,000 of each kind; how many. Whatever still works stays. */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const drop = SqlSchema.findAll({
    Request: Schema.Struct({ kind: Schema.String, before: Schema.Date }),
    Result: Schema.Struct({ id: Schema.String }),
    execute: ({ before, kind }) =>
      sql`DELETE FROM credentials WHERE id = ANY(ARRAY(
          SELECT id FROM credentials WHERE kind = ${kind} AND expires_at < ${before}
          ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED
        )) RETURNING id`
  })
  const dropRevoked = SqlSchema.findAll({
    Request: Schema.Date,
    Result: Schema.Struct({ id: Schema.String }),
    execute: (before) =>
      sql`DELETE FROM credentials WHERE id = ANY(ARRAY(
          SELECT id FROM credentials WHERE expires_at IS NULL AND revoked_at < ${before}
          ORDER BY revoked_at LIMIT 1000 FOR UPDATE SKIP LOCKED
        )) RETURNING id`
  })
  return Effect.gen(function* () {
    const now = yield* DateTime.now
    const before = DateTime.toDate(DateTime.subtractDuration(now, keptRevoked))
    let forgotten = (yield* dropRevoked(before)).length
    for (const { kind, since } of kept) {
      forgotten += (yield* drop({ kind, before: DateTime.toDate(DateTime.subtractDuration(now, since)) })).length
    }
    return forgotten
  }).pipe(Effect.orDie, Effect.withSpan("Credentials.forgetEnded"))
})
