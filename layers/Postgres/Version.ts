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
    const [{ found }] = known ? yield* latest(sql) : [{ found: 0 }]
    const needed = yield* newest
    const why = refusal(found, needed)
    if (why === undefined) return
    const message = `The database ${database} at ${placeOf(config)} ${why.sentence}`
    return yield* new PostgresUnusable({ reason: why.reason, message })
  },
  Effect.catchTag("SchemaError", Effect.die)
)

/** A server goes on beside a newer version that replaces it; whoever went back to it without the backup reads why it does not work. */
export const warnOfNewer = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient) {
    const [{ found }] = yield* latest(sql)
    const known = yield* newest
    if (found <= known) return
    yield* Effect.logWarning(
      `The database is at migration ${found} and this version knows ${known}: a newer version has migrated it. ` +
        "That is right only while its servers replace those of this one; going back needs the backup."
    )
  },
  Effect.catchTag("SchemaError", Effect.die)
)

const newest = Effect.map(Migrations.all, (migrations) => Math.max(...migrations.map(([id]) => id)))

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
const latest = (sql: SqlClient.SqlClient) =>
  Effect.flatMap(sql`select coalesce(max(migration_id), 0) as found from schema_migrations`, decodeFound)
