import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Result } from "effect"
import { createServer as createWeb } from "node:http"
import { createServer, type Socket } from "node:net"
import type { ScanFindings } from "#domain/Scan.ts"
import { ScanEngine } from "#services/ScanEngine.ts"
import * as Fixture from "../shops/Fixture.ts"
import * as HtmlShop from "../shops/HtmlShop.ts"
import * as Shopify from "../shops/Shopify.ts"
import { page, send, sendJson } from "../shops/Storefront.ts"
import * as WellBuilt from "../shops/WellBuilt.ts"
import * as Woo from "../shops/Woo.ts"
import { engine, type ScanOptions, scanOf, statuses } from "./ScanEngineHarness.ts"

const check = ({ checks }: ScanFindings, id: string) => checks.find((one) => one.id === id) ?? assert.fail(id)
const not = (findings: ScanFindings, status: "fail" | "warn" | "unknown" | "not_applicable") =>
  (statuses(findings)[status] ?? "")
    .split(" ")
    .filter((id) => id !== "" && id !== "home_reachable" && id !== "web_bot_auth")

/** A scan of an address that the engine is given as it is. */
const scanAt = (home: string, listed: ReadonlyArray<string>, limits: ScanOptions["limits"] = {}) =>
  Effect.provide(
    Effect.gen(function* () {
      const { scan } = yield* ScanEngine
      const site = { domain: new URL(home).host, home: new URL(home) }
      return yield* Effect.result(scan(site, { merchant_category: null }))
    }),
    engine(listed, limits)
  )

/** What is not shown while a cart is empty. */
const behindTheCart = ["payment_methods", "no_captcha", "form_recognizable", "total_before_payment"]

describe("a scan of a platform's shop", () => {
  it.live("proves Shopify's catalogue, cart and search, and fails nothing", () =>
    Effect.gen(function* () {
      const found = yield* scanOf((yield* Shopify.open()).domain)
      assert.strictEqual(found.platform, "shopify")
      assert.deepStrictEqual(not(found, "fail"), [])
      assert.deepStrictEqual(not(found, "unknown"), ["guest_checkout", ...behindTheCart])
      assert.match(check(found, "cart_api").message, /cart\.js/)
      assert.match(check(found, "product_feed").message, /products\.json/)
      assert.match(check(found, "search_usable").message, /predictive/)
      assert.deepStrictEqual(found.structured_data?.formats, ["json-ld", "platform_api"])
      assert.isAtMost(found.requests.length, 24)
    }).pipe(Effect.scoped)
  )

  it.live("proves WooCommerce's Store API, and fails nothing", () =>
    Effect.gen(function* () {
      const found = yield* scanOf((yield* Woo.open()).domain)
      assert.strictEqual(found.platform, "woocommerce")
      assert.deepStrictEqual(not(found, "fail"), [])
      assert.match(check(found, "cart_api").message, /wp-json\/wc\/store\/v1\/cart/)
      assert.match(check(found, "product_feed").message, /wc\/store\/v1\/products/)
    }).pipe(Effect.scoped)
  )

  it.live("of plain forms says what data and page contradict each other in", () =>
    Effect.gen(function* () {
      const found = yield* scanOf((yield* HtmlShop.open()).domain)
      assert.deepStrictEqual(not(found, "fail"), [])
      assert.deepStrictEqual(not(found, "unknown"), ["product_feed", "guest_checkout", ...behindTheCart])
      const dearer = yield* scanOf((yield* HtmlShop.open({ shownPrice: "99.00" })).domain)
      assert.deepStrictEqual(not(dearer, "fail"), ["price_consistent"])
      const silent = yield* scanOf((yield* HtmlShop.open({ structured: "none" })).domain)
      assert.include(not(silent, "fail"), "product_json_ld")
      assert.strictEqual(check(silent, "price_consistent").status, "unknown")
    }).pipe(Effect.scoped)
  )

  it.live(
    "obeys robots.txt: what it keeps us out of is not asked for, and its gate closes on a shop that wants no agent",
    () =>
      Effect.gen(function* () {
        const products = yield* HtmlShop.open({ robots: "products" })
        const found = yield* scanOf(products.domain)
        assert.isEmpty(products.asked.filter((line) => line.includes("/products/")))
        assert.strictEqual(check(found, "robots_allows_agents").status, "fail")
        assert.deepStrictEqual(found.gates, [])
        assert.strictEqual(check(found, "product_json_ld").status, "unknown")
        const nobody = yield* HtmlShop.open({ robots: "everything" })
        const closed = yield* scanOf(nobody.domain)
        assert.deepStrictEqual(
          closed.gates.map(({ cap, id }) => [id, cap]),
          [["robots_disallow_agents", 35]]
        )
        assert.isAtMost(closed.readiness_score ?? 100, 35)
      }).pipe(Effect.scoped)
  )
})

describe("a site that keeps us out by our name", () => {
  const rules = "User-agent: TurnpikeScanner\nDisallow: /\n"
  const refusedOf = Effect.fnUntraced(function* (domain: string, alsoListed: ReadonlyArray<string> = []) {
    const refused = yield* Effect.flip(scanOf(domain, { alsoListed }))
    assert.deepInclude(refused, { _tag: "DOMAIN_NOT_ALLOWED", domain, reason: "RobotsDisallowed" })
  })

  it.live("is asked for its robots.txt and nothing else, and the scan is refused", () =>
    Effect.gen(function* () {
      const { asked, domain } = yield* Fixture.open((request, response) =>
        send(response, 200, request.url === "/robots.txt" ? rules : page("", "Shop", ""))
      )
      yield* refusedOf(domain)
      assert.deepStrictEqual(asked, ["GET /robots.txt"])
    }).pipe(Effect.scoped)
  )

  it.live("is not followed to by a redirect either", () =>
    Effect.gen(function* () {
      const inner = yield* Fixture.open((request, response) =>
        send(response, 200, request.url === "/robots.txt" ? rules : page("", "Shop", ""))
      )
      const { domain } = yield* Fixture.open((request, response) =>
        request.url === "/robots.txt" ? send(response, 404, "") : send(response, 301, "", { location: inner.url })
      )
      yield* refusedOf(domain, [inner.domain])
      assert.deepStrictEqual(inner.asked, ["GET /robots.txt"])
    }).pipe(Effect.scoped)
  )
})

const dentist = Fixture.open((request, response, base) => {
  const pages: Readonly<Record<string, string>> = {
    "/": `<p>${"We look after teeth, in the middle of town, since 1987. ".repeat(10)}</p><a href="${base}/contact">Contact</a> <a href="${base}/privacy">Privacy</a>`,
    "/contact": "<p>Call us.</p>",
    "/privacy": "<p>We keep what the law has us keep.</p>"
  }
  const body = pages[new URL(request.url ?? "/", base).pathname]
  const shell = (text: string) =>
    `<!doctype html><html lang="en"><head><title>Dr. Molar</title></head><body><nav>Menu</nav><main><h1>Dr. Molar</h1>${text}</main></body></html>`
  send(response, body === undefined ? 404 : 200, shell(body ?? "Not found"))
})

describe("a scan of a site that is no shop", () => {
  it.live("asks for neither cart nor checkout, and holds nothing against it that does not apply", () =>
    Effect.gen(function* () {
      const { asked, domain } = yield* dentist
      const found = yield* scanOf(domain)
      assert.deepStrictEqual(not(found, "fail"), [])
      const { data, checkout } = Object.groupBy(found.checks, ({ group }) => group)
      assert.isTrue(checkout?.every(({ status }) => status === "not_applicable"))
      assert.includeMembers(data?.filter(({ status }) => status === "not_applicable").map(({ id }) => id) ?? [], [
        "product_json_ld",
        "offer_clarity",
        "sitemap_products",
        "product_feed",
        "search_usable"
      ])
      assert.strictEqual(found.checkout_score, null)
      assert.isEmpty(asked.filter((line) => /cart|checkout/.test(line)))
    }).pipe(Effect.scoped)
  )

  it.live("that is an interface for programs judges no pages", () =>
    Effect.gen(function* () {
      const { domain } = yield* Fixture.open((request, response) =>
        request.url === "/"
          ? sendJson(response, 200, { name: "rates" })
          : sendJson(response, 404, { error: "not_found" })
      )
      const found = yield* scanOf(domain)
      assert.strictEqual(found.business_model, "api_provider")
      assert.deepStrictEqual(not(found, "fail"), [])
      assert.strictEqual(check(found, "works_without_javascript").status, "not_applicable")
    }).pipe(Effect.scoped)
  )

  it.live("but is said to be one leaves its shop unknown", () =>
    Effect.gen(function* () {
      const { domain } = yield* dentist
      const found = yield* scanOf(domain, { category: "retail" })
      assert.strictEqual(check(found, "product_json_ld").status, "unknown")
      assert.deepStrictEqual(not(found, "not_applicable"), [])
    }).pipe(Effect.scoped)
  )
})

describe("a scan's way to the home page", () => {
  it.live("goes over http where https does not answer, and fails that check alone", () =>
    Effect.gen(function* () {
      const { asked, domain } = yield* WellBuilt.open
      const found = yield* scanAt(`https://${domain}/`, [domain])
      assert.isTrue(Result.isSuccess(found))
      if (Result.isFailure(found)) return
      assert.strictEqual(found.success.status, "completed")
      assert.deepStrictEqual(statuses(found.success).fail, "home_reachable")
      assert.match(check(found.success, "home_reachable").message, /^Only http answers/)
      assert.strictEqual(found.success.url, `http://${domain}/`)
      assert.includeMembers([...asked], ["GET /.well-known/ucp", "GET /.well-known/agent-card.json"])
    }).pipe(Effect.scoped)
  )

  it.live("over http is also the one to the platform's own interfaces", () =>
    Effect.gen(function* () {
      const { asked, domain } = yield* Shopify.open()
      yield* scanAt(`https://${domain}/`, [domain])
      assert.include(asked, "POST /api/mcp")
    }).pipe(Effect.scoped)
  )

  it.live("follows to another host, asks that one's robots.txt, and says where it is", () =>
    Effect.gen(function* () {
      const shop = yield* WellBuilt.open
      const { domain } = yield* Fixture.open((_, response) =>
        send(response, 301, "", { location: `http://${shop.domain}/` })
      )
      const found = yield* scanOf(domain, { alsoListed: [shop.domain] })
      assert.strictEqual(found.url, `http://${shop.domain}/`)
      assert.include(shop.asked, "GET /robots.txt")
      assert.strictEqual(check(found, "product_json_ld").status, "pass")
      assert.isAtMost(found.requests.length, 24)
    }).pipe(Effect.scoped)
  )

  it.live("that nobody answers ends as failed, without a score", () =>
    Effect.gen(function* () {
      const port = yield* closedPort
      const found = yield* scanOf(`127.0.0.1:${port}`)
      assert.deepInclude(found, { status: "failed", readiness_score: null, band: null, checks: [] })
      assert.match(found.error_message ?? "", /could not be reached/)
      assert.isNotEmpty(found.requests)
    }).pipe(Effect.scoped)
  )

  it.live("whose https is silent is looked at over http, while there is time", () =>
    Effect.gen(function* () {
      const port = yield* silentOverTls(page("", "Shop", ""))
      const limits = { perRequest: Duration.seconds(1), duration: Duration.seconds(2) }
      const found = yield* scanAt(`https://127.0.0.1:${port}/`, [`127.0.0.1:${port}`], limits)
      assert.isTrue(Result.isSuccess(found))
      if (Result.isFailure(found)) return
      assert.strictEqual(found.success.status, "completed")
      assert.match(check(found.success, "home_reachable").message, /Only http answers/)
      assert.strictEqual(check(found.success, "honest_not_found").status, "fail", "there was time to go on")
    }).pipe(Effect.scoped)
  )

  it.live("that is in trouble of the moment ends as failed", () =>
    Effect.gen(function* () {
      const { domain } = yield* Fixture.open((_, response) =>
        send(response, 503, page("", "Maintenance", "<p>Soon.</p>"))
      )
      assert.deepInclude(yield* scanOf(domain), { status: "failed", error_message: "The home page answers 503." })
    }).pipe(Effect.scoped)
  )

  it.live("to an address that is not public is refused, and nothing is sent", () =>
    Effect.gen(function* () {
      const { asked, domain } = yield* WellBuilt.open
      const found = yield* scanAt(`http://${domain}/`, [])
      assert.isTrue(Result.isFailure(found))
      if (Result.isSuccess(found)) return
      assert.deepInclude(found.failure, { _tag: "DOMAIN_NOT_ALLOWED", domain, reason: "AddressNotPublic" })
      assert.deepStrictEqual(asked, [])
    }).pipe(Effect.scoped)
  )
})

/** A port that answers http with this page, and TLS with nothing. */
const silentOverTls = (text: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
      const web = createWeb((_, response) => send(response, 200, text))
      const sockets = new Set<Socket>()
      const server = createServer((socket) => {
        sockets.add(socket.on("error", () => undefined))
        socket.once("data", (chunk) => {
          if (chunk[0] === 22) return
          web.emit("connection", socket.pause())
          socket.unshift(chunk)
          socket.resume()
        })
      }).listen(0, "127.0.0.1", () => {
        const address = server.address()
        const close = () => {
          for (const socket of sockets) socket.destroy()
          server.close()
        }
        resume(Effect.succeed({ port: typeof address === "object" && address !== null ? address.port : 0, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  ).pipe(Effect.map(({ port }) => port))

/** A port of loopback where nobody listens. */
const closedPort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})
