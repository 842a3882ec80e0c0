import { assert, describe, it } from "@effect/vitest"
import { hasAp2, judgeA2aCard } from "../../../src/domain/protocol/A2aCard.ts"
import { isAcpError, judgeAcp } from "../../../src/domain/protocol/Acp.ts"
import { jsonLimits, readBoundedJson } from "../../../src/domain/protocol/BoundedJson.ts"
import { readRpcAnswer, toolResult } from "../../../src/domain/protocol/JsonRpc.ts"
import { judgeMcpCard } from "../../../src/domain/protocol/McpCard.ts"
import { problemLine } from "../../../src/domain/protocol/Problems.ts"
import { judgeAuthorizationServer, linkTargets, readApiCatalog } from "../../../src/domain/protocol/ServiceMetadata.ts"
import { decimalOf, readCheckout } from "../../../src/domain/protocol/UcpWords.ts"
import { askableResource, readX402Demand, readX402Listing } from "../../../src/domain/protocol/X402Demanded.ts"

const site = new URL("https://shop.example/")

describe("JSON of strangers", () => {
  it("is refused when it is deep or long, before it is parsed", () => {
    const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`
    assert.strictEqual(readBoundedJson(deep(jsonLimits.depth))._tag, "Json")
    assert.deepStrictEqual(readBoundedJson(deep(500_000 - 1)), { _tag: "NotJson", why: "nested deeper than 64 levels" })
    const long = JSON.stringify("x".repeat(jsonLimits.characters))
    assert.deepStrictEqual(readBoundedJson(long), { _tag: "NotJson", why: "longer than 1000000 characters" })
  })
  it("brackets inside texts do not count as depth", () => {
    const text = JSON.stringify({ a: `${"[{".repeat(200)}\\"` })
    assert.strictEqual(readBoundedJson(text)._tag, "Json")
  })
  it("a page is told from broken JSON", () => {
    assert.deepStrictEqual(readBoundedJson(" <!doctype html>"), { _tag: "NotJson", why: "HTML, not JSON" })
    assert.deepStrictEqual(readBoundedJson("{"), { _tag: "NotJson", why: "not JSON" })
    assert.deepStrictEqual(readBoundedJson(""), { _tag: "NotJson", why: "empty" })
  })
})

describe("an answer of JSON-RPC", () => {
  const ok = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { tools: [] } })
  it("is read from JSON and from a stream of events, after notifications", () => {
    const stream = `: hello\n\nevent: message\ndata: {"jsonrpc":"2.0","method":"notifications/message"}\n\nid: 7\ndata: ${ok}\n\n`
    assert.deepStrictEqual(readRpcAnswer("application/json", ok, 1), { _tag: "Result", result: { tools: [] } })
    assert.deepStrictEqual(readRpcAnswer("text/event-stream", stream, 1), { _tag: "Result", result: { tools: [] } })
    assert.deepStrictEqual(readRpcAnswer("text/event-stream; charset=utf-8", stream.replaceAll("\n", "\r\n"), 1), {
      _tag: "Result",
      result: { tools: [] }
    })
  })
  it("of another id, or of no JSON-RPC, is none", () => {
    assert.strictEqual(readRpcAnswer("application/json", ok, 2)._tag, "NotRpc")
    assert.strictEqual(readRpcAnswer("application/json", `{"tools":[]}`, 1)._tag, "NotRpc")
    assert.strictEqual(readRpcAnswer("text/event-stream", "data: hello\n\n", 1)._tag, "NotRpc")
  })
  it("a tool's answer is its structure, or the JSON in its first text", () => {
    assert.deepStrictEqual(toolResult({ structuredContent: { a: 1 }, content: [] }), { a: 1 })
    assert.deepStrictEqual(toolResult({ content: [{ type: "text", text: `{"a":1}` }] }), { a: 1 })
    assert.isUndefined(toolResult({ content: [{ type: "text", text: "sold out" }] }))
  })
})

describe("amounts of UCP", () => {
  it("are minor units of the currency", () => {
    assert.deepStrictEqual(
      [
        decimalOf(1999, "USD"),
        decimalOf(5, "USD"),
        decimalOf(-450, "EUR"),
        decimalOf(1200, "JPY"),
        decimalOf(1, "KWD")
      ],
      ["19.99", "0.05", "-4.50", "1200", "0.001"]
    )
    assert.deepStrictEqual([decimalOf(19.99, "USD"), decimalOf("1999", "USD")], [null, null])
  })
  it("a checkout is read whatever is missing of it", () => {
    assert.isUndefined(readCheckout({ status: "incomplete" }))
    const checkout = readCheckout({ id: "c", line_items: [1, { item: null }], totals: "none", messages: {} })
    assert.deepStrictEqual([checkout?.lines.length, checkout?.total, checkout?.status], [1, null, ""])
  })
})

describe("ACP", () => {
  const discovery = {
    protocol: { name: "acp", version: "2026-04-17", supported_versions: ["2026-04-17"] },
    api_base_url: "https://shop.example/acp",
    transports: ["rest"],
    capabilities: { services: ["checkout", "orders"] }
  }
  const lines = (value: unknown) => judgeAcp(value, site)?.problems.map(problemLine)
  it("a valid discovery document has no problems", () => assert.deepStrictEqual(lines(discovery), []))
  it("says what is wrong", () => {
    assert.deepStrictEqual(lines({ ...discovery, api_base_url: "http://shop.example/acp" }), [
      "api_base_url: must use https"
    ])
    assert.deepStrictEqual(lines({ ...discovery, transports: ["smoke"] }), ["transports: must have rest or mcp"])
    assert.deepStrictEqual(lines({ ...discovery, capabilities: { services: ["orders"] } }), [
      "capabilities.services: does not have checkout: agents can buy nothing"
    ])
  })
  it("another protocol of that name is none", () =>
    assert.isUndefined(judgeAcp({ name: "relay", version: "2.8.0" }, site)))
  it("its errors are flat", () => {
    assert.isTrue(isAcpError({ type: "invalid_request", code: "not_found", message: "No such checkout" }))
    assert.isFalse(isAcpError({ error: { message: "No" } }))
  })
})

describe("the card of an agent", () => {
  const common = {
    name: "Florist",
    description: "Sells",
    version: "1",
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: []
  }
  const skills = [{ id: "buy", name: "Buy", description: "Buys", tags: ["shop"] }]
  const v1 = {
    ...common,
    supportedInterfaces: [{ url: "https://shop.example/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    skills
  }
  const v03 = {
    ...common,
    url: "https://shop.example/a2a",
    preferredTransport: "JSONRPC",
    protocolVersion: "0.3.0",
    skills
  }
  it("of 1.0, of 0.3 and of both is valid", () => {
    for (const card of [v1, v03, { ...v03, ...v1 }]) assert.deepStrictEqual(judgeA2aCard(card, site)?.problems, [])
    assert.deepStrictEqual([judgeA2aCard(v1, site)?.version, judgeA2aCard(v03, site)?.version], ["1.0", "0.3.0"])
  })
  it("without an address is not", () => {
    const { url: _url, ...nowhere } = v03
    assert.deepStrictEqual(judgeA2aCard(nowhere, site)?.problems.map(problemLine), ["url: is missing"])
  })
  it("agents.json of others is no card", () => assert.isUndefined(judgeA2aCard({ agents: [] }, site)))
  it("declares AP2 by an extension", () => {
    const extensions = [
      { uri: "https://github.com/google-agentic-commerce/ap2/tree/v0.1", params: { roles: ["merchant"] } }
    ]
    const card = judgeA2aCard({ ...v1, capabilities: { extensions } }, site)
    assert.isTrue(card !== undefined && hasAp2(card))
  })
})

describe("the card of an MCP server", () => {
  const cards: ReadonlyArray<readonly [string, object]> = [
    ["remotes", { name: "a", remotes: [{ type: "streamable-http", url: "https://shop.example/mcp" }] }],
    ["transport", { serverInfo: { name: "a" }, transport: { type: "streamable-http", endpoint: "/mcp" } }],
    ["a list of servers by name", { name: "a", mcpServers: { shop: { url: "https://shop.example/mcp" } } }],
    ["its own address", { name: "a", endpoint: "https://shop.example/mcp" }]
  ]
  for (const [name, card] of cards) {
    it(`says where by ${name}`, () => {
      assert.strictEqual(judgeMcpCard(card, site)?.endpoint?.href, "https://shop.example/mcp")
    })
  }
  it("that does not say where is useless", () => {
    const card = judgeMcpCard({ serverInfo: { name: "a" } }, site)
    assert.deepStrictEqual(card?.problems.map(problemLine), ["does not say where the server is"])
  })
})

describe("x402", () => {
  const v2 = {
    scheme: "exact",
    network: "eip155:8453",
    amount: "10000",
    asset: "0x1",
    payTo: "0x2",
    maxTimeoutSeconds: 60
  }
  const header = (accepts: ReadonlyArray<object>) =>
    Buffer.from(JSON.stringify({ x402Version: 2, accepts })).toString("base64")
  it("version 2 stands in the header, version 1 in the body", () => {
    assert.deepInclude(readX402Demand(header([v2]), {}), { version: 2, networks: ["eip155:8453"], problems: [] })
    const { amount, ...rest } = v2
    const body = { x402Version: 1, accepts: [{ ...rest, network: "base", maxAmountRequired: amount }] }
    assert.deepInclude(readX402Demand(undefined, body), { version: 1, networks: ["base"], problems: [] })
  })
  it("what cannot be paid is said", () => {
    const lines = readX402Demand(header([{ ...v2, amount: "$0.01" }]), {})?.problems.map(problemLine)
    assert.deepStrictEqual(lines, ["accepts[0].amount: must be a whole number as text"])
    assert.deepStrictEqual(readX402Demand(header([]), {})?.problems.map(problemLine), [
      "accepts: must offer at least one way to pay"
    ])
  })
  it("another 402 is none", () => assert.isUndefined(readX402Demand(undefined, { error: "pay us" })))
  it("a list of resources is read in the shapes in use", () => {
    assert.deepStrictEqual(readX402Listing({ version: 1, resources: ["POST /a", "GET /b"] }), ["POST /a", "GET /b"])
    assert.deepStrictEqual(readX402Listing({ items: [{ resource: "https://shop.example/c" }] }), [
      "https://shop.example/c"
    ])
    assert.strictEqual(askableResource(["POST /a", "GET /b"]), "/b")
  })
})

describe("metadata of services", () => {
  it("of an authorization server", () => {
    const metadata = {
      issuer: "https://shop.example",
      authorization_endpoint: "https://shop.example/authorize",
      token_endpoint: "https://shop.example/token",
      response_types_supported: ["code"]
    }
    assert.deepStrictEqual(judgeAuthorizationServer(metadata, site), [])
    assert.deepStrictEqual(
      judgeAuthorizationServer({ ...metadata, token_endpoint: "/token" }, site)?.map(problemLine),
      ["token_endpoint: must be an absolute URL"]
    )
  })
  it("of an API catalogue", () => {
    assert.deepStrictEqual(
      readApiCatalog({ linkset: [{ anchor: "https://a", "service-desc": [{ href: "https://a/o" }] }] }),
      {
        links: 1,
        problems: []
      }
    )
    assert.deepStrictEqual(readApiCatalog({ linkset: [] })?.problems.map(problemLine), ["linkset: links to nothing"])
  })
  it("in Link headers", () => {
    const header = '</a>; rel="service-desc"; type="x", </b,c>; rel=next, </d>; rel="other api-catalog"'
    assert.deepStrictEqual(linkTargets(header, ["service-desc", "api-catalog"]), ["/a", "/d"])
  })
})
