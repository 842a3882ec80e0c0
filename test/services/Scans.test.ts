import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import { ScanId } from "#domain/Scan.ts"
import { newId } from "#services/NewId.ts"
import * as ReportLinks from "#services/Scans/ReportLinks.ts"
import { Scans } from "#services/Scans.ts"
import { tenantWith } from "./ScannerCreditsHarness.ts"
import { aDomain, by, findings, gate, left, platform, rich, scan, somebody, Stage, told } from "./ScansHarness.ts"

layer(platform(), { timeout: "60 seconds" })("a scan", (it) => {
  it.effect("costs a credit, is kept, and is told to the tenant that asked, but not who that was", () =>
    Effect.gen(function* () {
      const buyer = yield* rich
      const domain = aDomain()
      const { charged, record, remaining } = yield* scan(`HTTPS://${domain.toUpperCase()}/x`, {}, buyer)
      assert.deepInclude(record, { domain, status: "completed", readiness_score: 70 })
      assert.deepStrictEqual([charged, remaining, yield* left(buyer)], [1, 99, 99])
      const scans = yield* Scans
      assert.deepStrictEqual(yield* scans.get(record.id), record)
      assert.deepStrictEqual(yield* scans.freshest(domain), record)
      const [fact, ...others] = yield* told(buyer)
      assert.deepStrictEqual(others, [])
      assert.strictEqual(fact?.["type"], "scan.completed")
      assert.deepInclude(Object(fact?.["data"]).scan, { id: record.id, readiness_score: 70 })
      assert.notInclude(JSON.stringify([record, fact?.["data"]]), buyer._tag === "Tenant" ? buyer.tenant_id : "")
    })
  )

  it.effect("that somebody paid for costs no credit and is told to nobody", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const count = sql`SELECT event_seq FROM ledger_head WHERE log = 1`
      const before = yield* count
      const { charged, remaining } = yield* scan(aDomain())
      assert.deepStrictEqual([charged, remaining], [0, undefined])
      assert.deepStrictEqual(yield* count, before)
    })
  )

  it.effect("of a batch costs nothing of its own, and is told", () =>
    Effect.gen(function* () {
      const tenant_id = yield* tenantWith(0)
      const { charged } = yield* scan(aDomain(), {}, { _tag: "Batch", tenant_id, source: "batch" })
      assert.strictEqual(charged, 0)
      assert.strictEqual((yield* told(by(tenant_id))).length, 1)
    })
  )

  it.effect("is fresh until it is 24 hours old, to the millisecond, and stale from then on", () =>
    Effect.gen(function* () {
      const buyer = yield* rich
      const domain = aDomain()
      const first = yield* scan(domain, {}, buyer)
      yield* TestClock.adjust(24 * 3_600_000 - 1)
      const cached = yield* scan(domain, { skip_if_fresh: true }, buyer)
      assert.deepStrictEqual([cached.record, cached.charged, cached.remaining], [first.record, 0, 99])
      yield* TestClock.adjust(1)
      const scans = yield* Scans
      assert.strictEqual((yield* scans.get(first.record.id)).status, "stale")
      const second = yield* scan(domain, { skip_if_fresh: true }, buyer)
      assert.deepStrictEqual([second.charged, second.remaining], [1, 98])
      assert.notStrictEqual(second.record.id, first.record.id)
      assert.strictEqual((yield* told(buyer)).length, 2)
    })
  )

  it.effect("runs again when asked, at the same moment too", () =>
    Effect.gen(function* () {
      const domain = aDomain()
      const first = yield* scan(domain)
      const second = yield* scan(domain)
      assert.notStrictEqual(second.record.id, first.record.id)
    })
  )

  it.effect("of a site that cannot be reached is an answer: kept, paid for, and never fresh", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const buyer = yield* rich
      const domain = aDomain()
      const { scan: usual } = stage
      stage.scan = () =>
        Effect.succeed(findings({ status: "failed", readiness_score: null, error_message: "It does not answer" }))
      const { charged, record } = yield* scan(domain, {}, buyer)
      assert.deepStrictEqual([record.status, charged], ["failed", 1])
      stage.scan = usual
      assert.strictEqual((yield* scan(domain, { skip_if_fresh: true }, buyer)).charged, 1)
    })
  )

  it.effect("keeps what a site says that cannot be stored as text", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { scan: usual } = stage
      stage.scan = () => Effect.succeed(findings({ error_message: "a\u0000b\ud800", platform: "x" }))
      const { record } = yield* scan(aDomain(), {}, yield* rich)
      stage.scan = usual
      assert.strictEqual(record.error_message, "a\ufffdb\ufffd")
      assert.deepStrictEqual(yield* (yield* Scans).get(record.id), record)
    })
  )

  it.effect("without enough credits is not begun", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const domain = aDomain()
      const refused = yield* Effect.flip(scan(domain, {}, by(yield* tenantWith(0))))
      assert.deepInclude(refused, { _tag: "INSUFFICIENT_CREDITS", balance: 0, required: 1 })
      assert.notInclude(stage.looked, domain)
    })
  )

  it.effect("of what is no domain costs nothing", () =>
    Effect.gen(function* () {
      const buyer = yield* rich
      for (const domain of ["10.0.0.1", "localhost", "shop", "a b"]) {
        assert.strictEqual((yield* Effect.flip(scan(domain, {}, buyer)))._tag, "DOMAIN_NOT_ALLOWED")
      }
      assert.strictEqual(yield* left(buyer), 100)
    })
  )

  it.effect("that is refused on the way, or fails by our fault, gives the credit back and leaves nothing", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const sql = yield* SqlClient.SqlClient
      const { scan: usual } = stage
      const buyer = yield* rich
      const domain = aDomain()
      stage.scan = () => Effect.fail(new DomainNotAllowed({ domain, reason: "NameNotFound" }))
      assert.strictEqual((yield* Effect.flip(scan(domain, {}, buyer)))._tag, "DOMAIN_NOT_ALLOWED")
      stage.scan = () => Effect.die("a mistake of ours")
      assert.deepInclude(yield* Effect.flip(scan(domain, {}, buyer)), { _tag: "SCANNER_UNAVAILABLE", reason: "Failed" })
      stage.scan = usual
      assert.strictEqual(yield* left(buyer), 100)
      assert.deepStrictEqual(yield* told(buyer), [])
      assert.deepStrictEqual(yield* sql`SELECT id FROM scanner_work`, [])
      assert.strictEqual((yield* Effect.flip((yield* Scans).freshest(domain)))._tag, "NOT_FOUND")
    })
  )

  it.effect("that takes too long is given up", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { scan: usual } = stage
      const buyer = yield* rich
      const { entered, through } = yield* gate
      stage.scan = () => Effect.andThen(through, usual(""))
      const waiting = yield* Effect.forkChild(Effect.flip(scan(aDomain(), {}, buyer)))
      yield* entered
      yield* TestClock.adjust("60 seconds")
      assert.deepInclude(yield* Fiber.join(waiting), { _tag: "SCANNER_UNAVAILABLE", reason: "Failed" })
      stage.scan = usual
      assert.strictEqual(yield* left(buyer), 100)
    })
  )

  it.effect("is seen while it runs", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const scans = yield* Scans
      const { scan: usual } = stage
      const domain = aDomain()
      const { entered, open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, usual(domain))
      const waiting = yield* Effect.forkChild(scan(domain, { merchant_category: "media" }))
      yield* entered
      const { data, total } = yield* scans.list({ status: "scanning", category: "media" }, { page: 1, limit: 10 })
      assert.strictEqual(total, 1)
      assert.deepInclude(data[0], { domain, status: "scanning", readiness_score: null, scanned_at: null })
      const id = data[0]?.id ?? (yield* newId(ScanId))
      assert.strictEqual((yield* scans.get(id)).status, "scanning")
      assert.strictEqual((yield* scans.statistics).by_status.scanning, 1)
      yield* open
      stage.scan = usual
      assert.strictEqual((yield* Fiber.join(waiting)).record.id, id)
      assert.strictEqual((yield* scans.get(id)).status, "completed")
    })
  )

  it.effect("has a report that its address opens and no other", () =>
    Effect.gen(function* () {
      const { record } = yield* scan(aDomain())
      const { verify } = yield* ReportLinks.make
      const url = new URL(record.report_url)
      assert.strictEqual(`${url.origin}${url.pathname}`, `http://scanner.test/v1/scanner/scan/${record.id}/report`)
      const signature = url.searchParams.get("signature") ?? ""
      assert.isTrue(verify("scan", record.id, signature))
      assert.isTrue(verify("scan", record.id.toUpperCase(), signature))
      assert.isFalse(verify("test", record.id, signature))
      assert.isFalse(verify("scan", yield* newId(ScanId), signature))
      assert.isFalse(verify("scan", record.id, ""))
    })
  )

  it.effect("has a history: what became better and worse since the one before", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const scans = yield* Scans
      const { scan: usual } = stage
      const domain = aDomain()
      stage.scan = () => Effect.succeed(findings({ readiness_score: 40 }, { a: "fail", b: "pass", c: "warn" }))
      const first = yield* scan(domain)
      stage.scan = () => Effect.succeed(findings({ readiness_score: 55 }, { a: "pass", b: "pass", d: "unknown" }))
      yield* scan(domain)
      stage.scan = () => Effect.succeed(findings({ status: "failed", readiness_score: null }))
      yield* scan(domain)
      stage.scan = usual
      const page = (page: number, limit: number) => scans.history(domain, { page, limit })
      const { data, total } = yield* page(1, 10)
      const [third, second, oldest] = data
      assert.strictEqual(total, 3)
      assert.deepInclude(third, { status: "failed", readiness_score: null })
      assert.strictEqual(third?.changes?.score_delta, null)
      assert.deepStrictEqual(second?.changes, {
        score_delta: 15,
        checks: [
          { id: "a", from: "fail", to: "pass" },
          { id: "c", from: "warn", to: null },
          { id: "d", from: null, to: "unknown" }
        ]
      })
      assert.deepInclude(oldest, { id: first.record.id, changes: null, protocol_score: 40 })
      for (const [place, one] of data.entries()) {
        assert.deepStrictEqual(yield* page(place + 1, 1), { data: [one], total: 3 })
      }
      assert.deepStrictEqual(yield* page(2, 3), { data: [], total: 3 })
      const unheardOf = scans.history(aDomain(), { page: 1, limit: 1 })
      assert.strictEqual((yield* Effect.flip(unheardOf))._tag, "NOT_FOUND")
    })
  )
})

layer(platform(), { timeout: "60 seconds" })("a hundred who ask for one domain", (it) => {
  it.effect("share one look at it; each pays, and each tenant is told once", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { scan: usual } = stage
      const domain = aDomain()
      const buyers = yield* Effect.all(Array.from({ length: 20 }, () => rich))
      const { open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, usual(domain))
      const callers = Array.from({ length: 100 }, (_, place) => buyers[place % 20] ?? somebody)
      const waiting = yield* Effect.forkChild(
        Effect.forEach(callers, (buyer) => scan(domain, {}, buyer), { concurrency: 100 })
      )
      const sql = yield* SqlClient.SqlClient
      yield* Effect.repeat(sql`SELECT count(*)::int AS n FROM credit_charges WHERE state = 'open'`, {
        until: ([row]) => row?.["n"] === 100
      })
      yield* open
      const results = yield* Fiber.join(waiting)
      assert.deepStrictEqual(stage.looked, [domain])
      assert.strictEqual(new Set(results.map(({ record }) => record.id)).size, 1)
      for (const buyer of buyers) {
        assert.deepStrictEqual([yield* left(buyer), (yield* told(buyer)).length], [95, 1])
      }
    })
  )
})
