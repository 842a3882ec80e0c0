import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { look } from "./ProtocolsHarness.ts"
import { home, type Page, plain, rpc, site } from "./ProtocolsSite.ts"

const questions = [
  "ucp_profile",
  "ucp_functional",
  "acp",
  "x402",
  "ap2",
  "mcp_server",
  "a2a_card",
  "webmcp",
  "nlweb",
  "oauth_metadata",
  "api_catalog",
  "card_programmes"
] as const

describe("a plain shop without any protocol", () => {
  const expected = {
    ucp_profile: "fail",
    ucp_functional: "fail",
    acp: "fail",
    x402: "not_applicable",
    ap2: "fail",
    mcp_server: "fail",
    a2a_card: "fail",
    webmcp: "fail",
    nlweb: "not_applicable",
    oauth_metadata: "not_applicable",
    api_catalog: "not_applicable",
    card_programmes: "not_applicable"
  }
  it.live("lacks what applies to it, and is not asked what does not; every question is answered once", () =>
    Effect.gen(function* () {
      const shop = yield* site({})
      const seen = yield* look(shop, { home: home(shop.domain, plain) })
      assert.deepStrictEqual(Object.fromEntries(questions.map((id) => [id, seen.status(id)])), expected)
      assert.lengthOf(seen.findings.answers, questions.length)
      assert.deepStrictEqual(seen.asked.toSorted(), [
        "GET /.well-known/acp.json",
        "GET /.well-known/agent-card.json",
        "GET /.well-known/agent.json",
        "GET /.well-known/mcp.json",
        "GET /.well-known/mcp/server-card.json",
        "GET /.well-known/ucp",
        "GET /.well-known/x402"
      ])
    })
  )
  it.live("of which every path answers 200 with a page: the same, nothing is detected", () =>
    Effect.gen(function* () {
      const shop = yield* site({ "*": "<!doctype html><div id=root></div>" })
      const seen = yield* look(shop, { home: home(shop.domain, plain), hasSoftNotFound: true })
      assert.deepStrictEqual(Object.fromEntries(questions.map((id) => [id, seen.status(id)])), expected)
    })
  )
  it.live("of which every path answers 200 with JSON of its own: the same", () =>
    Effect.gen(function* () {
      const shop = yield* site({ "*": { ok: true, message: "hello" } })
      const seen = yield* look(shop, { home: home(shop.domain, plain), hasSoftNotFound: true })
      assert.deepStrictEqual(Object.fromEntries(questions.map((id) => [id, seen.status(id)])), expected)
    })
  )
  it.live("behind a wall of 403: nothing is known, nothing fails", () =>
    Effect.gen(function* () {
      const shop = yield* site({ "*": [403, "Access Denied"] })
      const seen = yield* look(shop)
      for (const id of ["ucp_profile", "ucp_functional", "acp", "ap2", "mcp_server", "a2a_card", "webmcp"] as const) {
        assert.strictEqual(seen.status(id), "unknown", id)
      }
    })
  )
  it.live("whose card we cut: nothing is said against it", () =>
    Effect.gen(function* () {
      const shop = yield* site({
        "/.well-known/agent-card.json": [200, `{"name":"${"x".repeat(300_000)}"}`, { "content-type": "text/plain" }]
      })
      const seen = yield* look(shop)
      assert.strictEqual(seen.status("a2a_card"), "unknown")
      assert.include(seen.message("a2a_card"), "is longer than we read")
    })
  )
  it.live("on Shopify: ACP comes with the platform, which cannot be seen from outside", () =>
    Effect.gen(function* () {
      const seen = yield* look(yield* site({}), { platform: "shopify" })
      assert.deepStrictEqual([seen.status("acp"), seen.protocol("acp")], ["unknown", "platform_enabled"])
    })
  )
})

describe("what the home page says", () => {
  it.live("tools on forms are WebMCP; a script that mentions it counts half", () =>
    Effect.gen(function* () {
      const shop = yield* site({})
      const marked = yield* look(shop, {
        home: home(shop.domain, `<form toolname="search" tooldescription="Finds flowers"><input name=q></form>`)
      })
      const scripted = yield* look(shop, {
        home: home(shop.domain, "<script>navigator.modelContext.provideContext({})</script>")
      })
      assert.deepStrictEqual([marked.status("webmcp"), scripted.status("webmcp")], ["pass", "warn 0.5"])
    })
  )
  it.live("NLWeb is asked where it is declared", () =>
    Effect.gen(function* () {
      const results = [{ url: "https://x", name: "Rose", schema_object: { "@type": "Product" } }]
      const shop = yield* site({ "/ask": { query_id: "1", results } })
      const empty = yield* site({ "/ask": "<!doctype html>" })
      const declares = (domain: string) => home(domain, `<head><link rel="nlweb" href="/ask"></head>${plain}`)
      const seen = yield* look(shop, { home: declares(shop.domain) })
      const stub = yield* look(empty, { home: declares(empty.domain) })
      assert.deepStrictEqual([seen.status("nlweb"), stub.status("nlweb")], ["pass", "fail"])
    })
  )
  it.live("an API is described by a catalogue or by a link; a program's site without either lacks it", () =>
    Effect.gen(function* () {
      const catalog = { linkset: [{ anchor: "https://x", "service-desc": [{ href: "https://x/openapi.json" }] }] }
      const listed = yield* look(yield* site({ "/.well-known/api-catalog": catalog }), { isRetail: false })
      const bare = yield* site({})
      const linked = yield* look(bare, {
        home: home(bare.domain, plain, [["link", '</openapi.json>; rel="service-desc"']]),
        isRetail: false
      })
      const none = yield* look(bare, { isRetail: false })
      assert.deepStrictEqual(
        [listed, linked, none].map((seen) => seen.status("api_catalog")),
        ["pass", "pass", "fail"]
      )
    })
  )
})

describe("the budget", () => {
  it.live("a site that declares everything is called five times at most; what was not called is unknown", () =>
    Effect.gen(function* () {
      const dead = (base: string) => `${base}/dead`
      const pages: Record<string, Page> = {
        "/.well-known/ucp": (base) => ({
          ucp: {
            version: "2026-08-25",
            services: {
              "dev.ucp.shopping": ["mcp", "rest"].map((transport) => ({
                version: "2026-08-25",
                transport,
                endpoint: dead(base)
              }))
            },
            payment_handlers: {}
          }
        }),
        "/.well-known/mcp/server-card.json": (base) => ({ name: "m", url: `${base}/mcp` }),
        "/mcp": (_, body) => rpc(body, { tools: [], protocolVersion: "2025-06-18" }),
        "/.well-known/acp.json": (base) => ({
          protocol: { name: "acp", version: "1" },
          api_base_url: dead(base),
          transports: ["rest"],
          capabilities: { services: ["checkout"] }
        }),
        "/.well-known/x402": { resources: ["/paid"] },
        "/.well-known/agent-card.json": (base) => ({ name: "a", url: dead(base), capabilities: {}, skills: [] })
      }
      const seen = yield* look(yield* site(pages))
      const calls = seen.asked.filter((line) => !line.includes("/.well-known/"))
      assert.lengthOf(calls, 5)
      assert.isAtMost(seen.asked.length - calls.length, 7)
      assert.deepStrictEqual((["ucp_functional", "mcp_server", "acp", "x402", "a2a_card"] as const).map(seen.status), [
        "fail",
        "pass",
        "unknown",
        "unknown",
        "unknown"
      ])
    })
  )
})
