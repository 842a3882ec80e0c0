import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { toTypeId } from "#domain/Ids.ts"
import { newUuid } from "#services/NewId.ts"
import type { Answer } from "./GatewayHarness.ts"

/** An answer without what tells one request from another. */
export const seen = ({ headers, json, status }: Answer) => ({
  status,
  headers: Object.keys(headers).sort(),
  body: {
    ...json,
    request_id: "",
    detail: json?.detail?.replace(json.details?.id, ""),
    details: { ...json?.details, id: "" }
  }
})

/** Another id of the same form, which is nobody's. */
export const nobodys = (id: string) =>
  id.includes("_") ? toTypeId(id.slice(0, id.indexOf("_")), newUuid()) : newUuid()

/** Every row of every table, once nothing of an earlier call is still to be written: deliveries are marked a moment later. */
export const everything = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.repeat(sql`SELECT 1 FROM payments WHERE state = 'captured' AND delivered_at IS NULL`, {
    until: (unmarked) => unmarked.length === 0,
    schedule: Schedule.spaced("10 millis")
  })
  const tables = yield* sql`SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1`
  return yield* Effect.forEach(tables, ({ name }) =>
    Effect.map(
      sql`SELECT to_jsonb(t)::text AS row FROM ${sql(String(name))} t ORDER BY 1`,
      (rows) => `${name}: ${rows.map(({ row }) => row).join("\n")}`
    )
  )
})
