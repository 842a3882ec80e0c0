import { Effect, Schema } from "effect"
import type * as SqlClient from "effect/sql/SqlClient"

const Off = Schema.Array(Schema.Struct({ name: Schema.String }))

/** Says so where what is committed may be lost with the server: money is answered for as soon as Postgres says that it is safe. */
export const warnOfLoss = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient) {
    const off = yield* Effect.flatMap(
      sql`SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off'
        ORDER BY name`,
      Schema.decodeUnknownEffect(Off)
    )
    if (off.length === 0) return
    yield* Effect.logWarning(
      `The database has ${off.map(({ name }) => name).join(", ")} set to off: when it crashes, money that was answered for may be ` +
        "lost. Set it to on for this database, its user and the server."
    )
  },
  Effect.catchTag("SchemaError", Effect.die)
)
