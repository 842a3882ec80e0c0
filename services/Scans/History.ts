import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { CheckStatus, ScanId } from "#domain/Scan.ts"
import type { ScanChange } from "#domain/ScanHistory.ts"
import { statusAt } from "./Records.ts"

const score = Schema.NullOr(Schema.Int)
const Row = Schema.Struct({
  id: ScanId,
  status: Schema.Literals(["completed", "failed"]),
  scanned_at: Schema.Date,
  readiness_score: score,
  protocol_score: score,
  data_score: score,
  accessibility_score: score,
  checkout_score: score,
  rubric_version: Schema.String,
  answers: Schema.Record(Schema.String, CheckStatus)
})
type Row = typeof Row.Type

/** What became of a domain from one scan to the next. */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const newest = SqlSchema.findAll({
    Request: Schema.Struct({ domain: Schema.String, limit: Schema.Int, offset: Schema.Int }),
    Result: Row,
    execute: ({ domain, limit, offset }) =>
      sql`SELECT id, status, scanned_at, f.*, (
          SELECT coalesce(jsonb_object_agg(answer ->> 'id', answer ->> 'status'), '{}')
          FROM json_array_elements(findings -> 'checks') AS answer
        ) AS answers
        FROM merchant_scans s, json_to_record(s.findings) AS f (protocol_score int, data_score int, accessibility_score int,
          checkout_score int, rubric_version text, readiness_score int)
        WHERE domain = ${domain} ORDER BY place DESC LIMIT ${limit} OFFSET ${offset}`
  })
  const countOf = SqlSchema.findOne({
    Request: Schema.String,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (domain) => sql`SELECT count(*)::int AS total FROM merchant_scans WHERE domain = ${domain}`
  })
  /** A page, newest first, and how many there are. */
  return Effect.fn("Scans.history")(function* (
    domain: string,
    { limit, page }: { readonly page: number; readonly limit: number },
    stale: Date
  ) {
    const { total } = yield* countOf(domain)
    const rows = yield* newest({ domain, limit: limit + 1, offset: (page - 1) * limit })
    const data = rows.slice(0, limit).map(({ answers, ...row }, place): ScanChange => {
      const before = rows[place + 1]
      return {
        ...row,
        status: statusAt(row.status, row.scanned_at, stale),
        changes: before === undefined ? null : changesOf({ ...row, answers }, before)
      }
    })
    return { data, total }
  }, Effect.orDie)
})

const changesOf = (after: Row, before: Row) => ({
  score_delta:
    after.readiness_score === null || before.readiness_score === null
      ? null
      : after.readiness_score - before.readiness_score,
  checks: [...new Set([...Object.keys(after.answers), ...Object.keys(before.answers)])].toSorted().flatMap((id) => {
    const [from, to] = [before.answers[id] ?? null, after.answers[id] ?? null]
    return from === to ? [] : [{ id, from, to }]
  })
})
