import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { ShoppingTests } from "#services/ShoppingTests.ts"
import { aDomain, gate, left, rich, scan, somebody, told } from "./ScansHarness.ts"
import { outcome, platform, Shops } from "./ShoppingTestsHarness.ts"

layer(platform, { timeout: "60 seconds" })("a synthetic test", (it) => {
  it.effect("costs five credits, is kept, and is told to the tenant that asked", () =>
    Effect.gen(function* () {
      const tests = yield* ShoppingTests
      const buyer = yield* rich
      const domain = aDomain()
      const { charged, record, remaining } = yield* tests.run(buyer, { domain, test_type: "search" })
      assert.deepStrictEqual([charged, remaining, yield* left(buyer)], [5, 95, 95])
      assert.deepInclude(record, { domain, test_type: "search", status: "partial", success_rate: 50 })
      assert.deepStrictEqual(yield* tests.get(record.id), record)
      assert.deepStrictEqual(yield* tests.recent(domain, { page: 1, limit: 10 }), { data: [record], total: 1 })
      const [fact] = yield* told(buyer)
      assert.strictEqual(fact?.["type"], "test.completed")
      assert.deepInclude(Object(fact?.["data"]).test, { id: record.id, success_rate: 50 })
    })
  )

  it.effect("says what failing costs when the merchant's category was said", () =>
    Effect.gen(function* () {
      const tests = yield* ShoppingTests
      const domain = aDomain()
      const before = yield* tests.run(somebody, { domain, test_type: "search" })
      assert.notProperty(before.record, "economics")
      yield* scan(domain)
      yield* scan(domain, { merchant_category: "retail", region: "europe", skip_if_fresh: true })
      const { record } = yield* tests.run(somebody, { domain, test_type: "search" })
      assert.deepInclude(record.economics, { merchant_category: "retail", region: "europe", failure_rate: 0.5 })
      assert.strictEqual(record.estimated_monthly_agent_visits, 1000)
      const page = (page: number, limit: number) =>
        Effect.map(tests.recent(domain, { page, limit }), ({ data, total }) => [total, ...data.map(({ id }) => id)])
      assert.deepStrictEqual(yield* page(1, 10), [2, record.id, before.record.id])
      assert.deepStrictEqual(yield* page(2, 1), [2, before.record.id])
      assert.deepStrictEqual(yield* page(3, 1), [2])
    })
  )

  it.effect("is shared by who asks for the same; another one of the domain waits for its turn", () =>
    Effect.gen(function* () {
      const [tests, shops] = [yield* ShoppingTests, yield* Shops]
      const sql = yield* SqlClient.SqlClient
      const [one, two] = [yield* rich, yield* rich]
      const domain = aDomain()
      const { entered, open, through } = yield* gate
      const { test: usual } = shops
      shops.test = () => Effect.andThen(through, Effect.succeed(outcome()))
      const first = yield* Effect.forkChild(tests.run(one, { domain, test_type: "browse" }))
      yield* entered
      const same = yield* Effect.forkChild(tests.run(two, { domain, test_type: "browse" }))
      const different = yield* Effect.forkChild(tests.run(two, { domain, test_type: "search" }))
      yield* Effect.repeat(sql`SELECT count(*)::int AS n FROM credit_charges WHERE state = 'open'`, {
        until: ([row]) => row?.["n"] === 3
      })
      assert.deepStrictEqual(shops.tested.slice(-1), [`${domain} browse`])
      shops.test = usual
      yield* open
      const ids = [yield* Fiber.join(first), yield* Fiber.join(same)].map(({ record }) => record.id)
      assert.strictEqual(new Set(ids).size, 1)
      assert.notInclude(ids, (yield* Fiber.join(different)).record.id)
      assert.deepStrictEqual(shops.tested.slice(-2), [`${domain} browse`, `${domain} search`])
      assert.deepStrictEqual([yield* left(one), yield* left(two)], [95, 90])
    })
  )

  it.effect("that fails by our fault gives the credits back", () =>
    Effect.gen(function* () {
      const [tests, shops] = [yield* ShoppingTests, yield* Shops]
      const buyer = yield* rich
      const { test: usual } = shops
      shops.test = () => Effect.die("a mistake of ours")
      const failed = yield* Effect.flip(tests.run(buyer, { domain: aDomain(), test_type: "browse" }))
      shops.test = usual
      assert.deepInclude(failed, { _tag: "SCANNER_UNAVAILABLE", reason: "Failed" })
      assert.strictEqual(yield* left(buyer), 100)
    })
  )

  it.effect("that nobody made is not found", () =>
    Effect.gen(function* () {
      const tests = yield* ShoppingTests
      assert.strictEqual((yield* Effect.flip(tests.get("none")))._tag, "NOT_FOUND")
      assert.deepStrictEqual(yield* tests.recent(aDomain(), { page: 1, limit: 10 }), { data: [], total: 0 })
    })
  )
})
