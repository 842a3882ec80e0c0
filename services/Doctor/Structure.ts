import type { SqlClient } from "effect/sql"
import type { Assurance } from "./Assurance.ts"
import { otherIndexes, rules, times, uniqueIndexes } from "./Tables.ts"

/** What holds of the tables themselves: a restore that ended half-way leaves every row, and nothing of what was to be made after them. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => {
  const indexes = (named: ReadonlyArray<string>) =>
    sql`SELECT n.name AS index, CASE WHEN i.indexrelid IS NULL THEN 'missing' ELSE 'unusable' END AS is
      FROM unnest(${named}::text[]) n (name) LEFT JOIN pg_index i ON i.indexrelid = to_regclass(n.name)
      WHERE i.indisvalid IS NOT TRUE LIMIT 10`
  return [
    { promise: "the indexes that let nothing be there twice are in place", query: indexes(uniqueIndexes) },
    // Without them whatever is asked reads whole tables: everything is right, and slower by the day.
    { promise: "the indexes by which rows are found are in place", query: indexes(otherIndexes) },
    {
      promise: "what a row may not be (CHECK), or refer to in vain (FOREIGN KEY), is refused",
      query: sql`SELECT n.name AS rule, 'missing' AS is FROM unnest(${rules}::text[]) n (name) WHERE NOT EXISTS (
          SELECT FROM pg_constraint c WHERE c.conname = n.name
            AND (pg_table_is_visible(c.conrelid) OR pg_type_is_visible(c.contypid))
        ) LIMIT 10`
    },
    {
      promise: "no trigger of a table is switched off",
      // As they are while only data is restored. Those without a name that anybody gave them are how foreign keys are held to.
      query: sql`SELECT DISTINCT t.tgrelid::regclass::text AS table, coalesce(c.conname, t.tgname) AS trigger
        FROM (SELECT DISTINCT indrelid FROM pg_index WHERE indexrelid IN (
          SELECT to_regclass(name) FROM unnest(${uniqueIndexes}::text[]) n (name)
        )) own JOIN pg_trigger t ON t.tgrelid = own.indrelid LEFT JOIN pg_constraint c ON c.oid = t.tgconstraint
        WHERE t.tgenabled NOT IN ('O', 'A') LIMIT 10`
    },
    {
      promise: "every time is one that comes: what is due at the end of all times is never done",
      query: sql`${sql.join(" UNION ALL ", false)(times.map(endless(sql)))} LIMIT 10`
    }
  ]
}

const endless = (sql: SqlClient.SqlClient) => (named: string) => {
  const [table = "", ...columns] = named.split(/\W/).filter((word) => word !== "")
  const which = columns.map((column) => `CASE WHEN NOT bool_and(isfinite(${column})) THEN '${column}' END`)
  return sql.literal(`SELECT '${table}' AS table, concat_ws(', ', ${which}) AS columns, count(*) AS rows
    FROM ${table} WHERE NOT (${columns.map((column) => `isfinite(${column})`).join(" AND ")}) HAVING count(*) > 0`)
}
