import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as HtmlShop from "../shops/HtmlShop.ts"
import * as WellBuilt from "../shops/WellBuilt.ts"
import { type Answer, server } from "./GatewayHarness.ts"
import { callerWith, customer, scansOf, testsOf, visited } from "./ScannerHarness.ts"

const left = ({ headers }: Answer) => headers["x-credits-remaining"]
const refusal = ({ json, status }: Answer) => [status, json.code]

layer(server, { timeout: "60 seconds", excludeTestServices: true })("the scanner", (it) => {
  it.effect("scans a shop for one credit and says what is left", () =>
    Effect.gen(function* () {
      const shop = yield* visited(WellBuilt.open)
      const { call } = yield* customer(10)
      const answer = yield* call("POST", "/v1/scanner/scan", {
        domain: `HTTP://${shop.domain.toUpperCase()}/products?x=1`,
        merchant_name: "Paper & Brass",
        merchant_category: "retail",
        country_code: "us",
        region: "north_america"
      })
      assert.deepStrictEqual([answer.status, left(answer)], [200, "9"], answer.body)
      const { json } = answer
      assert.include(json, {
        domain: shop.domain,
        status: "completed",
        merchant_name: "Paper & Brass",
        merchant_category: "retail",
        country_code: "US",
        region: "north_america"
      })
      assert.isAtLeast(json.readiness_score, 60)
      assert.deepStrictEqual((yield* call("GET", `/v1/scanner/scan/${json.id}`)).json, json)
      const { json: balance } = yield* call("GET", "/v1/scanner/credits/balance")
      assert.deepStrictEqual(balance, { balance: 9, granted_total: 10, consumed_total: 1 })
    })
  )

  it.effect("gives a fresh scan again for nothing, to whoever asks, without going there", () =>
    Effect.gen(function* () {
      const shop = yield* visited(WellBuilt.open)
      const [first, other] = [yield* customer(1), yield* customer(0)]
      const { json } = yield* first.call("POST", "/v1/scanner/scan", { domain: shop.domain })
      const asked = shop.asked.length
      for (const [{ call }, remaining] of [
        [first, "0"],
        [other, "0"]
      ] as const) {
        const again = yield* call("POST", "/v1/scanner/scan", { domain: shop.domain, skip_if_fresh: true })
        assert.deepStrictEqual([again.status, left(again), again.json.id], [200, remaining, json.id], again.body)
      }
      assert.strictEqual(shop.asked.length, asked)
    })
  )

  it.effect("does nothing for whoever has too few credits, and says how many there are and are needed", () =>
    Effect.gen(function* () {
      const shop = yield* visited(WellBuilt.open)
      const [none, four] = [yield* customer(0), yield* customer(4)]
      const orders = [
        [none, "/v1/scanner/scan", { domain: shop.domain }, { balance: 0, required: 1 }],
        [four, "/v1/scanner/tests", { domain: shop.domain }, { balance: 4, required: 5 }],
        [none, "/v1/scanner/scan/batch", { targets: [{ domain: shop.domain }] }, { balance: 0, required: 1 }]
      ] as const
      for (const [{ call }, path, body, details] of orders) {
        const answer = yield* call("POST", path, body)
        assert.deepStrictEqual(refusal(answer), [402, "INSUFFICIENT_CREDITS"], path)
        assert.deepStrictEqual(answer.json.details, details)
        assert.strictEqual((yield* call("GET", "/v1/scanner/credits/balance")).json.balance, details.balance)
      }
      assert.deepStrictEqual(shop.asked, [])
      assert.deepStrictEqual(refusal(yield* none.call("GET", scansOf(shop.domain))), [404, "NOT_FOUND"])
    })
  )

  it.effect("refuses domains that are nobody's shop with 422, and charges nothing", () =>
    Effect.gen(function* () {
      const { call } = yield* customer(10)
      const refused = {
        IpAddress: ["127.0.0.1", "http://[::1]/", "2130706433", "0x7f.1", "10.0.0.1:80"],
        SingleLabel: ["shop"],
        ReservedName: ["localhost", "printer.local", "shop.test", "metadata.internal"],
        NotADomain: ["sh op.com", "-a.com", "ftp://shop.com", "a..com", "shop.com\\@evil.com", "<b>.com"]
      }
      for (const [reason, domains] of Object.entries(refused)) {
        for (const domain of domains) {
          for (const path of ["/v1/scanner/scan", "/v1/scanner/tests"]) {
            const answer = yield* call("POST", path, { domain })
            assert.deepStrictEqual(refusal(answer), [422, "DOMAIN_NOT_ALLOWED"], domain)
            assert.deepStrictEqual(answer.json.details, { domain, reason })
          }
          const batch = yield* call("POST", "/v1/scanner/scan/batch", { targets: [{ domain }] })
          assert.deepStrictEqual(batch.json.details, { domain, reason })
        }
      }
      const { json } = yield* call("GET", "/v1/scanner/credits/ledger")
      assert.deepStrictEqual(
        json.data.map(({ reason }: { readonly reason: string }) => reason),
        ["grant"]
      )
    })
  )

  it.effect("answers about a site that nobody can reach with a scan that failed", () =>
    Effect.gen(function* () {
      const shop = yield* visited(Effect.scoped(WellBuilt.open))
      const { call } = yield* customer(10)
      const answer = yield* call("POST", "/v1/scanner/scan", { domain: shop.domain })
      assert.deepStrictEqual([answer.status, left(answer), answer.json.status], [200, "9", "failed"], answer.body)
      assert.isNull(answer.json.readiness_score)
      assert.isString(answer.json.error_message)
    })
  )

  it.effect("shops for five credits, and lists the tests of a shop with the newest first", () =>
    Effect.gen(function* () {
      const shop = yield* visited(HtmlShop.open())
      const { call } = yield* customer(20)
      const made: Array<string> = []
      for (const test_type of ["browse", "search", undefined]) {
        const answer = yield* call("POST", "/v1/scanner/tests", {
          domain: shop.domain,
          ...(test_type && { test_type })
        })
        assert.deepStrictEqual([answer.status, left(answer)], [200, String(15 - made.length * 5)], answer.body)
        assert.strictEqual(answer.json.test_type, test_type ?? "full_flow")
        assert.deepStrictEqual((yield* call("GET", `/v1/scanner/test/${answer.json.id}`)).json, answer.json)
        made.unshift(answer.json.id)
      }
      const ids = ({ json }: Answer) => json.data.map(({ id }: { readonly id: string }) => id)
      assert.deepStrictEqual(ids(yield* call("GET", testsOf(shop.domain))), made)
      const first = yield* call("GET", `${testsOf(shop.domain)}?limit=2`)
      assert.deepStrictEqual(ids(first), made.slice(0, 2))
      assert.deepStrictEqual(first.json.pagination, { page: 1, limit: 2, total: 3, totalPages: 2 })
      assert.deepStrictEqual(ids(yield* call("GET", `${testsOf(shop.domain)}?limit=2&page=2`)), made.slice(2))
      assert.deepStrictEqual(ids(yield* call("GET", testsOf("nobody-tested.com"))), [])
      assert.strictEqual(shop.orders(), 0)
      assert.strictEqual(shop.items(), 0)
    })
  )

  it.effect("projects what failures cost when a scan said what kind of merchant it is", () =>
    Effect.gen(function* () {
      const shop = yield* visited(HtmlShop.open({ payment: "human" }))
      const { call } = yield* customer(20)
      const body = { domain: shop.domain }
      const blind = yield* call("POST", "/v1/scanner/tests", body)
      assert.notProperty(blind.json, "economics")
      yield* call("POST", "/v1/scanner/scan", { ...body, merchant_category: "retail", region: "europe" })
      const { json } = yield* call("POST", "/v1/scanner/tests", body)
      assert.strictEqual(json.failure_point.blocker, "unsupported_payment_method")
      assert.deepInclude(json, {
        success_rate: 80,
        estimated_monthly_agent_visits: 1_000,
        estimated_lost_conversions: 5,
        estimated_lost_revenue_usd: 652.5
      })
      assert.include(json.economics, { merchant_category: "retail", region: "europe", failure_rate: 0.2 })
    })
  )

  it.effect("keeps a ledger of credits that reads on from a cursor, of one tenant alone", () =>
    Effect.gen(function* () {
      const shop = yield* visited(WellBuilt.open)
      const { call } = yield* customer(10)
      const { call: stranger } = yield* customer(10)
      const asked = { "x-request-id": "order-17" }
      yield* call("POST", "/v1/scanner/scan", { domain: shop.domain }, asked)
      yield* call("POST", "/v1/scanner/scan", { domain: shop.domain })
      const lines: Array<Record<string, unknown>> = []
      let cursor = ""
      for (let pages = 0; pages < 3; pages++) {
        const { json } = yield* call("GET", `/v1/scanner/credits/ledger?limit=1${cursor}`)
        assert.strictEqual(json.data.length, 1)
        lines.push(...json.data)
        cursor = `&cursor=${json.pagination.next_cursor}`
      }
      assert.strictEqual(cursor, "&cursor=null")
      assert.deepStrictEqual(
        lines.map(({ balance_after, delta, reason }) => [reason, delta, balance_after]),
        [
          ["consume", -1, 8],
          ["consume", -1, 9],
          ["grant", 10, 10]
        ]
      )
      assert.include(lines[1], { source: "order-17" })
      assert.include(lines[1]?.["metadata"], { operation: "scan", domain: shop.domain })
      assert.notInclude((yield* stranger("GET", "/v1/scanner/credits/ledger")).body, "order-17")
    })
  )

  it.effect(
    "takes each operation from scanner keys with its scope, and from keys and users that may use the scanner",
    () =>
      Effect.gen(function* () {
        const shop = yield* visited(WellBuilt.open)
        const { principal } = yield* customer(100)
        const body = { domain: shop.domain, skip_if_fresh: true }
        const operations = [
          ["scan", "write", "POST", "/v1/scanner/scan", body],
          ["tests", "write", "POST", "/v1/scanner/tests", { domain: shop.domain, test_type: "browse" }],
          ["batch", "write", "POST", "/v1/scanner/scan/batch", { targets: [body] }],
          ["read", "read", "GET", "/v1/scanner/scans", undefined],
          ["read", "read", "GET", "/v1/scanner/credits/balance", undefined]
        ] as const
        for (const [scope, action, method, path, sent] of operations) {
          const others = ["scan", "tests", "batch", "read"].filter((one) => one !== scope)
          const attempts = [
            ["scanner_key", [scope], undefined],
            ["scanner_key", others, scope],
            ["api_key", [`scanner:${action}`], undefined],
            ["api_key", ["scanner:*"], undefined],
            ["api_key", ["transfers:*"], `scanner:${action}`]
          ] as const
          for (const [kind, scopes, missing] of attempts) {
            const call = yield* callerWith(principal, kind, scopes)
            const answer = yield* call(method, path, sent)
            if (missing === undefined) assert.include([200, 202], answer.status, `${path} ${scopes}: ${answer.body}`)
            else {
              assert.deepStrictEqual(refusal(answer), [403, "INSUFFICIENT_SCOPE"], `${path} ${scopes}`)
              assert.strictEqual(answer.json.details.required_scope, missing)
            }
          }
        }
      })
  )
})
