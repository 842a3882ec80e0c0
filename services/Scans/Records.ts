import { DateTime, type Duration, Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { rubricVersion } from "#domain/Rubric.ts"
import { type MerchantScan, nothingSeen, ScanFindings, ScanId, type ScanStatus } from "#domain/Scan.ts"
import { notForLong } from "../EventLog/Head.ts"
import { type Claim, noWords, Words } from "./Claims.ts"
import type { Stored } from "./Work.ts"
import type { ReportLinks } from "./ReportLinks.ts"
import { storable } from "./Storable.ts"

/** What is stored of a scan that ended. */
export const ScanRow = Schema.Struct({
  place: Schema.BigInt,
  id: ScanId,
  domain: Schema.String,
  ...Words.fields,
  findings: ScanFindings,
  scanned_at: Schema.Date,
  created_at: Schema.Date
})
export type ScanRow = typeof ScanRow.Type
export const scanColumns = `place, id, domain, merchant_name, merchant_category, country_code, region, findings, scanned_at,
  created_at`

const UnderWay = Schema.Struct({
  id: ScanId,
  domain: Schema.String,
  status: Schema.Literals(["pending", "scanning"]),
  ...Words.fields,
  created_at: Schema.Date
})
export type UnderWay = typeof UnderWay.Type
export const underWayColumns = "id, domain, status, merchant_name, merchant_category, country_code, region, created_at"
export const UnderWayRows = Schema.Array(UnderWay)

/** Until when a scan that was completed then is stale at this time. */
const staleAt = (now: DateTime.Utc, freshFor: Duration.Duration): Date =>
  DateTime.toDate(DateTime.subtractDuration(now, freshFor))

/** A completed scan is stale from the moment `stale` on. */
export const statusAt = (status: "completed" | "failed", scanned_at: Date, stale: Date): ScanStatus =>
  status === "completed" && scanned_at <= stale ? "stale" : status

const adopted = new Set(["confirmed", "eligible", "platform_enabled"])

/** Scans that ended, each with its place, and what is known of their merchants. */
export const make = Effect.fnUntraced(function* (links: ReportLinks, freshFor: Duration.Duration) {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(scanColumns)

  const shown = ({ domain, findings, id, place: _, ...row }: ScanRow, stale: Date): MerchantScan => ({
    ...findings,
    ...row,
    id,
    domain,
    status: statusAt(findings.status, row.scanned_at, stale),
    report_url: links.url("scan", id),
    updated_at: row.scanned_at
  })
  /** Before it has run, nothing is known of the site. */
  const shownUnderWay = (work: UnderWay): MerchantScan => ({
    ...unseen,
    ...work,
    url: "",
    report_url: links.url("scan", work.id),
    scanned_at: null,
    updated_at: work.created_at
  })
  const stale = Effect.map(DateTime.now, (now) => staleAt(now, freshFor))
  const presented = (found: Option.Option<ScanRow>) =>
    Effect.map(stale, (since) => Option.map(found, (row) => ({ place: row.place, record: shown(row, since) })))

  const byId = SqlSchema.findOneOption({
    Request: ScanId,
    Result: ScanRow,
    execute: (id) => sql`SELECT ${columns} FROM merchant_scans WHERE id = ${id}`
  })
  const underWayById = SqlSchema.findOneOption({
    Request: ScanId,
    Result: UnderWay,
    execute: (id) => sql`SELECT ${sql.literal(underWayColumns)} FROM scanner_work WHERE id = ${id} AND kind = 'scan'`
  })
  const newestOf = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: ScanRow,
    execute: (domain) => sql`SELECT ${columns} FROM merchant_scans WHERE domain = ${domain} ORDER BY place DESC LIMIT 1`
  })
  const lastOf = SqlSchema.findOne({
    Request: Schema.String,
    Result: Schema.Struct({ last: Schema.BigInt }),
    execute: (domain) => sql`SELECT coalesce(max(place), 0) AS last FROM merchant_scans WHERE domain = ${domain}`
  })
  const freshOf = SqlSchema.findOneOption({
    Request: Schema.Struct({ domain: Schema.String, since: Schema.Date }),
    Result: ScanRow,
    execute: ({ domain, since }) =>
      sql`SELECT ${columns} FROM merchant_scans
        WHERE domain = ${domain} AND status = 'completed' AND scanned_at > ${since} ORDER BY place DESC LIMIT 1`
  })

  const Head = Schema.Struct({ place: Schema.BigInt, scanned_at: Schema.Date })
  const nextPlace = SqlSchema.findOne({
    Request: Schema.Struct({ now: Schema.Date }),
    Result: Head,
    // A clock that is behind does not put a scan before those that ended.
    execute: ({ now }) =>
      sql`UPDATE merchant_scan_head SET place = place + 1, scanned_at = greatest(scanned_at, ${now}) WHERE log = 1
        RETURNING place, scanned_at, ${sql.literal(notForLong)}`
  })
  const Merchant = Schema.Struct({ ...Words.fields, protocols: Schema.Array(Schema.String) })
  const merchant = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: Merchant,
    execute: (domain) =>
      sql`SELECT merchant_name, merchant_category, country_code, region, protocols FROM merchants
        WHERE domain = ${domain} FOR NO KEY UPDATE`
  })
  const saidOf = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: Words,
    execute: (domain) =>
      sql`SELECT merchant_name, merchant_category, country_code, region FROM merchants WHERE domain = ${domain}`
  })
  const WordsOf = Schema.Struct({ domain: Schema.String, ...Words.fields, now: Schema.Date })
  const say = SqlSchema.findOne({
    Request: WordsOf,
    Result: Merchant,
    execute: ({ domain, now, ...words }) =>
      sql`INSERT INTO merchants AS m (domain, merchant_name, merchant_category, country_code, region, updated_at)
        VALUES (${domain}, ${words.merchant_name}, ${words.merchant_category}, ${words.country_code}, ${words.region}, ${now})
        ON CONFLICT (domain) DO UPDATE SET merchant_name = coalesce(EXCLUDED.merchant_name, m.merchant_name),
          merchant_category = coalesce(EXCLUDED.merchant_category, m.merchant_category),
          country_code = coalesce(EXCLUDED.country_code, m.country_code),
          region = coalesce(EXCLUDED.region, m.region), updated_at = EXCLUDED.updated_at
        RETURNING merchant_name, merchant_category, country_code, region, protocols`
  })
  /** Counts the domain by the protocols it speaks now, and no more by those it spoke. */
  const speak = Effect.fnUntraced(function* (
    domain: string,
    before: ReadonlyArray<string>,
    after: ReadonlyArray<string>
  ) {
    const lost = before.filter((one) => !after.includes(one))
    const won = after.filter((one) => !before.includes(one))
    if (lost.length + won.length === 0) return
    yield* sql`UPDATE merchants SET protocols = ${after}::text[] WHERE domain = ${domain}`
    yield* sql`INSERT INTO merchant_protocols AS p (protocol, domains)
      SELECT protocol, 1 FROM unnest(${won}::text[]) AS protocol
      ON CONFLICT (protocol) DO UPDATE SET domains = p.domains + 1`
    yield* sql`UPDATE merchant_protocols SET domains = domains - 1 WHERE protocol = ANY(${lost}::text[])`
  })

  const store = Effect.fn("Scans.store")(function* (claim: Claim, given: ScanFindings, words: Words) {
    const findings = yield* Schema.decodeUnknownEffect(ScanFindings)(storable(given))
    const { domain, created_at } = claim
    const id = ScanId.make(claim.id)
    // First, because it makes all who end a scan take turns: what follows is locked in one order.
    const { place, scanned_at } = yield* nextPlace({ now: yield* DateTime.nowAsDate })
    const known = yield* merchant(domain)
    if (Option.isNone(known)) yield* sql`UPDATE merchant_scan_head SET domains = domains + 1 WHERE log = 1`
    const { protocols, ...said } = yield* say({ domain, ...words, now: scanned_at })
    if (findings.status === "completed") {
      const speaks = findings.protocol_results.filter(({ status }) => adopted.has(status))
      yield* speak(domain, protocols, [...new Set(speaks.map(({ protocol }) => protocol))].toSorted())
    }
    yield* sql`INSERT INTO merchant_scans (place, id, domain, merchant_name, merchant_category, country_code, region, status,
        readiness_score, scanned_at, created_at, findings)
      VALUES (${place}, ${id}, ${domain}, ${said.merchant_name}, ${said.merchant_category}, ${said.country_code},
        ${said.region}, ${findings.status}, ${findings.readiness_score}, ${scanned_at}, ${created_at},
        ${yield* asText(findings)}::json)`
    return { place, record: shown({ place, id, domain, ...said, findings, scanned_at, created_at }, yield* stale) }
  }, Effect.orDie)

  return {
    shown,
    shownUnderWay,
    stale,
    /** Writes the record of a claim. Joins the caller's transaction. */
    store,
    /** Joins the caller's transaction. */
    remember: Effect.fnUntraced(function* (domain: string, words: Words) {
      if (Object.values(words).every((word) => word === null)) return
      yield* say({ domain, ...words, now: yield* DateTime.nowAsDate })
    }, Effect.orDie),
    /** What was said of a merchant before. */
    saidOf: (domain: string) =>
      Effect.map(
        Effect.orDie(saidOf(domain)),
        Option.getOrElse(() => noWords)
      ),
    /** Says of a merchant that has been scanned what nobody has said of it yet. */
    supplement: Effect.fnUntraced(function* (domain: string, words: Words) {
      if (Object.values(words).every((word) => word === null)) return
      yield* sql`UPDATE merchants SET merchant_name = coalesce(merchant_name, ${words.merchant_name}),
          merchant_category = coalesce(merchant_category, ${words.merchant_category}),
          country_code = coalesce(country_code, ${words.country_code}), region = coalesce(region, ${words.region})
        WHERE domain = ${domain}`
    }, Effect.orDie),
    last: (domain: string) => Effect.map(Effect.orDie(lastOf(domain)), ({ last }) => last),
    /** The newest that ended. */
    newest: (domain: string): Effect.Effect<Option.Option<Stored<MerchantScan>>> =>
      Effect.flatMap(Effect.orDie(newestOf(domain)), presented),
    /** The newest completed one that is not stale. */
    fresh: (domain: string) =>
      stale.pipe(
        Effect.flatMap((since) => Effect.orDie(freshOf({ domain, since }))),
        Effect.flatMap(presented),
        Effect.map(Option.map(({ record }) => record))
      ),
    /** What is under way is asked for first: it is a record in the moment in which it is that no more. */
    find: Effect.fnUntraced(function* (id: ScanId) {
      const work = yield* underWayById(id)
      if (Option.isSome(work)) return Option.some(shownUnderWay(work.value))
      return Option.map(yield* presented(yield* byId(id)), ({ record }) => record)
    }, Effect.orDie)
  }
})
export type Records = Effect.Success<ReturnType<typeof make>>

const asText = Schema.encodeEffect(Schema.fromJsonString(ScanFindings))

const unseen = {
  ...nothingSeen,
  rubric_version: rubricVersion,
  requests: [],
  vantage: { user_agent: "", network: "" },
  scan_duration_ms: 0
} as const
