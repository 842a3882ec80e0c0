import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { PageReading, PageUnread } from "#services/PageReading.ts"
import * as HtmlShop from "../shops/HtmlShop.ts"
import * as WellBuilt from "../shops/WellBuilt.ts"
import * as PageReadingHere from "./PageReadingHere.ts"
import { scanOf } from "./ScanEngineHarness.ts"
import { testOf } from "./ShoppingEngineHarness.ts"

/** Reads everything but pages at these paths, which are too much for it, and sitemaps where `maps` says so. */
const reading = (paths: RegExp, maps = true, reason: PageUnread["reason"] = "Slow") =>
  Layer.effect(
    PageReading,
    Effect.map(PageReading, (here) => ({
      ...here,
      page: (html: string, url: URL) =>
        paths.test(url.pathname) ? Effect.fail(new PageUnread({ reason })) : here.page(html, url),
      sitemap: (text: string, platform: string | null) =>
        maps ? here.sitemap(text, platform) : Effect.fail(new PageUnread({ reason: "Ended" }))
    }))
  ).pipe(Layer.provide(PageReadingHere.layer))

/** Nothing here is about how fast a shop answers. */
const limits = { duration: Duration.minutes(1), perRequest: Duration.seconds(30) }

describe("a page that takes more to read than we give one", () => {
  it.live("leaves a scan without an answer to what only that page tells, and no fault of the shop", () =>
    Effect.gen(function* () {
      const { domain } = yield* WellBuilt.open
      const found = yield* scanOf(domain, { category: "retail", limits, pages: reading(/^\/(?:products|cart)/, false) })
      assert.strictEqual(found.status, "completed")
      const failed = found.checks.filter(
        ({ group, id, status }) => status === "fail" && group !== "protocol" && id !== "latency"
      )
      assert.deepStrictEqual(failed, [])
      const product = found.checks.find(({ id }) => id === "product_json_ld")
      assert.strictEqual(product?.status, "unknown")
    }).pipe(Effect.scoped)
  )

  it.live("is no score when it is the home page, and says why", () =>
    Effect.gen(function* () {
      const { domain } = yield* WellBuilt.open
      const found = yield* scanOf(domain, { limits, pages: reading(/^\/$/) })
      assert.strictEqual(found.status, "failed")
      assert.isNull(found.readiness_score)
      assert.include(found.error_message ?? "", "takes more to read than we give one page")
    }).pipe(Effect.scoped)
  )

  it.live("leaves a test of a shop unknown from there on", () =>
    Effect.gen(function* () {
      const { domain } = yield* HtmlShop.open()
      const outcome = yield* testOf(domain, "full_flow", {}, reading(/cart/))
      assert.deepStrictEqual(
        outcome.blockers.filter(({ severity }) => severity === "blocking"),
        []
      )
      assert.strictEqual(outcome.steps.find(({ step }) => step === "cart")?.status, "unknown")
    }).pipe(Effect.scoped)
  )
})

describe("a page that waits for its turn too long, because too many do", () => {
  const ours = { _tag: "SCANNER_UNAVAILABLE", reason: "Busy" } as const

  it.live("ends a scan without a word about the site, which ones it may be", () =>
    Effect.gen(function* () {
      const { domain } = yield* WellBuilt.open
      for (const path of [/^\/$/, /^\/products/]) {
        const refused = yield* Effect.flip(scanOf(domain, { limits, pages: reading(path, true, "Busy") }))
        assert.deepInclude(refused, ours)
      }
    }).pipe(Effect.scoped)
  )

  it.live("ends a test, which puts back what it took before", () =>
    Effect.gen(function* () {
      const { domain, items, orders } = yield* HtmlShop.open()
      const pages = reading(/^\/checkout/, true, "Busy")
      assert.deepInclude(yield* Effect.flip(testOf(domain, "full_flow", {}, pages)), ours)
      assert.deepStrictEqual([items(), orders()], [0, 0])
    }).pipe(Effect.scoped)
  )
})
