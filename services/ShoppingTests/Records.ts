import { DateTime, Effect, Option, Schema, Struct } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { failureRateOf, project } from "#domain/Economics.ts"
import { MerchantCategory, Region } from "#domain/Scan.ts"
import { Economics, type ShoppingTest, TestOutcome, TestType } from "#domain/ShoppingTest.ts"
import type { Claim } from "../Scans/Claims.ts"
import type { ReportLinks } from "../Scans/ReportLinks.ts"
import type { Stored } from "../Scans/Work.ts"
import { storable } from "../Scans/Storable.ts"

/** Estimates are of the table of their time. */
const Projection = Schema.Struct({
  estimated_monthly_agent_visits: Schema.Int,
  estimated_lost_conversions: Schema.Int,
  estimated_lost_revenue_usd: Schema.Finite,
  economics: Economics
})

const Row = Schema.Struct({
  seq: Schema.BigInt,
  id: Schema.String,
  domain: Schema.String,
  test_type: TestType,
  outcome: TestOutcome,
  projection: Schema.NullOr(Projection),
  tested_at: Schema.Date
})
type Row = typeof Row.Type
const New = Schema.Struct({
  ...Struct.omit(Row.fields, ["seq"]),
  outcome: Schema.String,
  projection: Schema.NullOr(Schema.String)
})
const Merchant = Schema.Struct({
  merchant_category: Schema.NullOr(MerchantCategory),
  country_code: Schema.NullOr(Schema.String),
  region: Schema.NullOr(Region)
})

const outcomeText = Schema.encodeEffect(Schema.fromJsonString(TestOutcome))
const projectionText = Schema.encodeEffect(Schema.fromJsonString(Projection))

/** Tests that ended. */
export const make = Effect.fnUntraced(function* (links: ReportLinks) {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal("seq, id, domain, test_type, outcome, projection, tested_at")

  const shown = ({ domain, id, outcome, projection, test_type, tested_at }: Row): ShoppingTest => ({
    id,
    domain,
    test_type,
    ...outcome,
    ...projection,
    report_url: links.url("test", id),
    tested_at
  })
  const stored = (row: Row): Stored<ShoppingTest> => ({ place: row.seq, record: shown(row) })

  const byId = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: Row,
    execute: (id) => sql`SELECT ${columns} FROM shopping_tests WHERE id = ${id}`
  })
  const newestOf = SqlSchema.findAll({
    Request: Schema.Struct({ domain: Schema.String, limit: Schema.Int, offset: Schema.Int }),
    Result: Row,
    execute: ({ domain, limit, offset }) =>
      sql`SELECT ${columns} FROM shopping_tests WHERE domain = ${domain} ORDER BY seq DESC LIMIT ${limit} OFFSET ${offset}`
  })
  const countOf = SqlSchema.findOne({
    Request: Schema.String,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (domain) => sql`SELECT count(*)::int AS total FROM shopping_tests WHERE domain = ${domain}`
  })
  const newestOfType = SqlSchema.findOneOption({
    Request: Schema.Struct({ domain: Schema.String, type: Schema.String }),
    Result: Row,
    execute: ({ domain, type }) =>
      sql`SELECT ${columns} FROM shopping_tests WHERE domain = ${domain} AND test_type = ${type} ORDER BY seq DESC LIMIT 1`
  })
  const lastOf = SqlSchema.findOne({
    Request: Schema.Struct({ domain: Schema.String, type: Schema.String }),
    Result: Schema.Struct({ last: Schema.BigInt }),
    execute: ({ domain, type }) =>
      sql`SELECT coalesce(max(seq), 0) AS last FROM shopping_tests WHERE domain = ${domain} AND test_type = ${type}`
  })
  const merchantOf = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: Merchant,
    execute: (domain) => sql`SELECT merchant_category, country_code, region FROM merchants WHERE domain = ${domain}`
  })
  const insert = SqlSchema.findOne({
    Request: New,
    Result: Row,
    execute: (row) =>
      sql`INSERT INTO shopping_tests (id, domain, test_type, outcome, projection, tested_at)
        VALUES (${row.id}, ${row.domain}, ${row.test_type}, ${row.outcome}::json, ${row.projection}::json, ${row.tested_at}) RETURNING ${columns}`
  })

  return {
    /** Writes the record of a claim. Joins the caller's transaction. */
    store: Effect.fn("ShoppingTests.store")(function* ({ domain, id, variant }: Claim, given: TestOutcome) {
      const outcome = yield* Schema.decodeUnknownEffect(TestOutcome)(storable(given))
      const test_type = yield* Schema.decodeUnknownEffect(TestType)(variant)
      const merchant = Option.getOrNull(yield* merchantOf(domain))
      const projected =
        merchant === null || merchant.merchant_category === null
          ? null
          : project(merchant.merchant_category, merchant.region, failureRateOf(outcome.steps))
      const projection = projected === null ? null : yield* projectionText(projected)
      const tested_at = yield* DateTime.nowAsDate
      return shown(
        yield* insert({ id, domain, test_type, tested_at, projection, outcome: yield* outcomeText(outcome) })
      )
    }, Effect.orDie),
    find: (id: string) => Effect.map(Effect.orDie(byId(id)), Option.map(shown)),
    /** Where the merchant was said to be. */
    countryOf: (domain: string) =>
      Effect.map(Effect.orDie(merchantOf(domain)), (found) => Option.getOrNull(found)?.country_code ?? null),
    last: (domain: string, type: string) => Effect.map(Effect.orDie(lastOf({ domain, type })), ({ last }) => last),
    newest: (domain: string, type: string) =>
      Effect.map(Effect.orDie(newestOfType({ domain, type })), Option.map(stored)),
    recent: Effect.fnUntraced(function* (
      domain: string,
      { limit, offset }: { readonly limit: number; readonly offset: number }
    ) {
      const { total } = yield* countOf(domain)
      return { data: (yield* newestOf({ domain, limit, offset })).map(shown), total }
    }, Effect.orDie)
  }
})
