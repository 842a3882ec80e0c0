import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { aDomain, platform, scan, Stage } from "./ScansHarness.ts"

layer(platform(), { timeout: "60 seconds" })("what is said of a merchant", (it) => {
  it.effect("is kept: the newest word, and none is forgotten for want of one", () =>
    Effect.gen(function* () {
      const domain = aDomain()
      yield* scan(domain, { merchant_name: "A", merchant_category: "retail", region: "europe" })
      const { record } = yield* scan(domain, { merchant_name: "B", country_code: "DE" })
      assert.deepInclude(record, {
        merchant_name: "B",
        merchant_category: "retail",
        region: "europe",
        country_code: "DE"
      })
    })
  )

  it.effect("is what a scan goes by, whoever said it", () =>
    Effect.gen(function* () {
      const { hints } = yield* Stage
      const domain = aDomain()
      yield* scan(domain, { merchant_category: "b2b" })
      const { record } = yield* scan(domain)
      assert.deepStrictEqual([record.merchant_category, ...hints.slice(-2)], ["b2b", "b2b", "b2b"])
    })
  )

  it.effect("adds what nobody knew where the scan costs nothing, and contradicts nobody", () =>
    Effect.gen(function* () {
      const domain = aDomain()
      yield* scan(domain, { merchant_name: "A" })
      yield* scan(domain, { merchant_name: "B", merchant_category: "retail", region: "europe", skip_if_fresh: true })
      yield* scan(domain, { merchant_category: "saas", country_code: "DE", skip_if_fresh: true })
      const { record } = yield* scan(domain)
      assert.deepInclude(record, {
        merchant_name: "A",
        merchant_category: "retail",
        region: "europe",
        country_code: "DE"
      })
    })
  )
})
