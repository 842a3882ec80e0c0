import { Effect } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { UcpRelease } from "../../src/domain/protocol/Ucp.ts"
import { type Fixture, open as openFixture } from "./Fixture.ts"
import { type Profile, profileOf } from "./UcpProfiles.ts"
import { selling, type Selling } from "./UcpSelling.ts"

/** What is wrong with a shop. */
export type UcpFault =
  | "stub" // every call is answered 501
  | "page" // every call is answered with a page
  | "catch_all" // every path, known or not, is answered 200 with a page
  | "wrong_keys" // the keys are under the name of another release
  | "plain_endpoint" // the endpoint has no TLS
  | "foreign_schema" // a capability of the protocol is defined by somebody else
  | "newer" // a release that nobody knows
  | "malformed_version"
  | "oversized"
  | "deep"
  | "no_profile"
  | "wants_session" // MCP without `initialize` is refused
  | "wants_token"
  | "busy" // every call is answered 429
  | "orders_at_once" // a checkout that lacks nothing is an order, without being completed
  | "pays_unsaid" // neither the profile nor a checkout says how it can be paid

export interface UcpShopOptions {
  readonly release: UcpRelease
  readonly transports?: ReadonlyArray<"mcp" | "rest">
  readonly fault?: UcpFault
  /** MCP answers come as a stream of events. */
  readonly streams?: boolean
  /** Other documents and pages, by path. */
  readonly also?: Readonly<Record<string, (base: string) => object>>
}
export interface UcpShop extends Fixture {
  readonly selling: Selling
}

const tools = [
  ...["search_catalog", "create_cart", "get_cart", "update_cart", "cancel_cart"],
  ...["create_checkout", "get_checkout", "update_checkout", "complete_checkout", "cancel_checkout"]
]
const deep = `${'{"ucp":'.repeat(5000)}1${"}".repeat(5000)}`

const faulty = (profile: Profile, fault: UcpFault | undefined): Profile => {
  const [service] = Object.values<Profile>(profile.ucp.services)
  switch (fault) {
    case "wrong_keys": {
      const { keys, signing_keys, ...rest } = profile
      return keys === undefined ? { ...rest, keys: signing_keys } : { ...rest, signing_keys: keys }
    }
    case "plain_endpoint":
      for (const binding of [service ?? {}].flat()) (binding.mcp ?? binding).endpoint = "http://pay.shop.example/ucp"
      return profile
    case "foreign_schema": {
      const [capability] = Object.values<Profile>(profile.ucp.capabilities).flat()
      if (capability !== undefined) capability.schema = "https://schemas.elsewhere.example/checkout.json"
      return profile
    }
    case "newer":
      profile.ucp.version = "2027-03-01"
      return profile
    case "malformed_version":
      profile.ucp.version = "v1"
      return profile
    case "pays_unsaid":
      delete profile.ucp.payment_handlers
      return profile
    case "oversized":
      return { ...profile, padding: "x".repeat(1_500_000) }
    default:
      return profile
  }
}

const bodyOf = async (request: IncomingMessage): Promise<Profile> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  return text === "" ? {} : JSON.parse(text)
}

const send = (response: ServerResponse, status: number, body: object | string, type = "application/json") => {
  response.writeHead(status, { "content-type": type })
  response.end(typeof body === "string" ? body : JSON.stringify(body))
}
const page = "<!doctype html><title>Shop</title><h1>Everything for the garden</h1>"

/** What every answer of UCP carries. */
const signed = ({ fault, release }: UcpShopOptions, said: Profile): Profile => {
  const names = ["dev.ucp.shopping.checkout"]
  const capabilities =
    release === "2026-01-11"
      ? names.map((name) => ({ name, version: release }))
      : Object.fromEntries(names.map((name) => [name, [{ version: release }]]))
  const handlers = { "com.example.cards": [{ id: "cards", version: release, config: {} }] }
  const payment = release === "2026-01-11" || fault === "pays_unsaid" ? {} : { payment_handlers: handlers }
  return { ...said, ucp: { version: release, ...(said.ucp ?? {}), capabilities, ...payment } }
}

const done = ({ fault }: UcpShopOptions, shop: Selling, operation: string, id: string | undefined, body: Profile) => {
  const said = shop.do(operation, id, body)
  const isReady = fault === "orders_at_once" && said.status === "ready_for_complete"
  return isReady ? shop.do("complete_checkout", said.id, {}) : said
}

const rpc = (options: UcpShopOptions, shop: Selling, { id, method, params = {} }: Profile): Profile => {
  const error = (code: number, message: string, data?: object) => ({
    jsonrpc: "2.0",
    id,
    error: { code, message, data }
  })
  const isFirst = options.release === "2026-01-11"
  const args = params.arguments ?? {}
  const agent = isFirst ? (params._meta ?? args._meta)?.ucp?.profile : args.meta?.["ucp-agent"]?.profile
  if (agent === undefined) return error(-32001, "Who asks?", { code: "invalid_profile_url" })
  if (options.fault === "wants_session") return error(-32000, "Bad Request: Server not initialized")
  if (method === "tools/list") {
    const list = tools.map((name) => ({ name, inputSchema: { type: "object", additionalProperties: true } }))
    return { jsonrpc: "2.0", id, result: { tools: list } }
  }
  if (method !== "tools/call" || !tools.includes(params.name)) return error(-32601, "Method not found")
  const body = isFirst ? args : (args.checkout ?? args.cart ?? args.catalog ?? {})
  const said = signed(options, done(options, shop, params.name, args.id, body))
  return {
    jsonrpc: "2.0",
    id,
    result: { structuredContent: said, content: [{ type: "text", text: JSON.stringify(said) }] }
  }
}

/** The operation of a request over REST, with the id in its path. */
const operationOf = (method: string, path: string): readonly [string, string?] | undefined => {
  const [, collection, id, action] = path.split("/")
  if (path === "/catalog/search") return ["search_catalog"]
  const kind = collection === "carts" ? "cart" : collection === "checkout-sessions" ? "checkout" : undefined
  if (kind === undefined) return undefined
  if (id === undefined) return method === "POST" ? [`create_${kind}`] : undefined
  if (action !== undefined) return [`${action}_${kind}`, id]
  return [`${method === "PUT" ? "update" : "get"}_${kind}`, id]
}

const refusals: Readonly<Record<string, readonly [number, object | string, string?]>> = {
  stub: [501, "Not implemented", "text/plain"],
  page: [200, page, "text/html"],
  wants_token: [401, { error: "unauthorized" }],
  busy: [429, { error: "slow down" }]
}

/** Opens a shop that sells flowers over UCP, for the length of the scope. */
export const open = (options: UcpShopOptions) =>
  Effect.gen(function* () {
    const shop = selling()
    const { fault, release, transports = ["mcp", "rest"] } = options
    const fixture = yield* openFixture(async (request, response, base) => {
      const { method = "GET" } = request
      const path = new URL(request.url ?? "/", base).pathname
      const body = await bodyOf(request)
      const other = options.also?.[path]
      const refusal = refusals[fault ?? ""]
      const isCall = path.startsWith("/ucp/")
      if (other !== undefined) return send(response, 200, other(base))
      if (path === "/") return send(response, 200, page, "text/html")
      if (fault === "catch_all") return send(response, 200, page, "text/html")
      if (path === "/.well-known/ucp" && fault === "deep") return send(response, 200, deep)
      if (path === "/.well-known/ucp" && fault !== "no_profile") {
        return send(response, 200, faulty(profileOf(release, { base, transports }), fault))
      }
      if (isCall && refusal !== undefined) return send(response, ...refusal)
      if (path === "/ucp/mcp" && method === "POST") {
        const said = rpc(options, shop, body)
        if (options.streams !== true) return send(response, 200, said)
        return send(response, 200, `event: message\ndata: ${JSON.stringify(said)}\n\n`, "text/event-stream")
      }
      const asked = path.startsWith("/ucp/rest/") ? operationOf(method, path.slice("/ucp/rest".length)) : undefined
      if (asked === undefined) return send(response, 404, page, "text/html")
      const said = signed(options, done(options, shop, asked[0], asked[1], body))
      return send(response, said.ucp.status === "error" && asked[0].startsWith("get_") ? 404 : 200, said)
    })
    const opened: UcpShop = { ...fixture, selling: shop }
    return opened
  })
