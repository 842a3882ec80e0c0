import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { Endpoint } from "#domain/Endpoint.ts"
import { parseAddress } from "#domain/Network.ts"
import { type DemandOptions, type Moment, prepareDemand } from "#domain/protocol/Demand.ts"
import { failureHeaders } from "#domain/protocol/Receipt.ts"
import { sealQuote } from "#domain/protocol/SealedQuote.ts"
import { endpoint, feePayer, key, now, offer, price, quote, settlers, terms } from "./Payers.ts"

const options: DemandOptions = {
  error: "payment_required",
  key,
  expiresIn: 60,
  payUrl: "https://pay.example/pay",
  signIn: true
}
const moment: Moment = { quote, issuedAt: now, request: "pr_request", salt: "AAAAAAAAAAA" }
const demand = (change: Partial<Endpoint> = {}, more: Partial<DemandOptions> = {}) =>
  prepareDemand({ endpoint: { ...endpoint, ...change }, price, settlers }, { ...options, ...more })
const decoded = (header: string) => JSON.parse(Buffer.from(header, "base64").toString())
const solana = {
  network: "solana-devnet",
  assetAddress: null,
  paymentAddress: "8SFqwqnq4whPhs8icwHA2hQg3hUoN1qrCLK1SBx3WKwe"
} as const

describe("a 402", () => {
  it("offers version 2 what the endpoint takes, bound to the quote", () => {
    const required = decoded(demand()(moment).header)
    assert.strictEqual(required.x402Version, 2)
    assert.strictEqual(required.error, "payment_required")
    assert.strictEqual(required.resource.url, endpoint.gatewayUrl)
    assert.deepStrictEqual(required.accepts, [offer("exact"), offer("upto")])
    assert.deepStrictEqual(Object.keys(required.extensions), ["sign-in-with-x", "payment-identifier"])
    const { extensions } = decoded(demand({ schemes: ["exact"] })(moment).header)
    assert.deepStrictEqual(Object.keys(extensions), ["sign-in-with-x", "bazaar", "payment-identifier"])
  })

  it("offers version 1 the exact scheme only, without a quote, beside the native flow", () => {
    const body = JSON.parse(demand()(moment).body)
    assert.strictEqual(body.x402Version, 1)
    assert.strictEqual(body.accepts.length, 1)
    assert.deepInclude(body.accepts[0], {
      scheme: "exact",
      network: "base-sepolia",
      maxAmountRequired: "10000",
      resource: endpoint.gatewayUrl
    })
    assert.notProperty(body.accepts[0], "outputSchema")
    assert.deepInclude(body, { payment_request_id: "pr_request", price: "0.01", currency: "USDC", expires_in: 60 })
  })

  it("is the same header for the same quote, and another for another", () => {
    const one = demand()
    const first = one(moment)
    const second = one({ ...moment, request: "pr_other", salt: "BBBBBBBBBBB" })
    assert.strictEqual(second.header, first.header)
    assert.strictEqual(JSON.parse(second.body).payment_request_id, "pr_other")
    const later = sealQuote(key, { ...terms, issuedAt: now + 1000 })
    const third = decoded(one({ ...moment, quote: later, issuedAt: now + 1000 }).header)
    assert.strictEqual(third.accepts[0].extra.quote, later)
    assert.strictEqual(one(moment).header, first.header)
  })

  it("on Solana is different each time, as two payments of one offer would be one transaction", () => {
    const one = demand(solana)
    for (const salt of ["AAAAAAAAAAA", "BBBBBBBBBBB"]) {
      const { body, challenge, header } = one({ ...moment, salt, recentBlockhash: "hash" })
      const extra = { feePayer, memo: `${quote} ${salt}`, quote, recentBlockhash: "hash" }
      assert.deepStrictEqual(decoded(header).accepts[0].extra, extra)
      const { recentBlockhash: _, ...toVersion1 } = extra
      assert.deepStrictEqual(JSON.parse(body).accepts[0].extra, toVersion1)
      const request = /, request="([^"]+)"/.exec(challenge ?? "")?.[1] ?? ""
      assert.strictEqual(JSON.parse(Buffer.from(request, "base64url").toString()).externalId, `${quote} ${salt}`)
    }
  })

  it("by MPP has a challenge of its own each time, and problem fields; not where it is turned off", () => {
    const one = demand()
    const ids = ["AAAAAAAAAAA", "BBBBBBBBBBB"].map(
      (salt) => /^Payment id="([\w-]{43}\.[\w-]+)", /.exec(one({ ...moment, salt }).challenge ?? "")?.[1]
    )
    assert.match(ids[0] ?? "", /\.AAAAAAAAAAA$/)
    assert.match(ids[1] ?? "", /\.BBBBBBBBBBB$/)
    const body = JSON.parse(one(moment).body)
    assert.deepInclude(body, { type: "https://paymentauth.org/problems/payment-required", status: 402 })
    const off = demand({ mpp: false })(moment)
    assert.isUndefined(off.challenge)
    assert.notProperty(JSON.parse(off.body), "type")
  })

  it("does not offer upto where nobody settles it", () => {
    const alone = { facilitator: undefined, feePayer: undefined, signers: [] }
    const { header } = prepareDemand({ endpoint, price, settlers: alone }, options)(moment)
    assert.deepStrictEqual(
      decoded(header).accepts.map(({ scheme }: { scheme: string }) => scheme),
      ["exact"]
    )
  })

  it("does not ask who is calling where that changes nothing", () => {
    assert.notProperty(decoded(demand({}, { signIn: false })(moment).header).extensions, "sign-in-with-x")
  })

  it("tells catalogues how the endpoint is called", () => {
    const input = (method: Endpoint["method"]) =>
      decoded(demand({ method, mpp: false })(moment).header).extensions.bazaar.info.input
    assert.deepStrictEqual(input("GET"), { type: "http", method: "GET" })
    assert.deepStrictEqual(input("ANY"), { type: "http", method: "GET" })
    assert.deepStrictEqual(input("POST"), { type: "http", method: "POST", bodyType: "json", body: {} })
  })

  const own = sealQuote(key, terms, endpoint.paymentAddress)
  it.prop(
    "leaves room in 4 KB for all other headers, whatever the description",
    { description: Schema.String, network: Schema.Literals(["base-sepolia", "solana-devnet"]) },
    ({ description, network }) => {
      for (const text of [
        description,
        description.repeat(50),
        "\u0001".repeat(1_000),
        "😀".repeat(500),
        '"'.repeat(1_000)
      ]) {
        const change = network === "base-sepolia" ? { description: text } : { description: text, ...solana }
        const { challenge, header } = demand(change)({ ...moment, quote: own, recentBlockhash: "h".repeat(44) })
        assert.isAtMost(header.length + (challenge?.length ?? 0), 3_000)
        assert.isAtLeast(decoded(header).accepts.length, 1)
      }
    }
  )

  it("leaves room for why a payment failed, however long that is", () => {
    for (const length of [10, 54, 84, 120]) {
      for (const change of [{ description: "w".repeat(400) }, { description: "w".repeat(400), ...solana }]) {
        const error = "e".repeat(length)
        const { challenge, header } = demand(change, { error })({
          ...moment,
          quote: own,
          recentBlockhash: "h".repeat(44)
        })
        const verdict = failureHeaders("network" in change ? change.network : "base-sepolia", error).join(": \r\n")
        assert.isAtMost(header.length + (challenge?.length ?? 0) + verdict.length, 3_190, error)
      }
    }
  })

  it("says less of the endpoint before it leaves out who may sign in", () => {
    const { header } = demand({ description: "w".repeat(400) })({ ...moment, quote: own })
    const { extensions, resource } = decoded(header)
    assert.strictEqual(resource.description, "w".repeat(100))
    assert.property(extensions, "sign-in-with-x")
  })

  it("names the address that was called in the header, and the endpoint in the body", () => {
    for (const change of [{}, solana]) {
      const one = demand(change)
      const at = (more: string) => one({ ...moment, url: endpoint.gatewayUrl + more, recentBlockhash: "hash" })
      for (const more of ["?q=%C3%A4", '/a/b?q="$&"', `/${"x".repeat(100)}`]) {
        const { body, header } = at(more)
        const plain = one({ ...moment, recentBlockhash: "hash" })
        const { resource, ...required } = decoded(header)
        const { resource: own, ...same } = decoded(plain.header)
        assert.strictEqual(resource.url, endpoint.gatewayUrl + more)
        assert.deepStrictEqual([own.url, required.accepts], [endpoint.gatewayUrl, same.accepts])
        assert.property(required.extensions, "payment-identifier")
        assert.strictEqual(body, plain.body)
      }
      const long = decoded(at(`?${"x".repeat(2_500)}`).header)
      assert.strictEqual(long.resource.url, endpoint.gatewayUrl, "the headers may be no longer for it")
    }
  })

  it("leaves extensions out when the address alone is long", () => {
    const gatewayUrl = `https://pay.example/${"x".repeat(900)}`
    const required = decoded(demand({ gatewayUrl })(moment).header)
    assert.notProperty(required.extensions ?? {}, "bazaar")
    assert.isDefined(parseAddress("base-sepolia", required.accepts[0].asset))
  })
})
