import * as PgClient from "@effect/sql-pg/PgClient"
import { Duration, Effect, Layer, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Check, type RequestMade, ScanFindings } from "#domain/Scan.ts"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as Corpus from "#services/Scans/Corpus.ts"
import * as Figures from "#services/Scans/Figures.ts"
import * as History from "#services/Scans/History.ts"
import * as Records from "#services/Scans/Records.ts"
import { findings } from "../services/ScansHarness.ts"
import { load, report, say } from "./Bench.ts"

/** Whether a corpus of a million scans is read in less than 50 ms, whatever is asked for. */

const millis = Number(process.env["BENCH_MILLIS"] ?? 1000)
const scans = Number(process.env["BENCH_SCANS"] ?? 1_000_000)
const block = 16_384
const target = 50

/** As much as a real scan has: 40 checks with evidence, 24 requests; about 30 kB. Most of the corpus is smaller, so that it fits. */
const check = (id: number): Check => ({
  id: `check_${id}`,
  group: "data",
  title: "Product pages say what the product costs",
  status: id % 3 === 0 ? "fail" : "pass",
  points: id % 3 === 0 ? 0 : 10,
  max_points: 10,
  message:
    "The page of the product does not say its price in a form that a program can read, so that an agent guesses.",
  evidence: {
    url: `https://shop.example.com/products/${id}`,
    status: 200,
    snippet: "<div class=price>12.00</div>".repeat(5),
    ms: 120
  },
  fix: "Add an Offer with price and priceCurrency to the product's JSON-LD, as the example of the specification has it.",
  spec: "https://schema.org/Offer"
})
const request: RequestMade = {
  method: "GET",
  url: "https://shop.example.com/products/1",
  user_agent: "TurnpikeScanner/1.0 (+https://turnpike.example/docs/scanner)",
  accept: "text/html",
  status: 200,
  failure: null,
  ms: 120,
  bytes: 250_000
}
const whole = findings({
  checks: Array.from({ length: 40 }, (_, id) => check(id)),
  requests: Array.from({ length: 24 }, () => request)
})
const asText = Schema.encodeEffect(Schema.fromJsonString(ScanFindings))

const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [large, small] = [yield* asText(whole), yield* asText(findings())]
  say(`     a whole record has ${large.length} characters`)
  const step = 100_000
  for (let from = 0; from < scans; from += step) {
    yield* sql`INSERT INTO merchant_scans (place, id, domain, merchant_category, region, status, readiness_score, scanned_at,
        created_at, findings)
      SELECT n, gen_random_uuid(), 'shop-' || n % ${scans / 4} || '.com',
        (ARRAY['retail', 'saas', 'marketplace', 'restaurant', 'b2b', 'travel', 'fintech', 'healthcare', 'media', 'other', NULL])[
          1 + floor(11 * power(random(), 2))::int],
        (ARRAY['latam', 'north_america', 'europe', 'apac', 'africa', 'mena', NULL])[1 + floor(7 * power(random(), 2))::int],
        CASE WHEN failed THEN 'failed' ELSE 'completed' END,
        CASE WHEN NOT failed THEN floor(101 * (random() + random()) / 2)::int END,
        now() - interval '60 days' * (1 - n::float8 / ${scans}), now() - interval '60 days' * (1 - n::float8 / ${scans}),
        CASE WHEN n % ${scans / 4} >= ${scans / 4 - 1000} THEN ${large}::json ELSE ${small}::json END
      FROM (SELECT n, random() < 0.03 AS failed FROM generate_series(${from + 1}::bigint, ${from + step}::bigint) AS n) s`
  }
  yield* sql`INSERT INTO merchants (domain, updated_at) SELECT DISTINCT domain, now() FROM merchant_scans`
  yield* sql`UPDATE merchant_scan_head SET place = ${scans}, scanned_at = now(), domains = ${scans / 4}`
})

const main = Effect.gen(function* () {
  const dataDir = mkdtempSync(join(tmpdir(), "turnpike-bench-"))
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dataDir, { recursive: true, force: true })))
  const server = yield* EmbeddedPostgres.make({ dataDir, settings: { max_wal_size: "8GB", synchronous_commit: "off" } })
  const config = Postgres.fromEmbedded(server)
  yield* Postgres.prepare(config)
  const context = yield* Layer.build(
    PgClient.layer({ ...config, startupParameters: { ...config.startupParameters, statement_timeout: "0" } })
  )
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    say(`filling a database with ${scans} scans`)
    yield* fill
    const links = { url: (kind: string, id: string) => `${kind}/${id}`, verify: () => true }
    const records = yield* Records.make(links, Duration.hours(24))
    const corpus = yield* Corpus.make(records, block)
    const { statistics } = yield* Figures.make(records, corpus)
    const history = yield* History.make
    const started = performance.now()
    yield* Effect.repeat(corpus.seal(BigInt(scans)), { while: (isMore) => isMore })
    say(`     counting a block: ${((performance.now() - started) / Math.floor(scans / block)).toFixed(0)} ms`)
    yield* sql`VACUUM ANALYZE`

    const measure = Effect.fnUntraced(function* <E>(label: string, work: Effect.Effect<unknown, E>) {
      yield* work
      const { p50 } = yield* load({ concurrency: 1, millis, work: () => work })
      report(label, p50, target, "at most", "ms")
    })
    const filters: ReadonlyArray<readonly [string, Corpus.ScanFilter]> = [
      ["everything", {}],
      ["a frequent category", { category: "retail" }],
      ["a rare category", { category: "other" }],
      ["a region", { region: "mena" }],
      ["category and region", { category: "media", region: "mena" }],
      ["completed", { status: "completed" }],
      ["stale", { status: "stale" }],
      ["failed", { status: "failed" }],
      ["a range of scores", { min_score: 33, max_score: 77 }],
      ["the best", { min_score: 99 }],
      [
        "stale, category, region, scores",
        { status: "stale", category: "saas", region: "europe", min_score: 41, max_score: 90 }
      ]
    ]
    for (const [label, filter] of filters) {
      for (const limit of [20, 100]) {
        const { total } = yield* corpus.list(filter, { page: 1, limit })
        const pages = Math.ceil(total / limit)
        yield* measure(`${label}: page 1 of ${pages}`, corpus.list(filter, { page: 1, limit }))
        yield* measure(`${label}: the middle page`, corpus.list(filter, { page: Math.ceil(pages / 2), limit }))
        yield* measure(`${label}: the last page`, corpus.list(filter, { page: pages, limit }))
      }
    }
    const domain = "shop-7.com"
    yield* measure("the freshest of a domain", records.newest(domain))
    yield* measure("the history of a domain", history(domain, { page: 1, limit: 20 }, yield* records.stale))
    yield* measure("the corpus in numbers", statistics)
  }).pipe(Effect.provide(context))
})

await Effect.runPromise(main.pipe(Effect.scoped, Effect.provide(Reactivity.layer)))
