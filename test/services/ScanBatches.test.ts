import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ScanBatches } from "#services/ScanBatches.ts"
import { ScannerCredits } from "#services/ScannerCredits.ts"
import {
  another,
  asked,
  batchOf,
  broken,
  busy,
  created,
  notFound,
  orderOf,
  platform,
  scanAll,
  scannerDoes,
  scannerWorks,
  shops,
  untilAsked
} from "./ScanBatchesHarness.ts"
import { balance, linesOf, sound, statesOf, tenantWith } from "./ScannerCreditsHarness.ts"

layer(platform, { timeout: "60 seconds" })("a batch of scans", (it) => {
  it.effect("costs half a credit for each target, rounded up in sum, and is charged with its targets at once", () =>
    Effect.gen(function* () {
      yield* scannerWorks
      const tenant_id = yield* tenantWith(10)
      const { charged, record, remaining } = yield* created(tenant_id, shops(5))
      assert.deepStrictEqual([charged, remaining], [3, 7])
      assert.deepInclude(record, {
        status: "processing",
        total: 5,
        completed: 0,
        credits_charged: 3,
        credits_returned: 0
      })
      assert.deepStrictEqual(
        record.targets.map(({ domain, status }) => `${domain} ${status}`),
        shops(5).map(({ domain }) => `${domain} pending`)
      )
      yield* sound
      yield* scanAll
      const after = yield* batchOf(tenant_id, record.id)
      assert.deepInclude(after, { status: "completed", completed: 5, failed: 0, credits_returned: 0 })
      assert.isNotNull(after.completed_at)
      assert.isTrue(after.targets.every(({ readiness_score, scan_id }) => readiness_score === 72 && scan_id !== null))
      assert.deepStrictEqual(yield* statesOf(tenant_id), { earned: 1 })
      assert.strictEqual((yield* balance(tenant_id)).balance, 7)
      yield* sound
    })
  )

  it.effect("asks for each scan in the name of its tenant and request, with what the order says", () =>
    Effect.gen(function* () {
      yield* scannerWorks
      const tenant_id = yield* tenantWith(10)
      yield* asked
      const order = orderOf("Shop.COM.", { merchant_name: "Shop", merchant_category: "retail", country_code: "DE" })
      yield* created(tenant_id, [order])
      yield* scanAll
      assert.deepStrictEqual(yield* asked, [
        { buyer: { _tag: "Batch", tenant_id, source: "req_batch" }, order: { ...order, domain: "shop.com" } }
      ])
    })
  )

  it.effect("that the purse does not cover is refused whole and leaves nothing", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tenant_id = yield* tenantWith(2)
      const refused = yield* Effect.flip(created(tenant_id, shops(5)))
      assert.deepInclude(refused, { _tag: "INSUFFICIENT_CREDITS", balance: 2, required: 3 })
      assert.deepStrictEqual(yield* sql`SELECT 1 FROM scan_batches WHERE tenant_id = ${tenant_id}`, [])
      yield* sound
    })
  )

  it.effect("with a name that is no domain is refused whole, and costs nothing", () =>
    Effect.gen(function* () {
      const tenant_id = yield* tenantWith(2)
      const refused = yield* Effect.flip(created(tenant_id, [...shops(1), orderOf("127.0.0.1")]))
      assert.deepInclude(refused, { _tag: "DOMAIN_NOT_ALLOWED", domain: "127.0.0.1", reason: "IpAddress" })
      assert.strictEqual((yield* balance(tenant_id)).balance, 2)
    })
  )

  it.effect("has one target for a domain that is named twice", () =>
    Effect.gen(function* () {
      yield* scannerWorks
      const tenant_id = yield* tenantWith(2)
      const orders = [orderOf("a.com", { merchant_name: "first" }), orderOf("https://A.com/x"), orderOf("b.com")]
      const { charged, record } = yield* created(tenant_id, orders)
      assert.strictEqual(charged, 1)
      assert.deepStrictEqual(
        record.targets.map(({ domain }) => domain),
        ["a.com", "b.com"]
      )
      yield* scanAll
      yield* sound
    })
  )

  it.effect("of 500 targets is scanned to its end", () =>
    Effect.gen(function* () {
      yield* scannerWorks
      const tenant_id = yield* tenantWith(250)
      const { record } = yield* created(tenant_id, shops(500))
      yield* scanAll
      assert.deepInclude(yield* batchOf(tenant_id, record.id), { status: "completed", completed: 500 })
      assert.strictEqual((yield* balance(tenant_id)).balance, 0)
      yield* sound
    })
  )

  it.effect("is ordered and charged once under a key, by any process, and tells what is left now", () =>
    Effect.gen(function* () {
      yield* scannerWorks
      const tenant_id = yield* tenantWith(10)
      const claim = { tenant_id, operation: "scan_batches.create", key: "k", fingerprint: "f" }
      const { create } = yield* ScanBatches
      const names = { name: "Prospects", description: null }
      const first = yield* create(tenant_id, "req_1", shops(4), names, claim)
      assert.deepStrictEqual([first.charged, first.remaining, first.replayed], [2, 8, false])
      assert.deepStrictEqual(yield* batchOf(tenant_id, first.record.id), first.record)
      yield* created(tenant_id, shops(6))
      yield* scanAll
      for (const process of [create, (yield* another).create]) {
        const again = yield* process(tenant_id, "req_2", shops(4), names, claim)
        assert.deepStrictEqual(again, { record: first.record, charged: 0, remaining: 5, replayed: true })
      }
      const other = create(tenant_id, "req_3", shops(1), names, { ...claim, fingerprint: "g" })
      assert.strictEqual((yield* Effect.flip(other))._tag, "IDEMPOTENCY_KEY_REUSED")
      yield* sound
    })
  )

  it.effect("belongs to its tenant: nobody else reads or cancels it", () =>
    Effect.gen(function* () {
      const { cancel } = yield* ScanBatches
      const [tenant_id, stranger] = [yield* tenantWith(1), yield* tenantWith(1)]
      const { record } = yield* created(tenant_id, shops(1))
      for (const id of [record.id, "no id", "01a20000-0000-7000-8000-000000000000"]) {
        assert.strictEqual((yield* Effect.flip(batchOf(stranger, id)))._tag, "NOT_FOUND")
        assert.strictEqual((yield* Effect.flip(cancel(stranger, id)))._tag, "NOT_FOUND")
      }
      assert.strictEqual((yield* batchOf(tenant_id, record.id)).status, "processing")
      yield* scanAll
    })
  )

  it.effect("keeps its charge for as long as it takes", () =>
    Effect.gen(function* () {
      yield* scannerWorks
      const { returnAbandoned } = yield* ScannerCredits
      const tenant_id = yield* tenantWith(1)
      yield* created(tenant_id, shops(2))
      yield* TestClock.adjust("1 day")
      assert.strictEqual(yield* returnAbandoned, 0)
      yield* scanAll
      assert.deepStrictEqual(yield* statesOf(tenant_id), { earned: 1 })
    })
  )
})

layer(platform, { timeout: "60 seconds" })("a target", (it) => {
  it.effect(
    "that could not be looked at or reached has failed with a code, and what it cost is returned at the end",
    () =>
      Effect.gen(function* () {
        const tenant_id = yield* tenantWith(10)
        yield* scannerDoes((domain) => {
          if (domain === "gone.com") return notFound(domain)
          return Effect.succeed({ status: domain === "down.com" ? "failed" : "completed", readiness_score: null })
        })
        const { record } = yield* created(tenant_id, [...shops(3), orderOf("gone.com"), orderOf("down.com")])
        yield* scanAll
        const { targets, ...after } = yield* batchOf(tenant_id, record.id)
        assert.deepInclude(after, {
          status: "completed",
          completed: 3,
          failed: 2,
          credits_charged: 3,
          credits_returned: 1
        })
        assert.deepStrictEqual(
          targets.slice(3).map(({ error, scan_id, status }) => [status, error, scan_id === null]),
          [
            ["failed", "DOMAIN_NOT_ALLOWED", true],
            ["failed", "SITE_UNREACHABLE", false]
          ]
        )
        assert.deepStrictEqual(yield* balance(tenant_id), { balance: 8, granted_total: 10, consumed_total: 2 })
        const [line] = yield* linesOf(tenant_id, 1)
        assert.deepInclude(Object(line), { delta: 1, reason: "refund", source: "req_batch", balance_after: 8 })
        assert.deepInclude(line?.metadata, { charge_id: record.id, return_reason: "targets_not_scanned" })
        yield* sound
      })
  )

  it.effect("that was known already costs nothing", () =>
    Effect.gen(function* () {
      const tenant_id = yield* tenantWith(10)
      const earlier = yield* DateTime.nowAsDate
      yield* TestClock.adjust("1 hour")
      yield* scannerDoes((domain) => Effect.succeed(domain === "shop0.com" ? {} : { scanned_at: earlier }))
      const { record } = yield* created(
        tenant_id,
        shops(4).map((order) => ({ ...order, skip_if_fresh: true }))
      )
      yield* scanAll
      assert.deepInclude(yield* batchOf(tenant_id, record.id), {
        completed: 4,
        credits_charged: 2,
        credits_returned: 1
      })
      assert.strictEqual((yield* balance(tenant_id)).balance, 9)
      yield* sound
    })
  )

  it.effect("waits while the scanner is busy, and is scanned when it has time", () =>
    Effect.gen(function* () {
      const tenant_id = yield* tenantWith(1)
      yield* scannerDoes(() => busy)
      const { record } = yield* created(tenant_id, shops(1))
      yield* scanAll
      assert.strictEqual((yield* batchOf(tenant_id, record.id)).targets[0]?.status, "pending")
      yield* scannerWorks
      yield* TestClock.adjust("1999 millis")
      yield* scanAll
      assert.strictEqual((yield* batchOf(tenant_id, record.id)).completed, 0)
      yield* TestClock.adjust("1 millis")
      yield* scanAll
      assert.strictEqual((yield* batchOf(tenant_id, record.id)).completed, 1)
      yield* sound
    })
  )

  for (const [what, behaviour, times] of [
    ["fails", () => broken, 3],
    ["breaks", () => Effect.die("simulated"), 10],
    ["stays busy", () => busy, 10]
  ] as const) {
    it.effect(`is given up when the scanner ${what} ${times} times, and costs nothing`, () =>
      Effect.gen(function* () {
        const tenant_id = yield* tenantWith(1)
        yield* scannerDoes(behaviour)
        yield* asked
        const { record } = yield* created(tenant_id, shops(1))
        for (let round = 0; round < 12; round++) {
          yield* scanAll
          yield* TestClock.adjust("6 minutes")
        }
        const { failed, targets } = yield* batchOf(tenant_id, record.id)
        assert.deepStrictEqual([failed, targets[0]?.error], [1, "SCANNER_UNAVAILABLE"])
        assert.strictEqual((yield* asked).length, times)
        assert.strictEqual((yield* balance(tenant_id)).balance, 1)
        yield* sound
      })
    )
  }

  it.effect("of which the scanner says nothing for a minute is tried again", () =>
    Effect.gen(function* () {
      const { scanDue } = yield* ScanBatches
      const tenant_id = yield* tenantWith(1)
      yield* scannerDoes(() => Effect.never)
      yield* asked
      const { record } = yield* created(tenant_id, shops(1))
      const scanning = yield* Effect.forkChild(scanDue)
      yield* untilAsked(1)
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual(yield* Fiber.join(scanning), 1)
      assert.strictEqual((yield* batchOf(tenant_id, record.id)).targets[0]?.status, "pending")
      yield* scannerWorks
      yield* TestClock.adjust("1 second")
      yield* scanAll
      assert.strictEqual((yield* batchOf(tenant_id, record.id)).status, "completed")
      yield* sound
    })
  )

  it.effect("of a small batch need not wait for a large one that came before", () =>
    Effect.gen(function* () {
      const { scanDue } = yield* ScanBatches
      yield* scannerWorks
      const [large, small] = [yield* tenantWith(50), yield* tenantWith(1)]
      yield* created(large, shops(100))
      yield* TestClock.adjust("1 second")
      const { record } = yield* created(small, shops(2))
      yield* scanDue
      assert.strictEqual((yield* batchOf(small, record.id)).completed, 2)
      yield* scanAll
    })
  )
})
