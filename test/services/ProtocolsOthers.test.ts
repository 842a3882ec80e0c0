import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { IncomingMessage } from "node:http"
import { look } from "./ProtocolsHarness.ts"
import { home, type Page, plain, type Reply, rpc, rpcError, site } from "./ProtocolsSite.ts"

describe("a UCP profile behind a redirect", () => {
  const profile = { ucp: { version: "2026-08-25", services: {}, payment_handlers: {} } }
  const moved = (to: string): Reply => [308, "", { location: to }]
  it.live("is noted, because clients do not follow it; unless the whole shop lives there", () =>
    Effect.gen(function* () {
      const shop = yield* site({ "/.well-known/ucp": moved("/api/ucp"), "/api/ucp": profile })
      const seen = yield* look(shop, { home: home(shop.domain, plain) })
      assert.include(seen.problems("ucp"), "the profile is behind a redirect, which clients do not follow")
      const lives = yield* site({ "/.well-known/ucp": profile })
      const apex = yield* site({ "/.well-known/ucp": moved(`${lives.url}/.well-known/ucp`) })
      const whole = yield* look(apex, { home: home(lives.domain, plain) }, {}, [lives.domain])
      assert.deepStrictEqual(whole.problems("ucp"), ["ucp.services: declares no service that can be called"])
    })
  )
})

describe("an MCP server", () => {
  const card = (base: string) => ({ name: "shop", remotes: [{ type: "streamable-http", url: `${base}/mcp` }] })
  const server = (_: string, body: string, request: IncomingMessage): Reply => {
    const { method } = JSON.parse(body)
    if (method === "initialize") {
      const said = rpc(body, {
        protocolVersion: "2025-06-18",
        capabilities: {},
        serverInfo: { name: "shop", version: "1" }
      })
      return [
        200,
        `event: message\ndata: ${JSON.stringify(said)}\n\n`,
        { "content-type": "text/event-stream", "mcp-session-id": "s-1" }
      ]
    }
    if (request.headers["mcp-session-id"] !== "s-1") return [400, rpcError(body, -32000)]
    return rpc(body, { tools: [{ name: "search" }, { name: "buy" }] })
  }
  it.live("is confirmed by opening a session and listing its tools in it", () =>
    Effect.gen(function* () {
      const seen = yield* look(yield* site({ "/.well-known/mcp/server-card.json": card, "/mcp": server }))
      assert.deepStrictEqual([seen.status("mcp_server"), seen.protocol("mcp")], ["pass", "confirmed"])
      assert.deepStrictEqual(seen.findings.results.find(({ protocol }) => protocol === "mcp")?.capabilities, [
        "search",
        "buy"
      ])
    })
  )
  it.live("that answers nothing in a session before it was told that it is open lists its tools", () =>
    Effect.gen(function* () {
      let isOpen = false
      const strict: Page = (base, body, request) => {
        const { method } = JSON.parse(body)
        if (method === "notifications/initialized") {
          isOpen = request.headers["mcp-session-id"] === "s-1"
          return [202, ""]
        }
        return method === "initialize" || isOpen ? server(base, body, request) : rpcError(body, -32602)
      }
      const seen = yield* look(yield* site({ "/.well-known/mcp/server-card.json": card, "/mcp": strict }))
      assert.deepStrictEqual([seen.status("mcp_server"), seen.protocol("mcp")], ["pass", "confirmed"])
    })
  )
  it.live("that knows no sessions any more is asked as its own revision has it", () =>
    Effect.gen(function* () {
      const supported = "2026-07-28"
      const modern: Page = (_, body, { headers }) => {
        const { id, method, params } = JSON.parse(body)
        const said = params._meta?.["io.modelcontextprotocol/protocolVersion"]
        if (said === supported && headers["mcp-protocol-version"] === supported && headers["mcp-method"] === method) {
          return rpc(body, { tools: [{ name: "search" }], resultType: "complete" })
        }
        const data = { supported: [supported], requested: params.protocolVersion }
        return [400, { jsonrpc: "2.0", id, error: { code: -32_022, message: "Unsupported protocol version", data } }]
      }
      const seen = yield* look(yield* site({ "/.well-known/mcp/server-card.json": card, "/mcp": modern }))
      assert.deepStrictEqual([seen.status("mcp_server"), seen.protocol("mcp")], ["pass", "confirmed"])
    })
  )
  it.live("is found by its older card too", () =>
    Effect.gen(function* () {
      const seen = yield* look(yield* site({ "/.well-known/mcp.json": card, "/mcp": server }))
      assert.strictEqual(seen.status("mcp_server"), "pass")
    })
  )
  it.live("that is only declared fails: a stub, a page", () =>
    Effect.gen(function* () {
      for (const stub of [[501, "Not implemented"], "<!doctype html>"] as const) {
        const seen = yield* look(yield* site({ "/.well-known/mcp/server-card.json": card, "/mcp": stub }))
        assert.deepStrictEqual([seen.status("mcp_server"), seen.protocol("mcp")], ["fail", "eligible"])
      }
    })
  )
  it.live("that wants a token is declared, and the place of its tokens is asked for", () =>
    Effect.gen(function* () {
      const resource = { resource: "http://x", authorization_servers: ["http://x"] }
      const pages = { "/.well-known/mcp/server-card.json": card, "/mcp": [401, { error: "token" }] as const }
      const without = yield* look(yield* site(pages))
      const shop = yield* site({ ...pages, "/.well-known/oauth-protected-resource": resource })
      const seen = yield* look(shop)
      assert.deepStrictEqual([without.status("mcp_server"), without.status("oauth_metadata")], ["warn 0.5", "fail"])
      assert.deepStrictEqual([seen.status("mcp_server"), seen.status("oauth_metadata")], ["warn 0.5", "pass"])
    })
  )
})

describe("ACP", () => {
  const discovery = (base: string) => ({
    protocol: { name: "acp", version: "2026-04-17", supported_versions: ["2026-04-17"] },
    api_base_url: `${base}/acp`,
    transports: ["rest"],
    capabilities: { services: ["checkout"] }
  })
  const path = "/acp/checkout_sessions/turnpike-no-such-session"
  const cases: ReadonlyArray<readonly [string, Reply, string]> = [
    [
      "an error of its own, even for want of a token",
      [401, { type: "unauthorized", code: "no_token", message: "Who?" }],
      "pass"
    ],
    ["an unknown session", [404, { type: "invalid_request", code: "not_found", message: "No such session" }], "pass"],
    ["501", [501, { type: "error", code: "later", message: "Later" }], "fail"],
    ["a page", "<!doctype html>", "fail"],
    ["401 without more", [401, ""], "warn 0.5"],
    ["429", [429, ""], "unknown"]
  ]
  for (const [name, reply, status] of cases) {
    it.live(`answers ${name}: ${status}`, () =>
      Effect.gen(function* () {
        const seen = yield* look(yield* site({ "/.well-known/acp.json": discovery, [path]: reply }))
        assert.strictEqual(seen.status("acp"), status)
        assert.strictEqual(seen.protocol("acp"), status === "pass" ? "confirmed" : "eligible")
      })
    )
  }
})

describe("x402", () => {
  const accepts = [
    { scheme: "exact", network: "eip155:8453", amount: "10000", asset: "0x1", payTo: "0x2", maxTimeoutSeconds: 60 }
  ]
  const header = Buffer.from(JSON.stringify({ x402Version: 2, accepts })).toString("base64")
  const paid: Reply = [402, {}, { "payment-required": header }]
  it.live("is confirmed by a listed resource that asks for payment, also at a shop for people", () =>
    Effect.gen(function* () {
      const pages = { "/.well-known/x402": { version: 1, resources: ["POST /order", "GET /data"] }, "/data": paid }
      const seen = yield* look(yield* site(pages))
      assert.deepStrictEqual([seen.status("x402"), seen.protocol("x402")], ["pass", "confirmed"])
      assert.notInclude(seen.asked, "POST /order")
    })
  )
  it.live("is confirmed by a body of version 1", () =>
    Effect.gen(function* () {
      const [{ amount, ...rest }] = accepts as [(typeof accepts)[0]]
      const body = { x402Version: 1, accepts: [{ ...rest, network: "base", maxAmountRequired: amount }] }
      const pages = { "/.well-known/x402": { resources: ["/data"] }, "/data": [402, body] as const }
      const seen = yield* look(yield* site(pages), { isRetail: false })
      assert.strictEqual(seen.status("x402"), "pass")
    })
  )
  it.live("a listed resource that is free fails; a program's site without any lacks it", () =>
    Effect.gen(function* () {
      const free = yield* look(yield* site({ "/.well-known/x402": { resources: ["/data"] }, "/data": { free: true } }))
      const none = yield* look(yield* site({}), { isRetail: false })
      assert.deepStrictEqual([free.status("x402"), none.status("x402")], ["fail", "fail"])
    })
  )
})

describe("A2A", () => {
  const card = (base: string) => ({
    name: "Florist",
    description: "Sells flowers",
    version: "1",
    protocolVersion: "0.3.0",
    url: `${base}/a2a`,
    preferredTransport: "JSONRPC",
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    capabilities: { extensions: [{ uri: "https://github.com/google-agentic-commerce/ap2/tree/v0.1" }] },
    skills: [{ id: "buy", name: "Buy", description: "Buys", tags: ["shop"] }]
  })
  const agent = (_: string, body: string) => rpcError(body, -32001)
  for (const path of ["/.well-known/agent-card.json", "/.well-known/agent.json"]) {
    it.live(`is confirmed by a task that does not exist, with the card at ${path}; AP2 with it`, () =>
      Effect.gen(function* () {
        const seen = yield* look(yield* site({ [path]: card, "/a2a": agent }))
        assert.deepStrictEqual([seen.status("a2a_card"), seen.protocol("a2a")], ["pass", "confirmed"])
        assert.deepStrictEqual([seen.status("ap2"), seen.protocol("ap2")], ["pass", "eligible"])
      })
    )
  }
  it.live("a card of an agent that is not there fails, and its AP2 counts half", () =>
    Effect.gen(function* () {
      const seen = yield* look(yield* site({ "/.well-known/agent-card.json": card }))
      assert.deepStrictEqual([seen.status("a2a_card"), seen.status("ap2")], ["fail", "warn 0.5"])
    })
  )
})
