import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  allowed,
  Endpoint,
  EndpointPath,
  ForwardHeaders,
  mayBecome,
  NewEndpoint,
  schemesFit,
  serves
} from "#domain/Endpoint.ts"
import { BasePrice, VolumeDiscounts } from "#domain/EndpointPrice.ts"
import { originPath, parseGatewayTarget } from "#domain/GatewayPath.ts"

const accepts = <A, I>(schema: Schema.Codec<A, I>, value: unknown) =>
  Schema.decodeUnknownResult(schema)(value)._tag === "Success"

describe("a base price", () => {
  const table: ReadonlyArray<[unknown, bigint | "refused"]> = [
    [0.01, 10_000n],
    [1, 1_000_000n],
    [0.000101, 101n],
    [0.1, 100_000n],
    [999_999, 999_999_000_000n],
    [123_456.654321, 123_456_654_321n],
    [0.0001, "refused"],
    [0.00010001, "refused"],
    [999_999.000001, "refused"],
    [1_000_000, "refused"],
    [0, "refused"],
    [-1, "refused"],
    [1e-7, "refused"],
    [1e21, "refused"],
    [Number.NaN, "refused"],
    [Number.POSITIVE_INFINITY, "refused"],
    ["0.01", "refused"],
    [null, "refused"]
  ]
  for (const [input, expected] of table) {
    it(`${String(input)} is ${expected}`, () => {
      const result = Schema.decodeUnknownResult(BasePrice)(input)
      assert.strictEqual(result._tag === "Success" ? result.success : "refused", expected)
    })
  }

  it("is the same JSON number again", () => {
    for (const number of [0.01, 0.1, 0.3, 123_456.654321, 999_999]) {
      assert.strictEqual(Schema.encodeSync(BasePrice)(Schema.decodeSync(BasePrice)(number)), number)
    }
  })
})

describe("volume discounts", () => {
  const table: ReadonlyArray<[string, unknown, boolean]> = [
    ["none", [], true],
    [
      "in any order",
      [
        { threshold: 9, priceMultiplier: 0.5 },
        { threshold: 2, priceMultiplier: 0.9 }
      ],
      true
    ],
    ["multiplier 0", [{ threshold: 1, priceMultiplier: 0 }], true],
    ["a tiny multiplier", [{ threshold: 1, priceMultiplier: 1e-9 }], true],
    [
      "equal thresholds",
      [
        { threshold: 2, priceMultiplier: 0.5 },
        { threshold: 2, priceMultiplier: 0.9 }
      ],
      false
    ],
    ["threshold 0", [{ threshold: 0, priceMultiplier: 0.5 }], false],
    ["half a threshold", [{ threshold: 1.5, priceMultiplier: 0.5 }], false],
    ["a negative multiplier", [{ threshold: 1, priceMultiplier: -0.1 }], false],
    ["a multiplier above 1", [{ threshold: 1, priceMultiplier: 1.01 }], false]
  ]
  for (const [name, input, expected] of table) {
    it(`${name}: ${expected ? "accepted" : "refused"}`, () => {
      assert.strictEqual(accepts(VolumeDiscounts, input), expected)
    })
  }
})

describe("an endpoint's path", () => {
  for (const path of ["/", "/a", "/a/b.json", "/*", "/files/*", "/caf%C3%A9"]) {
    it(`${path} is accepted`, () => assert.isTrue(accepts(EndpointPath, path)))
  }
  for (const path of [
    "",
    "a",
    "/a?b=1",
    "/a#b",
    "/*/a",
    "/a*",
    "//a",
    "/a/../b",
    "/a%2Fb",
    "/a b",
    `/${"a".repeat(500)}`
  ]) {
    it(`${path.slice(0, 20)} is refused`, () => assert.isFalse(accepts(EndpointPath, path)))
  }

  const table: ReadonlyArray<[string, string, string | undefined]> = [
    ["/forecast", "", "/forecast"],
    ["/forecast", "/", undefined],
    ["/forecast", "/more", undefined],
    ["/files/*", "", "/files"],
    ["/files/*", "/", "/files/"],
    ["/files/*", "/a%20b/c", "/files/a%20b/c"],
    ["/*", "", "/"],
    ["/*", "/x", "/x"]
  ]
  for (const [pattern, rest, expected] of table) {
    it(`${pattern} with "${rest}" leads to ${expected}`, () => assert.strictEqual(originPath(pattern, rest), expected))
  }
})

describe("a gateway target", () => {
  it("is taken apart without being decoded", () => {
    assert.deepStrictEqual(parseGatewayTarget("/x402/id/a%20b/c?q=%2F..//&r"), {
      endpoint: "id",
      rest: "/a%20b/c",
      query: "?q=%2F..//&r"
    })
  })
  const attacks = [
    "/a%2Fb",
    "/a%2fb",
    "/a%5Cb",
    "/a\\b",
    "//a",
    "/a//b",
    "/..",
    "/../other",
    "/a/../b",
    "/.",
    "/a/./b",
    "/%2e%2e/a",
    "/.%2e/a",
    "/%2E./a",
    "/..;/a",
    "/..%3b/a",
    "/%252Fa",
    "/%252e%252e/a",
    "/%25%32%65%25%32%65/a",
    "/%25%32fa",
    "/%25%34%31",
    "/%2500",
    "/a%250a",
    "/a%00b",
    "/a%0d%0ab",
    "/a%7f",
    "/%ff",
    "/%c0%af",
    "/%zz",
    "/a%",
    "/é",
    "/a#b",
    "/a b",
    "?a b",
    "?a#b",
    "?a\u0001",
    "?ü"
  ]
  for (const rest of attacks) {
    it(`${rest} is refused`, () => assert.isUndefined(parseGatewayTarget(`/x402/id${rest}`)))
  }
  for (const target of ["http://host/x402/id", "//host/x402/id", "/x402/../x402/id", "/x402//id", "/x402%2Fid"]) {
    it(`${target} is refused`, () => assert.isUndefined(parseGatewayTarget(target)))
  }
  for (const rest of ["/a;b=c", "/..a", "/a..", "/...", "/a%25", "/5%25%20off", "/%E2%82%AC", "/a:b@c,d"]) {
    it(`${rest} is one path to every reader`, () =>
      assert.strictEqual(parseGatewayTarget(`/x402/id${rest}`)?.rest, rest))
  }
})

describe("an endpoint", () => {
  it("of method ANY serves what means a call, and nothing else", () => {
    for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]) assert.isTrue(serves("ANY", method))
    for (const method of ["OPTIONS", "TRACE", "CONNECT", "PROPFIND"]) assert.isFalse(serves("ANY", method))
    assert.isFalse(serves("GET", "HEAD"))
  })

  it("comes back from disabled as active only", () => {
    assert.isTrue(mayBecome("active", "paused") && mayBecome("paused", "active") && mayBecome("paused", "disabled"))
    assert.isTrue(mayBecome("disabled", "active") && mayBecome("disabled", "disabled"))
    assert.isFalse(mayBecome("disabled", "paused"))
  })

  it("adds no header that speaks for the gateway", () => {
    assert.isTrue(accepts(ForwardHeaders, { "X-Api-Key": "k", Authorization: "Bearer abc" }))
    for (const name of ["Host", "x-payment-id", "X-Forwarded-For", "Content-Length", "Connection", "a b", ""]) {
      assert.isFalse(accepts(ForwardHeaders, { [name]: "x" }), name)
    }
    assert.isFalse(accepts(ForwardHeaders, { a: "b\r\nc: d" }))
  })

  it("adds none that an origin behind CGI reads as one of ours, and reads those that it once took", () => {
    for (const name of ["X_Payment_Payer", "x.payment.id", "X_Forwarded-For", "Payment_Receipt"]) {
      assert.isFalse(accepts(ForwardHeaders, { [name]: "x" }), name)
      assert.isTrue(accepts(Endpoint.fields.forwardHeaders, { [name]: "x" }), name)
    }
    assert.isTrue(accepts(ForwardHeaders, { X_Api_Key: "k" }))
  })

  const weather = { name: "Weather", path: "/weather", method: "GET" }
  const fields = (count: number, value = "x") =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, value]))
  const tiers = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ threshold: index + 1, priceMultiplier: 0.5 }))
  const edges: ReadonlyArray<readonly [field: string, last: unknown, beyond: unknown]> = [
    ["name", "x".repeat(255), "x".repeat(256)],
    ["name", "x", ""],
    ["description", "x".repeat(1000), "x".repeat(1001)],
    ["path", `/${"x".repeat(499)}`, `/${"x".repeat(500)}`],
    ["originUrl", "x".repeat(2048), "x".repeat(2049)],
    ["timeoutMs", 100, 99],
    ["timeoutMs", 120_000, 120_001],
    ["rateLimit", 1, 0],
    ["rateLimit", 1_000_000, 1_000_001],
    ["schemes", ["upto", "exact"], ["exact", "exact"]],
    ["schemes", ["exact"], []],
    ["volumeDiscounts", tiers(100), tiers(101)],
    ["volumeDiscounts", [{ threshold: 1e12, priceMultiplier: 1 }], [{ threshold: 1e12 + 1, priceMultiplier: 1 }]],
    ["forwardHeaders", fields(20), fields(21)],
    ["forwardHeaders", { ["x".repeat(100)]: "" }, { ["x".repeat(101)]: "" }],
    ["forwardHeaders", { "0": "x".repeat(2000) }, { "0": "x".repeat(2001) }]
  ]
  for (const [index, [field, last, beyond]] of edges.entries()) {
    it(`is made up to the limit of its ${field}, and not beyond (${index + 1})`, () => {
      assert.isTrue(accepts(NewEndpoint, { ...weather, [field]: last }))
      assert.isFalse(accepts(NewEndpoint, { ...weather, [field]: beyond }))
    })
  }

  it("is paid by schemes that can all be signed on its network", () => {
    assert.isTrue(schemesFit(["exact", "upto"], "base-sepolia"))
    assert.isTrue(schemesFit(["exact"], "solana-devnet"))
    assert.isFalse(schemesFit(["exact", "upto"], "solana-devnet"))
  })

  it("says which methods it serves", () => {
    assert.strictEqual(allowed("GET"), "GET, OPTIONS")
    assert.strictEqual(allowed("ANY"), "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
  })

  it("has the field names of its interface", () => {
    assert.containsAllKeys(Endpoint.fields, [
      "id",
      "tenantId",
      "accountId",
      "name",
      "description",
      "path",
      "method",
      "basePrice",
      "currency",
      "paymentAddress",
      "assetAddress",
      "network",
      "totalCalls",
      "totalRevenue",
      "status",
      "volumeDiscounts",
      "webhookUrl",
      "createdAt",
      "updatedAt",
      "originUrl",
      "gatewayUrl",
      "walletId",
      "timeoutMs",
      "rateLimit",
      "chargeOn",
      "schemes",
      "mpp",
      "forwardHeaders"
    ])
  })
})
