import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema, type Statement } from "effect/sql"
import type { MerchantCategory, Region, ScanStatus } from "#domain/Scan.ts"
import { type Edges, placesOf, type Range, type Spot, spotOf, sum, uncounted } from "./Pages.ts"
import { type Records, ScanRow, scanColumns, underWayColumns, UnderWayRows } from "./Records.ts"

export interface ScanFilter {
  readonly category?: MerchantCategory | undefined
  readonly region?: Region | undefined
  readonly status?: ScanStatus | undefined
  readonly min_score?: number | undefined
  readonly max_score?: number | undefined
}

/**
 * Reads the whole corpus. What ended never changes and has a place without gaps, so blocks of places are counted once, by everything
 * that is asked for; who asks adds up blocks and counts the few scans that are in none.
 */
export const make = Effect.fnUntraced(function* (records: Records, block: number) {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(scanColumns)

  // One statement, so that all of it is of one moment.
  const edgesAt = SqlSchema.findOne({
    Request: Schema.Date,
    Result: Schema.Struct({
      head: Schema.BigInt,
      sealed: Schema.BigInt,
      stale: Schema.BigInt,
      block: Schema.NullOr(Schema.Struct({ first: Schema.BigIntFromString, last: Schema.BigIntFromString }))
    }),
    execute: (stale) =>
      sql`WITH age AS MATERIALIZED (
          SELECT coalesce((SELECT place FROM merchant_scans WHERE scanned_at <= ${stale}
            ORDER BY scanned_at DESC, place DESC LIMIT 1), 0) AS place
        )
        SELECT h.place AS head, coalesce((SELECT max(last) FROM merchant_scan_blocks), 0) AS sealed, age.place AS stale,
          (SELECT jsonb_build_object('first', b.first::text, 'last', b.last::text) FROM merchant_scan_blocks b
            WHERE b.last >= age.place AND b.first <= age.place ORDER BY b.last LIMIT 1) AS block
        FROM merchant_scan_head h, age WHERE h.log = 1`
  })

  const stored = (status: ScanStatus) => (status === "stale" ? "completed" : status)
  const isScored = ({ max_score, min_score }: ScanFilter) => min_score !== undefined || max_score !== undefined
  const bounds = ({ max_score = 100, min_score = 0 }: ScanFilter) => ({
    low: Math.max(0, Math.ceil(min_score)),
    high: Math.min(100, Math.floor(max_score))
  })
  const alike = ({ category, region, status }: ScanFilter): ReadonlyArray<Statement.Fragment> => [
    ...(category === undefined ? [] : [sql`merchant_category = ${category}`]),
    ...(region === undefined ? [] : [sql`region = ${region}`]),
    ...(status === undefined ? [] : [sql`status = ${stored(status)}`])
  ]
  const matching = (filter: ScanFilter) => {
    const { high, low } = bounds(filter)
    return isScored(filter) ? [...alike(filter), sql`readiness_score BETWEEN ${low} AND ${high}`] : alike(filter)
  }
  const within = ({ first, last }: Range) => [sql`place BETWEEN ${first} AND ${last}`]

  const Stretches = Schema.Array(Schema.Struct({ first: Schema.BigInt, last: Schema.BigInt, matching: Schema.Int }))
  const inBlocks = Effect.fnUntraced(function* (filter: ScanFilter, { first, last }: Range) {
    const { high, low } = bounds(filter)
    if (last < first || (isScored(filter) && high < low)) return []
    const count = isScored(filter)
      ? sql`upto[${high + 1}::int] - ${low === 0 ? sql`0` : sql`upto[${low}::int]`}`
      : sql`scans`
    const rows = yield* sql`SELECT first, last, sum(${count})::int AS matching FROM merchant_scan_blocks
      WHERE ${sql.and([sql`first >= ${first}`, sql`last <= ${last}`, ...alike(filter)])} GROUP BY first, last`
      .unprepared
    return yield* Schema.decodeUnknownEffect(Stretches)(rows)
  })
  const inRange = Effect.fnUntraced(function* (filter: ScanFilter, range: Range) {
    const { first, last } = range
    const rows = yield* sql`SELECT ${first}::bigint AS first, ${last}::bigint AS last, count(*)::int AS matching
      FROM merchant_scans WHERE ${sql.and([...within(range), ...matching(filter)])}`.unprepared
    return yield* Schema.decodeUnknownEffect(Stretches)(rows)
  })
  /** How many match, from the newest stretch to the oldest. */
  const stretches = Effect.fnUntraced(function* (filter: ScanFilter, edges: Edges) {
    const range = placesOf(filter.status, edges)
    const whole = yield* inBlocks(filter, {
      first: range.first,
      last: range.last < edges.sealed ? range.last : edges.sealed
    })
    const rest = yield* Effect.forEach(uncounted(range, edges), (one) => inRange(filter, one))
    return [...whole, ...rest.flat()].toSorted((a, b) => (a.last < b.last ? 1 : -1))
  })

  const Rows = Schema.Array(ScanRow)
  const rowsAt = Effect.fnUntraced(function* (filter: ScanFilter, spot: Spot, limit: number) {
    // Planned for what it asks: few that match are found by what they are, many by where they are.
    const found = yield* sql`SELECT ${columns} FROM merchant_scans WHERE place = ANY(ARRAY(
        SELECT place FROM merchant_scans WHERE ${sql.and([...within(spot), ...matching(filter)])}
        ORDER BY place DESC LIMIT ${limit} OFFSET ${spot.skip}
      )) ORDER BY place DESC`.unprepared
    return yield* Schema.decodeUnknownEffect(Rows)(found)
  })
  const mayBeUnderWay = ({ status, ...filter }: ScanFilter) =>
    !isScored(filter) && (status === undefined || status === "pending" || status === "scanning")
  /** What has not ended; never more than all processes take on. */
  const underWay = Effect.fnUntraced(function* (filter: ScanFilter) {
    if (!mayBeUnderWay(filter)) return []
    const rows = yield* sql`SELECT ${sql.literal(underWayColumns)} FROM scanner_work
      WHERE ${sql.and([sql`kind = 'scan'`, ...alike(filter)])} ORDER BY created_at DESC, id DESC`.unprepared
    return (yield* Schema.decodeUnknownEffect(UnderWayRows)(rows)).map(records.shownUnderWay)
  })

  const list = Effect.fn("Scans.list")(function* (
    filter: ScanFilter,
    { limit, page }: { readonly page: number; readonly limit: number }
  ) {
    const offset = (page - 1) * limit
    const current = yield* underWay(filter)
    const stale = yield* records.stale
    const counted = yield* stretches(filter, yield* edgesAt(stale))
    const shown = current.slice(offset, offset + limit)
    const left = limit - shown.length
    const spot = spotOf(counted, Math.max(0, offset - current.length), left)
    const rows = left === 0 || spot === undefined ? [] : yield* rowsAt(filter, spot, left)
    const data = [...shown, ...rows.map((row) => records.shown(row, stale))]
    return { data, total: current.length + sum(counted) }
  }, Effect.orDie)

  /** Counts the places behind the last block as one, when there are enough of them. Joins the caller's transaction. */
  const seal = Effect.fn("Scans.seal")(function* (place: bigint) {
    const { sealed } = yield* Effect.flatMap(
      sql`SELECT coalesce(max(last), 0) AS sealed FROM merchant_scan_blocks`,
      Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ sealed: Schema.BigInt })]))
    ).pipe(Effect.map(([row]) => row))
    const last = sealed + BigInt(block)
    if (place < last) return false
    yield* sql`WITH cells AS MATERIALIZED (
        SELECT coalesce(merchant_category, '') AS category, coalesce(region, '') AS region, status, readiness_score AS score,
          count(*) AS n FROM merchant_scans WHERE place > ${sealed} AND place <= ${last} GROUP BY 1, 2, 3, 4
      ), kinds AS MATERIALIZED (
        SELECT category, region, status, sum(n) AS scans, coalesce(sum(n) FILTER (WHERE score IS NOT NULL), 0) AS scored,
          coalesce(sum(n * score), 0) AS score_sum FROM cells GROUP BY 1, 2, 3
      ), sums AS (
        SELECT k.category, k.region, k.status, bound, sum(coalesce(c.n, 0)) OVER (
            PARTITION BY k.category, k.region, k.status ORDER BY bound
          ) AS upto
        FROM kinds k CROSS JOIN generate_series(0, 100) AS bound
        LEFT JOIN cells c ON c.category = k.category AND c.region = k.region AND c.status = k.status AND c.score = bound
      )
      INSERT INTO merchant_scan_blocks (last, first, merchant_category, region, status, scans, scored, score_sum, upto)
      SELECT ${last}::bigint, ${sealed + 1n}::bigint, category, region, status, k.scans, k.scored, k.score_sum,
        array_agg(s.upto::int ORDER BY s.bound)
      FROM kinds k JOIN sums s USING (category, region, status)
      GROUP BY category, region, status, k.scans, k.scored, k.score_sum`
    return true
  }, Effect.orDie)

  return { list, seal, edgesAt, stretches }
})
export type Corpus = Effect.Success<ReturnType<typeof make>>
