import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync, writeFileSync } from "node:fs"
import * as Postgres from "#layers/Postgres.ts"

const Named = Schema.Array(Schema.Struct({ name: Schema.String }))

/** The names in lines that are as long as lines may be. */
const block = (named: typeof Named.Type) => {
  const lines = [""]
  for (const { name } of named) {
    const line = `${lines.pop()} ${name}`
    lines.push(...(line.length > 118 ? [line.slice(0, -name.length - 1), ` ${name}`] : [line]))
  }
  return lines.map((line) => ` ${line}\n`).join("")
}

/** The file by which the doctor knows the tables, as it is, and as it would be written from this database. */
export const documents = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const index = sql.literal(`SELECT relname AS name FROM pg_index JOIN pg_class c ON c.oid = indexrelid
    WHERE relnamespace = current_schema()::regnamespace AND`)
  const lists = {
    uniqueIndexes: sql`${index} indisunique ORDER BY 1`,
    otherIndexes: sql`${index} NOT indisunique ORDER BY 1`,
    rules: sql`SELECT conname AS name FROM pg_constraint
      WHERE contype IN ('c', 'f') AND connamespace = current_schema()::regnamespace ORDER BY 1`,
    // Before the first of all is when something never happened yet, where that is what a row begins with.
    times: sql`SELECT relname || '(' || string_agg(attname, ',' ORDER BY attnum) || ')' AS name
      FROM pg_attribute JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = c.oid AND adnum = attnum
      WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND atttypid = 'timestamptz'::regtype
        AND (pg_get_expr(adbin, adrelid) LIKE '%infinity%') IS NOT TRUE
      GROUP BY relname ORDER BY relname`
  }
  const present = readFileSync(file, "utf8")
  let wanted = present
  for (const [list, query] of Object.entries(lists)) {
    const written = block(yield* Effect.flatMap(query, Schema.decodeUnknownEffect(Named)))
    wanted = wanted.replace(new RegExp(`(?<= ${list} = names\\(\`\\n)[^\`]*`), written)
  }
  return { present, wanted }
})

const file = new URL("../../services/Doctor/Tables.ts", import.meta.url)

if (import.meta.main) {
  const { wanted } = await Effect.runPromise(Effect.provide(documents, Postgres.layerTest))
  writeFileSync(file, wanted)
}
