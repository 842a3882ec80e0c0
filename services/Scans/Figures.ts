import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { bands } from "#domain/Rubric.ts"
import { MerchantCategory, Protocol, Region } from "#domain/Scan.ts"
import type { ScanStatistics } from "#domain/ScanHistory.ts"
import type { Corpus } from "./Corpus.ts"
import { type Edges, sum } from "./Pages.ts"
import type { Records } from "./Records.ts"

/** The corpus in numbers: whole blocks are added up, and the few scans that are in none are counted. */
export const make = Effect.fnUntraced(function* (records: Records, { edgesAt, stretches }: Corpus) {
  const sql = yield* SqlClient.SqlClient

  const thresholds = bands.map(([, least]) => least)
  const perBlock = sql.csv(thresholds.map((least) => (least === 0 ? sql`0` : sql`sum(upto[${least}::int])::int`)))
  const perScan = sql.csv(thresholds.map((least) => sql`count(*) FILTER (WHERE readiness_score < ${least})::int`))
  // All scans of a block, and then those of none, in the same shape.
  const cells = Effect.fnUntraced(function* ({ head, sealed }: Edges) {
    const rows = yield* sql`SELECT merchant_category AS category, region, status, sum(scans)::int AS scans,
          sum(scored)::int AS scored, sum(score_sum)::float8 AS score_sum, ARRAY[${perBlock}]::int[] AS below
        FROM merchant_scan_blocks WHERE last <= ${sealed} GROUP BY 1, 2, 3
      UNION ALL SELECT coalesce(merchant_category, ''), coalesce(region, ''), status, count(*)::int,
          count(readiness_score)::int, coalesce(sum(readiness_score), 0)::float8, ARRAY[${perScan}]::int[]
        FROM merchant_scans WHERE place > ${sealed} AND place <= ${head} GROUP BY 1, 2, 3`.unprepared
    return yield* Schema.decodeUnknownEffect(Cells)(rows)
  })

  const Totals = Schema.Struct({
    domains: Schema.BigInt,
    pending: Schema.Int,
    scanning: Schema.Int,
    adoption: Schema.Record(Schema.String, Schema.Int)
  })
  const totals = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Totals,
    execute: () =>
      sql`SELECT domains,
          (SELECT count(*)::int FROM scanner_work WHERE kind = 'scan' AND status = 'pending') AS pending,
          (SELECT count(*)::int FROM scanner_work WHERE kind = 'scan' AND status = 'scanning') AS scanning,
          (SELECT coalesce(jsonb_object_agg(protocol, domains), '{}') FROM merchant_protocols) AS adoption
        FROM merchant_scan_head WHERE log = 1`
  })

  const statistics = Effect.gen(function* () {
    const edges = yield* edgesAt(yield* records.stale)
    const all = yield* cells(edges)
    const stale = sum(yield* stretches({ status: "stale" }, edges))
    const { adoption, domains, pending, scanning } = yield* totals()
    const of = (status: "completed" | "failed") => countOf(all.filter((cell) => cell.status === status))
    const by_status = { pending, scanning, completed: of("completed") - stale, failed: of("failed"), stale }
    return {
      total: countOf(all) + pending + scanning,
      domains: Number(domains),
      by_status,
      by_category: grouped([...MerchantCategory.literals, unknown], (name) =>
        all.filter((cell) => nameOf(cell.category) === name)
      ),
      by_region: grouped([...Region.literals, unknown], (name) => all.filter((cell) => nameOf(cell.region) === name)),
      by_band: bandsOf(all),
      average_score: average(all),
      protocol_adoption: record(Protocol.literals, (protocol) => adoption[protocol] ?? 0)
    } satisfies ScanStatistics
  }).pipe(Effect.orDie, Effect.withSpan("Scans.statistics"))

  return { statistics }
})

const Cell = Schema.Struct({
  category: Schema.String,
  region: Schema.String,
  status: Schema.Literals(["completed", "failed"]),
  scans: Schema.Int,
  scored: Schema.Int,
  score_sum: Schema.Finite,
  /** How many have less than the least score of each band. */
  below: Schema.Array(Schema.Int)
})
type Cell = typeof Cell.Type
const Cells = Schema.Array(Cell)

const unknown = "unknown"
const nameOf = (name: string) => (name === "" ? unknown : name)

const record = <const K extends string, A>(
  names: ReadonlyArray<K>,
  of: (name: K) => A
): { readonly [name in K]: A } => {
  const entries: Partial<Record<K, A>> = {}
  for (const name of names) entries[name] = of(name)
  return entries as { readonly [name in K]: A }
}

const countOf = (cells: ReadonlyArray<Cell>) => cells.reduce((total, { scans }) => total + scans, 0)
const average = (cells: ReadonlyArray<Cell>) => {
  const scored = cells.reduce((total, cell) => total + cell.scored, 0)
  const points = cells.reduce((total, cell) => total + cell.score_sum, 0)
  return scored === 0 ? null : Math.round((10 * points) / scored) / 10
}
const grouped = <const K extends string>(names: ReadonlyArray<K>, of: (name: K) => ReadonlyArray<Cell>) =>
  record(names, (name) => {
    const cells = of(name)
    return { scans: countOf(cells), average_score: average(cells) }
  })
/** Bands go from the best down: each has what is below the one before it and not below itself. */
const bandsOf = (cells: ReadonlyArray<Cell>) => {
  const below = (place: number) => cells.reduce((total, cell) => total + (cell.below[place] ?? cell.scored), 0)
  const names = bands.map(([name]) => name)
  return record(names, (name) => below(names.indexOf(name) - 1) - below(names.indexOf(name)))
}
