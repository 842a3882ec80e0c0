import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { questionIds } from "#domain/Rubric.ts"
import type { ScanFindings } from "#domain/Scan.ts"
import * as AccountWall from "../shops/AccountWall.ts"
import * as BlocksByUserAgent from "../shops/BlocksByUserAgent.ts"
import * as CaptchaWall from "../shops/CaptchaWall.ts"
import * as ClientOnly from "../shops/ClientOnly.ts"
import * as SoftNotFound from "../shops/SoftNotFound.ts"
import * as WellBuilt from "../shops/WellBuilt.ts"
import { scanOf, statuses, timeless } from "./ScanEngineHarness.ts"

/** What stays unknown of every fixture: it has no TLS, and signatures cannot be seen from outside. */
const always = ["home_reachable", "web_bot_auth"]

/** What a scan says outside the protocols, by what it says of each shop that is not simply passed. */
const except = (findings: ScanFindings) => {
  const { pass: _pass, ...rest } = statuses(findings)
  const unknown = (rest.unknown ?? "").split(" ").filter((id) => !always.includes(id))
  return { ...rest, unknown: unknown.join(" ") }
}

const check = ({ checks }: ScanFindings, id: string) => {
  const found = checks.find((one) => one.id === id)
  assert.isDefined(found)
  return found ?? assert.fail(id)
}

const seen = (findings: ScanFindings, path: string) =>
  findings.requests.filter(({ url }) => new URL(url).pathname === path).length

const unseenShop =
  "works_without_javascript operable_structure latency honest_not_found no_walls product_json_ld offer_clarity price_consistent shipping_returns variants_expressed sitemap_products product_feed search_usable organization_identity llms_txt markdown_negotiation cart_api guest_checkout payment_methods no_captcha form_recognizable total_before_payment"

describe("a scan", () => {
  it.live("of a well-built shop fails nothing, and answers every question", () =>
    Effect.gen(function* () {
      const { domain } = yield* WellBuilt.open
      const found = yield* scanOf(domain)
      assert.deepStrictEqual(except(found), { unknown: "" })
      assert.deepStrictEqual(
        found.checks.map(({ id }) => id),
        [...questionIds]
      )
      assert.deepInclude(found, {
        status: "completed",
        business_model: "retail",
        accessibility_score: 100,
        data_score: 100,
        checkout_score: 100,
        confidence: "high",
        error_message: null
      })
      assert.deepStrictEqual(found.gates, [])
      assert.isAtMost(found.requests.length, 24)
      assert.deepInclude(found.structured_data?.product, { name: "Brass Desk Lamp", price: "120.00", currency: "USD" })
      assert.deepInclude(found.accessibility, {
        robots_allows_agents: true,
        challenge: null,
        differs_by_user_agent: false,
        works_without_javascript: true,
        requires_account: false
      })
      const parts = found.checks.filter(({ group }) => group !== "protocol")
      assert.isEmpty(parts.filter(({ status }) => status === "fail"))
    }).pipe(Effect.scoped)
  )

  it.live("of the same site finds the same", () =>
    Effect.gen(function* () {
      const { domain } = yield* WellBuilt.open
      assert.deepStrictEqual(timeless(yield* scanOf(domain)), timeless(yield* scanOf(domain)))
    }).pipe(Effect.scoped)
  )

  it.live("only reads: nothing is put into a cart and no order is placed", () =>
    Effect.gen(function* () {
      const { asked, domain } = yield* WellBuilt.open
      yield* scanOf(domain)
      assert.isEmpty(asked.filter((line) => !line.startsWith("GET ")))
    }).pipe(Effect.scoped)
  )

  it.live("of an application that only scripts fill says so once, and knows nothing of what it did not see", () =>
    Effect.gen(function* () {
      const { domain } = yield* ClientOnly.open
      const found = yield* scanOf(domain)
      assert.deepStrictEqual(except(found), {
        fail: "works_without_javascript",
        unknown:
          "operable_structure no_walls product_json_ld offer_clarity price_consistent shipping_returns variants_expressed product_feed search_usable organization_identity markdown_negotiation cart_api guest_checkout payment_methods no_captcha form_recognizable total_before_payment"
      })
      assert.strictEqual(check(found, "works_without_javascript").evidence?.snippet, 'empty <div id="root">')
      assert.strictEqual(found.confidence, "low")
      assert.strictEqual(found.accessibility?.works_without_javascript, false)
    }).pipe(Effect.scoped)
  )

  it.live("stops at a wall before everything, caps the score, and says that robots.txt promised otherwise", () =>
    Effect.gen(function* () {
      const { asked, domain } = yield* CaptchaWall.open("everywhere")
      const found = yield* scanOf(domain)
      assert.deepStrictEqual(except(found), {
        fail: "agents_not_challenged robots_matches_wall",
        unknown: `same_for_browsers ${unseenShop}`
      })
      assert.deepStrictEqual(
        found.gates.map(({ cap, id }) => [id, cap]),
        [["agents_challenged", 30]]
      )
      assert.strictEqual(found.readiness_score, 30)
      assert.strictEqual(check(found, "agents_not_challenged").evidence?.snippet, "cf-mitigated: challenge")
      assert.strictEqual(found.accessibility?.challenge, "cloudflare")
      // Once as ourselves, and once as a browser to compare.
      assert.deepStrictEqual(asked, ["GET /robots.txt", "GET /", "GET /"])
    }).pipe(Effect.scoped)
  )

  it.live("that meets a wall midway leaves what comes after unknown, and closes no gate", () =>
    Effect.gen(function* () {
      const { asked, domain } = yield* CaptchaWall.open("products")
      const found = yield* scanOf(domain)
      const { fail, warn } = except(found)
      assert.isUndefined(fail)
      assert.strictEqual(warn, "agents_not_challenged robots_matches_wall")
      assert.deepStrictEqual(found.gates, [])
      for (const id of ["product_json_ld", "offer_clarity", "works_without_javascript", "search_usable", "cart_api"]) {
        assert.strictEqual(check(found, id).status, "unknown", id)
      }
      assert.match(check(found, "product_json_ld").message, /a wall answered \(cloudflare\)/)
      assert.lengthOf(
        asked.filter((line) => line.includes("/products/")),
        1
      )
      assert.isEmpty(asked.filter((line) => line.includes("/search")))
    }).pipe(Effect.scoped)
  )

  it.live("tells a captcha that has to be solved from one that only watches", () =>
    Effect.gen(function* () {
      const walled = yield* scanOf((yield* CaptchaWall.open("checkout")).domain)
      assert.deepStrictEqual(except(walled), { fail: "no_captcha", unknown: "" })
      assert.match(check(walled, "no_captcha").message, /turnstile/)
      const watched = yield* scanOf((yield* CaptchaWall.open("watching")).domain)
      assert.deepStrictEqual(except(watched), { unknown: "" })
      assert.match(check(watched, "no_captcha").message, /only watches \(recaptcha\)/)
    }).pipe(Effect.scoped)
  )

  it.live("of a checkout for members only fails that, and leaves what is behind it unknown", () =>
    Effect.gen(function* () {
      const found = yield* scanOf((yield* AccountWall.open).domain)
      assert.deepStrictEqual(except(found), {
        fail: "guest_checkout",
        unknown: "payment_methods no_captcha form_recognizable total_before_payment"
      })
      assert.strictEqual(found.accessibility?.requires_account, true)
    }).pipe(Effect.scoped)
  )

  it.live("of a site that answers every path believes only what has the right shape", () =>
    Effect.gen(function* () {
      const found = yield* scanOf((yield* SoftNotFound.open).domain)
      assert.deepStrictEqual(except(found), {
        fail: "honest_not_found sitemap_products",
        warn: "llms_txt",
        unknown: "guest_checkout payment_methods no_captcha form_recognizable total_before_payment"
      })
      assert.isEmpty(found.protocol_results.filter(({ status }) => status === "confirmed" || status === "eligible"))
    }).pipe(Effect.scoped)
  )

  it.live("that only a browser gets into names the difference, and asks for nothing more", () =>
    Effect.gen(function* () {
      const { asked, domain } = yield* BlocksByUserAgent.open
      const found = yield* scanOf(domain)
      assert.deepStrictEqual(except(found), {
        fail: "agents_not_challenged same_for_browsers robots_matches_wall",
        unknown: unseenShop
      })
      assert.strictEqual(check(found, "same_for_browsers").message, "An agent is answered 403, a browser 200.")
      assert.strictEqual(found.accessibility?.differs_by_user_agent, true)
      assert.strictEqual(found.gates[0]?.id, "agents_challenged")
      assert.strictEqual(seen(found, "/"), 2)
      assert.lengthOf(asked, 3)
    }).pipe(Effect.scoped)
  )

  it.live("that only agents get into does not say that a browser gets the same", () =>
    Effect.gen(function* () {
      const found = yield* scanOf((yield* BlocksByUserAgent.openToAgents).domain)
      const { message, status } = check(found, "same_for_browsers")
      assert.strictEqual(status, "unknown")
      assert.include(message, "What looks like a browser is answered 403")
    }).pipe(Effect.scoped)
  )
})
