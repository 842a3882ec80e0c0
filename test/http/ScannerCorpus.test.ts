import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as WellBuilt from "../shops/WellBuilt.ts"
import { ScanBatches } from "#services/ScanBatches.ts"
import { newUuid } from "#services/NewId.ts"
import { type Answer, server } from "./GatewayHarness.ts"
import { customer, scansOf, testsOf, visited } from "./ScannerHarness.ts"

const ids = ({ json }: Answer) => json.data.map(({ id }: { readonly id: string }) => id)

layer(server, { timeout: "60 seconds", excludeTestServices: true })("the corpus", (it) => {
  it.effect("knows a domain by every spelling of it, in bodies and in paths", () =>
    Effect.gen(function* () {
      const shop = yield* visited(WellBuilt.open)
      const { call } = yield* customer()
      const { json } = yield* call("POST", "/v1/scanner/scan", { domain: shop.domain })
      const spellings = [
        shop.domain,
        encodeURIComponent(shop.domain),
        encodeURIComponent(`HTTP://${shop.domain}/cart?x=1#y`),
        encodeURIComponent(` ${shop.domain} `)
      ]
      for (const spelling of spellings) {
        assert.strictEqual((yield* call("GET", `/v1/scanner/scans/by-domain/${spelling}`)).json.id, json.id, spelling)
        assert.strictEqual(
          (yield* call("GET", `/v1/scanner/scans/by-domain/${spelling}/history`)).json.data[0].id,
          json.id
        )
        assert.strictEqual((yield* call("GET", `/v1/scanner/tests/${spelling}`)).status, 200)
      }
      for (const unknown of ["nobody-scanned.com", "NOBODY-SCANNED.COM", "n%C3%B6body.com", "xn--nbody-jua.com"]) {
        for (const path of [
          `/v1/scanner/scans/by-domain/${unknown}`,
          `/v1/scanner/scans/by-domain/${unknown}/history`
        ]) {
          assert.deepStrictEqual(
            [(yield* call("GET", path)).status, (yield* call("GET", path)).json.code],
            [404, "NOT_FOUND"]
          )
        }
      }
      for (const wrong of ["127.0.0.1", "shop", "a%0Ab.com", "%20", "printer.local", "..%2F..%2Fetc"]) {
        for (const path of [`/v1/scanner/scans/by-domain/${wrong}`, `/v1/scanner/tests/${wrong}`]) {
          assert.strictEqual((yield* call("GET", path)).json.code, "DOMAIN_NOT_ALLOWED", path)
        }
      }
    })
  )

  it.effect("is one for all tenants: whoever may read reads what others have scanned", () =>
    Effect.gen(function* () {
      const shop = yield* visited(WellBuilt.open)
      const [one, other] = [yield* customer(), yield* customer(0)]
      const { body, json } = yield* one.call("POST", "/v1/scanner/scan", { domain: shop.domain })
      const test = yield* one.call("POST", "/v1/scanner/tests", { domain: shop.domain, test_type: "browse" })
      assert.strictEqual((yield* other.call("GET", `/v1/scanner/scan/${json.id}`)).body, body)
      assert.strictEqual((yield* other.call("GET", scansOf(shop.domain))).body, body)
      assert.deepStrictEqual(ids(yield* other.call("GET", testsOf(shop.domain))), [test.json.id])
      assert.include(ids(yield* other.call("GET", "/v1/scanner/scans")), json.id)
    })
  )

  it.effect("is listed by category, region, status and score, in pages from 1", () =>
    Effect.gen(function* () {
      const { call } = yield* customer()
      const made: Array<Record<string, unknown>> = []
      for (let count = 0; count < 3; count++) {
        const { domain } = yield* visited(WellBuilt.open)
        const words = { domain, merchant_category: "travel", region: "apac" }
        made.unshift((yield* call("POST", "/v1/scanner/scan", words)).json)
      }
      const mine = made.map(({ id }) => id)
      const list = (query: string) => call("GET", `/v1/scanner/scans?category=travel&region=apac&${query}`)
      const score = Number(made[0]?.["readiness_score"])
      const all = yield* list("")
      assert.deepStrictEqual(ids(all), mine)
      assert.deepStrictEqual(all.json.pagination, { page: 1, limit: 20, total: 3, totalPages: 1 })
      assert.deepStrictEqual(ids(yield* list("page=2&limit=2")), mine.slice(2))
      assert.deepStrictEqual((yield* list("page=2&limit=2")).json.pagination, {
        page: 2,
        limit: 2,
        total: 3,
        totalPages: 2
      })
      assert.deepStrictEqual(ids(yield* list("page=3&limit=2")), [])
      assert.deepStrictEqual(ids(yield* list(`status=completed&min_score=${score}&max_score=${score}`)), mine)
      for (const none of [`min_score=${score + 1}`, `max_score=${score - 1}`, "status=failed", "status=stale"]) {
        assert.deepStrictEqual(ids(yield* list(none)), [], none)
      }
      assert.deepStrictEqual(ids(yield* call("GET", "/v1/scanner/scans?category=travel&region=mena")), [])
      const pages = ["page=0", "page=x", "limit=0", "limit=101", "limit=1.5"]
      const filters = ["category=shoes", "region=US", "status=done", "min_score=-1", "max_score=101", "min_score="]
      for (const query of [...pages, ...filters]) {
        const answer = yield* call("GET", `/v1/scanner/scans?${query}`)
        assert.deepStrictEqual([answer.status, answer.json.code], [400, "INVALID_REQUEST"], query)
        assert.strictEqual(answer.json.details.errors[0].path, query.split("=")[0])
      }
      for (const limit of ["0", "101", "x"]) {
        for (const path of [testsOf("a.com"), `${scansOf("a.com")}/history`]) {
          assert.strictEqual((yield* call("GET", `${path}?limit=${limit}`)).status, 400, path)
        }
      }
    })
  )

  it.effect("tells how a shop changed from one scan to the next", () =>
    Effect.gen(function* () {
      let isShut = false
      const shop = yield* visited(
        WellBuilt.openWith((pages) => (request, response, base) => {
          if (isShut && request.url === "/llms.txt") return void response.writeHead(404).end()
          return pages(request, response, base)
        })
      )
      const { call } = yield* customer()
      const before = yield* call("POST", "/v1/scanner/scan", { domain: shop.domain })
      isShut = true
      const after = yield* call("POST", "/v1/scanner/scan", { domain: shop.domain })
      const { json } = yield* call("GET", `${scansOf(shop.domain)}/history`)
      assert.deepStrictEqual(
        json.data.map(({ id }: { readonly id: string }) => id),
        [after.json.id, before.json.id]
      )
      assert.deepStrictEqual(json.pagination, { page: 1, limit: 20, total: 2, totalPages: 1 })
      assert.strictEqual(json.data[0].changes.score_delta, after.json.readiness_score - before.json.readiness_score)
      const { status } = after.json.checks.find(({ id }: { readonly id: string }) => id === "llms_txt")
      assert.notStrictEqual(status, "pass")
      assert.deepStrictEqual(json.data[0].changes.checks, [{ id: "llms_txt", from: "pass", to: status }])
      assert.isNull(json.data[1].changes)
      assert.strictEqual((yield* call("GET", scansOf(shop.domain))).json.id, after.json.id)
    })
  )

  it.effect("is counted in all", () =>
    Effect.gen(function* () {
      const { call } = yield* customer()
      const before = (yield* call("GET", "/v1/scanner/scans/stats")).json
      const { domain } = yield* visited(WellBuilt.open)
      yield* call("POST", "/v1/scanner/scan", { domain, merchant_category: "healthcare" })
      yield* call("POST", "/v1/scanner/scan", { domain, merchant_category: "healthcare" })
      const { json } = yield* call("GET", "/v1/scanner/scans/stats")
      assert.deepStrictEqual([json.total - before.total, json.domains - before.domains], [2, 1])
      assert.strictEqual(json.by_category.healthcare.scans - before.by_category.healthcare.scans, 2)
      assert.strictEqual(json.by_status.completed - before.by_status.completed, 2)
    })
  )

  it.effect("is filled by batches, which belong to whoever ordered them", () =>
    Effect.gen(function* () {
      const shops = [yield* visited(WellBuilt.open), yield* visited(WellBuilt.open), yield* visited(WellBuilt.open)]
      const [one, other] = [yield* customer(10), yield* customer(10)]
      const targets = shops.map(({ domain }) => ({ domain }))
      const made = yield* one.call("POST", "/v1/scanner/scan/batch", { targets: [...targets, targets[0]] })
      assert.deepStrictEqual([made.status, made.headers["x-credits-remaining"]], [202, "8"], made.body)
      assert.include(made.json, { status: "processing", total: 3, credits_charged: 2, credits_returned: 0 })
      const path = `/v1/scanner/scan/batch/${made.json.id}`
      for (const [method, at] of [
        ["GET", path],
        ["POST", `${path}/cancel`]
      ] as const) {
        const { json, status } = yield* other.call(method, at)
        assert.deepStrictEqual([status, json.code], [404, "NOT_FOUND"], at)
      }
      const { scanDue } = yield* ScanBatches
      yield* Effect.repeat(scanDue, {
        until: () => Effect.map(one.call("GET", path), ({ json }) => json.status !== "processing")
      })
      const { json } = yield* one.call("GET", path)
      assert.include(json, { status: "completed", completed: 3, failed: 0, credits_returned: 0 })
      for (const [index, { domain, scan_id }] of json.targets.entries()) {
        assert.strictEqual(domain, shops[index]?.domain)
        assert.strictEqual((yield* other.call("GET", scansOf(domain))).json.id, scan_id)
      }
    })
  )

  it.effect("takes a batch as domains, under a name, with one word on what is fresh for all that say none", () =>
    Effect.gen(function* () {
      const [fresh, anew] = [yield* visited(WellBuilt.open), yield* visited(WellBuilt.open)]
      const { call } = yield* customer(10)
      const known: Array<string> = []
      for (const { domain } of [fresh, anew]) known.push((yield* call("POST", "/v1/scanner/scan", { domain })).json.id)
      const names = { name: "Prospects", description: "Of this week" }
      const made = yield* call("POST", "/v1/scanner/scan/batch", {
        ...names,
        domains: [{ domain: fresh.domain }, { domain: anew.domain, skip_if_fresh: false }],
        skip_if_fresh: true
      })
      assert.strictEqual(made.status, 202, made.body)
      assert.include(made.json, names)
      const path = `/v1/scanner/scan/batch/${made.json.id}`
      yield* Effect.repeat((yield* ScanBatches).scanDue, {
        until: () => Effect.map(call("GET", path), ({ json }) => json.status !== "processing")
      })
      const { json } = yield* call("GET", path)
      assert.include(json, names)
      assert.deepStrictEqual(
        json.targets.map(({ scan_id }: { readonly scan_id: string }) => known.includes(scan_id)),
        [true, false]
      )
      const both = yield* call("POST", "/v1/scanner/scan/batch", {
        targets: [{ domain: fresh.domain }],
        domains: [{ domain: fresh.domain }]
      })
      assert.deepStrictEqual([both.status, both.json.details.errors[0].path], [400, "domains"])
    })
  )

  it.effect("gives the credits of a cancelled batch back", () =>
    Effect.gen(function* () {
      const { domain } = yield* visited(WellBuilt.open)
      const { call } = yield* customer(10)
      const made = yield* call("POST", "/v1/scanner/scan/batch", { targets: [{ domain }] })
      const cancelled = yield* call("POST", `/v1/scanner/scan/batch/${made.json.id}/cancel`)
      assert.deepStrictEqual([cancelled.status, cancelled.headers["x-credits-remaining"]], [200, "10"])
      assert.include(cancelled.json, { status: "cancelled", cancelled: 1, credits_returned: 1 })
      assert.deepStrictEqual(
        (yield* call("POST", `/v1/scanner/scan/batch/${made.json.id}/cancel`)).json,
        cancelled.json
      )
      assert.strictEqual((yield* call("GET", `/v1/scanner/scan/batch/${newUuid()}`)).status, 404)
    })
  )

  it.effect("takes nothing that is not an order", () =>
    Effect.gen(function* () {
      const { call } = yield* customer(10)
      const domain = "shop.example.com"
      const scans: Readonly<Record<string, object>> = {
        domain: {},
        "domain null": { domain: null },
        "domain number": { domain: 1 },
        "domain empty": { domain: "" },
        "domain long": { domain: "a".repeat(2_049) },
        merchant_name: { domain, merchant_name: "x".repeat(256) },
        merchant_category: { domain, merchant_category: "shoes" },
        country_code: { domain, country_code: "USA" },
        "country_code of nobody": { domain, country_code: "ZZ" },
        region: { domain, region: "US" },
        skip_if_fresh: { domain, skip_if_fresh: "yes" },
        url: { domain, url: "https://shop.example.com" }
      }
      for (const [name, body] of Object.entries(scans)) {
        const [field = ""] = name.split(" ")
        for (const [path, sent, at] of [
          ["/v1/scanner/scan", body, field],
          ["/v1/scanner/scan/batch", { targets: [{ domain }, body] }, `targets.1.${field}`]
        ] as const) {
          const { json, status } = yield* call("POST", path, sent)
          assert.deepStrictEqual([status, json.code, json.details.errors[0].path], [400, "INVALID_REQUEST", at], name)
        }
      }
      const tests = [{}, { domain, test_type: "buy" }, { domain, test_type: null }, { domain, more: 1 }]
      for (const body of tests) assert.strictEqual((yield* call("POST", "/v1/scanner/tests", body)).status, 400)
      const targets = Array.from({ length: 501 }, (_, index) => ({ domain: `shop-${index}.com` }))
      for (const body of [{}, { targets: [] }, { targets }, { targets: {} }]) {
        assert.strictEqual((yield* call("POST", "/v1/scanner/scan/batch", body)).status, 400)
      }
      assert.strictEqual((yield* call("GET", "/v1/scanner/credits/balance")).json.balance, 10)
    })
  )
})
