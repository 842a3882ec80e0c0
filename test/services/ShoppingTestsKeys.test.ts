import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ShoppingTests } from "#services/ShoppingTests.ts"
import { by, aDomain, left } from "./ScansHarness.ts"
import { tenantWith } from "./ScannerCreditsHarness.ts"
import { outcome, platform, Shops } from "./ShoppingTestsHarness.ts"

/** A test that somebody with a hundred credits orders under a key. */
const keyed = Effect.gen(function* () {
  const { run } = yield* ShoppingTests
  const [tenant_id, domain] = [yield* tenantWith(100), aDomain()]
  const [buyer, claim] = [by(tenant_id), { tenant_id, operation: "shopping_tests.run", key: "once", fingerprint: "" }]
  return { buyer, domain, run: run(buyer, { domain, test_type: "browse" }, claim) }
})

layer(platform, { timeout: "60 seconds" })("a synthetic test under a key", (it) => {
  it.effect("is charged once by 100 at once, and shops once", () =>
    Effect.gen(function* () {
      const shops = yield* Shops
      const { buyer, domain, run } = yield* keyed
      const all = yield* Effect.all(
        Array.from({ length: 100 }, () => run),
        { concurrency: 100 }
      )
      assert.strictEqual(new Set(all.map(({ record }) => record.id)).size, 1)
      assert.strictEqual(all.filter(({ replayed }) => replayed).length, 99)
      assert.deepStrictEqual([yield* left(buyer), shops.tested], [95, [`${domain} browse`]])
      assert.deepStrictEqual((yield* run).record, all[0]?.record)
    })
  )

  it.effect("that failed is given back and leaves the key free", () =>
    Effect.gen(function* () {
      const shops = yield* Shops
      const { buyer, run } = yield* keyed
      shops.test = () => Effect.die("The engine broke")
      assert.strictEqual((yield* Effect.flip(run))._tag, "SCANNER_UNAVAILABLE")
      shops.test = () => Effect.succeed(outcome())
      const { charged, replayed } = yield* run
      assert.deepStrictEqual([charged, replayed, yield* left(buyer)], [5, false, 95])
    })
  )
})
