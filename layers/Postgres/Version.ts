import type * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Schema } from "effect"
import type * as SqlClient from "effect/sql/SqlClient"
import * as Migrations from "../migrations/Migrations.ts"
import { placeOf, PostgresUnusable } from "./Unusable.ts"

/** Refuses a database that is not as this version of Turnpike migrates it, and changes nothing about it. */
export const check = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient, config: PgClient.PgClientConfig) {
    // Others call a table of theirs schema_migrations, too.
    const [{ database, known }] = yield* Effect.flatMap(
      sql`select current_database() as database, to_regclass('tenants') is not null and exists (
            select 1 from pg_attribute where attrelid = to_regclass('schema_migrations') and attname = 'migration_id'
              and atttypid = 'int4'::regtype and not attisdropped
          ) as known`,
      decodeKnown
    )
    const [{ found }] = known
      ? yield* Effect.flatMap(sql`select coalesce(max(migration_id), 0) as found from schema_migrations`, decodeFound)
      : [{ found: 0 }]
    const needed = Math.max(...(yield* Migrations.all).map(([id]) => id))
    const why = refusal(found, needed)
    if (why === undefined) return
    const message = `The database ${database} at ${placeOf(config)} ${why.sentence}`
    return yield* new PostgresUnusable({ reason: why.reason, message })
  },
  Effect.catchTag("SchemaError", Effect.die)
)

/** Migrations are counted from 1. */
const refusal = (found: number, needed: number) => {
  if (found === 0) {
    return { reason: "Foreign", sentence: "is no Turnpike's: no server was ever started on it." } as const
  }
  const at = `is at migration ${found} and this version needs ${needed}`
  if (found < needed) return { reason: "Older", sentence: `${at}: start the server of this version first.` } as const
  if (found > needed)
    return { reason: "Newer", sentence: `${at}: it is used by a newer version, use that one.` } as const
  return undefined
}

const decodeKnown = Schema.decodeUnknownEffect(
  Schema.Tuple([Schema.Struct({ database: Schema.String, known: Schema.Boolean })])
)
const decodeFound = Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ found: Schema.Int })]))
