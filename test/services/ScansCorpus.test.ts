import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { MerchantCategory, type MerchantScan, Region, ScanStatus } from "#domain/Scan.ts"
import { promises } from "#services/Doctor/Scans.ts"
import type { ScanFilter } from "#services/Scans/Corpus.ts"
import { Scans } from "#services/Scans.ts"
import { aDomain, findings, platform, scan, Stage } from "./ScansHarness.ts"
import { dice } from "./StatisticsHarness.ts"

/** What the list says of a filter, by looking at every record. */
const expected = (all: ReadonlyArray<MerchantScan>, filter: ScanFilter) =>
  all.filter(
    (one) =>
      (filter.category === undefined || one.merchant_category === filter.category) &&
      (filter.region === undefined || one.region === filter.region) &&
      (filter.status === undefined || one.status === filter.status) &&
      (filter.min_score === undefined || (one.readiness_score ?? -1) >= filter.min_score) &&
      (filter.max_score === undefined || (one.readiness_score ?? 101) <= filter.max_score)
  )
const optional = <A>(roll: (bound: number) => number, values: ReadonlyArray<A>) =>
  roll(2) === 0 ? undefined : values[roll(values.length)]
const scores = [0, 1, 20, 39, 40, 41, 60, 99, 100]
const aFilter = (roll: (bound: number) => number): ScanFilter => ({
  category: optional(roll, MerchantCategory.literals.slice(0, 3)),
  region: optional(roll, Region.literals.slice(0, 2)),
  status: optional(roll, ScanStatus.literals),
  min_score: optional(roll, scores),
  max_score: optional(roll, scores)
})

layer(platform({ block: 7 }), { timeout: "60 seconds" })("the corpus", (it) => {
  it.effect("is listed by any filter, any page and at any time as its records say", () =>
    Effect.gen(function* () {
      const roll = dice(11)
      const [scans, stage] = [yield* Scans, yield* Stage]
      const ids: Array<MerchantScan["id"]> = []
      const domains = Array.from({ length: 12 }, aDomain)
      for (let round = 0; round < 8; round++) {
        for (let one = 0; one < 6; one++) {
          const isFailed = roll(6) === 0
          const readiness_score = isFailed || roll(8) === 0 ? null : (scores[roll(scores.length)] ?? null)
          stage.scan = () => Effect.succeed(findings({ status: isFailed ? "failed" : "completed", readiness_score }))
          const { record } = yield* scan(domains[roll(domains.length)] ?? "", {
            merchant_category: optional(roll, MerchantCategory.literals.slice(0, 3)) ?? null,
            region: optional(roll, Region.literals.slice(0, 2)) ?? null
          })
          ids.unshift(record.id)
          if (roll(2) === 0) yield* TestClock.adjust(roll(5_000_000))
        }
        const all = yield* Effect.forEach(ids, (id) => scans.get(id))
        for (let look = 0; look < 12; look++) {
          const filter = aFilter(roll)
          const limit = 1 + roll(9)
          const page = 1 + roll(7)
          const { data, total } = yield* scans.list(filter, { page, limit })
          const wanted = expected(all, filter)
          const shown = wanted.slice((page - 1) * limit, page * limit)
          assert.deepStrictEqual([total, data], [wanted.length, shown], JSON.stringify({ filter, page, limit }))
        }
        const { by_band, by_category, by_status, domains: merchants, total } = yield* scans.statistics
        const count = (is: (one: MerchantScan) => boolean) => all.filter(is).length
        assert.deepStrictEqual([total, merchants], [all.length, new Set(all.map(({ domain }) => domain)).size])
        for (const status of ScanStatus.literals) {
          assert.strictEqual(
            by_status[status],
            count((one) => one.status === status),
            status
          )
        }
        assert.strictEqual(
          by_category["retail"]?.scans,
          count((one) => one.merchant_category === "retail")
        )
        assert.strictEqual(
          by_category["unknown"]?.scans,
          count((one) => one.merchant_category === null)
        )
        assert.deepStrictEqual(by_band, {
          ready: count(({ readiness_score }) => readiness_score !== null && readiness_score >= 80),
          mostly_ready: count(({ readiness_score: s }) => s !== null && s >= 60 && s < 80),
          partly_ready: count(({ readiness_score: s }) => s !== null && s >= 40 && s < 60),
          not_ready: count(({ readiness_score: s }) => s !== null && s < 40)
        })
      }
      const sql = yield* SqlClient.SqlClient
      for (const { promise, query } of promises(sql)) assert.deepStrictEqual([promise, yield* query], [promise, []])
    })
  )

  it.effect("counts the domains that speak a protocol by their newest completed scan", () =>
    Effect.gen(function* () {
      const [scans, stage] = [yield* Scans, yield* Stage]
      const result = { confidence: "high", version: null, detection_method: null, endpoint_url: null } as const
      const spoken = (protocol: "ucp" | "mcp", status: "confirmed" | "not_detected") => ({
        ...result,
        protocol,
        status,
        capabilities: [],
        is_functional: null,
        response_time_ms: null,
        problems: []
      })
      const [one, other] = [aDomain(), aDomain()]
      const says = (...protocol_results: ReadonlyArray<ReturnType<typeof spoken>>) => {
        stage.scan = () => Effect.succeed(findings({ protocol_results }))
      }
      says(spoken("ucp", "confirmed"), spoken("mcp", "confirmed"))
      yield* scan(one)
      yield* scan(other)
      says(spoken("ucp", "confirmed"), spoken("mcp", "not_detected"))
      yield* scan(one)
      stage.scan = () => Effect.succeed(findings({ status: "failed", readiness_score: null }))
      yield* scan(other)
      const { protocol_adoption } = yield* scans.statistics
      assert.deepInclude(protocol_adoption, { ucp: 2, mcp: 1, acp: 0 })
    })
  )
})
