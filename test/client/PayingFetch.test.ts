import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { payingFetch, type Offer, receiptOf, type Spent } from "#client/client.ts"
import { Deployment } from "#services/Deployment.ts"
import { balance, buyer, charged, seller, server } from "../http/GatewayHarness.ts"
import { between, refusal } from "./Strangers.ts"

const unit = 1_000_000n

/** A funded agent in front of an endpoint that costs 0.01. */
const scene = Effect.fnUntraced(function* (
  listener: Parameters<typeof seller>[0],
  endpoint: Parameters<typeof seller>[1] = {}
) {
  const { publicUrl: baseUrl } = yield* Deployment
  const shop = yield* seller(listener, endpoint)
  const agent = yield* buyer(unit)
  return { shop, agent, url: `${baseUrl}${shop.path}`, paying: { baseUrl, apiKey: agent.key, wallet: agent.purse } }
})

const isPaid = ({ headers }: { readonly headers: Record<string, unknown> }) => "x-payment-proof" in headers

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a fetch that pays from a wallet", (it) => {
  it.effect("turns a 402 into the answer, and says what was taken", () =>
    Effect.gen(function* () {
      const { agent, paying, shop, url } = yield* scene((_, response) => response.end("sunny"))
      const offers: Array<Offer> = []
      const told = Promise.withResolvers<Spent>()
      const fetch = payingFetch({
        ...paying,
        approve: (offer) => offers.push(offer) === 1,
        onPayment: told.resolve
      })
      const response = yield* Effect.promise(() => fetch(`${url}?city=Lisbon`))
      assert.strictEqual(response.status, 200)
      assert.strictEqual(yield* Effect.promise(() => response.text()), "sunny")
      const receipt = receiptOf(response)
      assert.strictEqual(receipt?.amount, "0.01")
      assert.match(receipt?.paymentId ?? "", /^pay_/)
      assert.strictEqual(receipt?.network, "solana-devnet")
      assert.deepInclude(offers[0], {
        url: `${url}?city=Lisbon`,
        method: "GET",
        amount: "0.01",
        currency: "USDC",
        network: "solana-devnet",
        payTo: shop.endpoint.paymentAddress
      })
      const spent = yield* Effect.promise(() => told.promise)
      assert.deepStrictEqual([spent.amount, spent.paymentId], ["0.01", receipt?.paymentId])
      assert.strictEqual(yield* charged(agent.purse, unit), 10_000n)
    })
  )

  it.effect("sends the body again with the proof, whatever kind of body it is", () =>
    Effect.gen(function* () {
      const { paying, url } = yield* scene((request, response) => request.pipe(response), { method: "POST" })
      const fetch = payingFetch(paying)
      const text = "a question"
      const bytes = new TextEncoder().encode(text)
      const post = { method: "POST", body: text }
      const streamed = new Request(url, { method: "POST", body: new Blob([text]).stream(), duplex: "half" })
      for (const [input, init] of [
        [url, post],
        [new URL(url), { method: "POST", body: bytes }],
        [url, { method: "POST", body: new Blob([text]) }],
        [url, { method: "POST", body: new URLSearchParams({ q: "1" }) }],
        [new Request(url, post), undefined],
        [streamed, undefined],
        [new Request(url), post]
      ] as const) {
        const answer = yield* Effect.promise(async () => (await fetch(input, init)).text())
        assert.include([text, "q=1"], answer)
      }
    })
  )

  it.effect("sends another body in place of a request's own, which may have been read and is left alone", () =>
    Effect.gen(function* () {
      const { paying, url } = yield* scene((request, response) => request.pipe(response), { method: "POST" })
      const fetch = payingFetch(paying)
      const request = new Request(url, { method: "POST", body: "a question" })
      const asked = () => Effect.promise(async () => (await fetch(request, { body: "another" })).text())
      assert.strictEqual(yield* asked(), "another")
      assert.strictEqual(yield* Effect.promise(() => request.text()), "a question")
      assert.strictEqual(yield* asked(), "another")
    })
  )

  for (const [what, init] of [
    ["HEAD, whose 402 has no body", { method: "HEAD" }],
    ["call that would rather have a page, which is for people", { headers: { accept: "text/html" } }]
  ] as const) {
    it.effect(`pays for a ${what}, what its header asks for`, () =>
      Effect.gen(function* () {
        const { agent, paying, shop, url } = yield* scene((_, response) => response.end("sunny"), {
          method: "ANY",
          description: "The weather"
        })
        const offers: Array<Offer> = []
        const fetch = payingFetch({ ...paying, approve: (offer) => offers.push(offer) > 0 })
        const { gatewayUrl, paymentAddress: payTo, network } = shop.endpoint
        const shown = { gatewayUrl, payTo, network, amount: "0.01", currency: "USDC", description: "The weather" }
        for (const address of [url, `${url}?city=Lisbon`]) {
          const response = yield* Effect.promise(() => fetch(address, init))
          assert.deepStrictEqual([response.status, receiptOf(response)?.amount], [200, "0.01"])
          assert.deepInclude(offers.pop(), shown)
        }
        assert.strictEqual(yield* charged(agent.purse, unit), 20_000n)
      })
    )
  }

  it.effect("refuses a body that can be sent once only, before it pays", () =>
    Effect.gen(function* () {
      const { agent, paying, url } = yield* scene((_, response) => response.end(), { method: "POST" })
      const body = new Blob(["once"]).stream()
      const error = yield* Effect.promise(() =>
        refusal(payingFetch(paying)(url, { method: "POST", body, duplex: "half" }))
      )
      assert.deepStrictEqual([error.code, error.paid], ["BODY_NOT_REPLAYABLE", false])
      assert.deepStrictEqual(yield* balance(agent.purse), { posted: unit, held: 0n })
    })
  )

  it.effect("pays nothing above the cap of one call, and nothing that is not approved", () =>
    Effect.gen(function* () {
      const { agent, paying, shop, url } = yield* scene((_, response) => response.end())
      const above = yield* Effect.promise(() => refusal(payingFetch({ ...paying, maxPerCall: "0.009999" })(url)))
      assert.deepStrictEqual(
        [above.code, above.details],
        ["ABOVE_MAX_PER_CALL", { amount: "0.01", maximum: "0.009999", currency: "USDC" }]
      )
      const disliked = yield* Effect.promise(() => refusal(payingFetch({ ...paying, approve: () => false })(url)))
      assert.strictEqual(disliked.code, "NOT_APPROVED")
      assert.deepStrictEqual(yield* balance(agent.purse), { posted: unit, held: 0n })
      assert.lengthOf(shop.backend.seen, 0)
    })
  )

  it.effect("spends a day's cap to the last call and not beyond, with 50 calls at once", () =>
    Effect.gen(function* () {
      const { agent, paying, shop, url } = yield* scene((_, response) => response.end("served"))
      const fetch = payingFetch({ ...paying, maxPerDay: "0.205" })
      const outcomes = yield* Effect.promise(() =>
        Promise.allSettled(Array.from({ length: 50 }, async () => (await fetch(url)).text()))
      )
      const refused = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason.code] : []))
      assert.deepStrictEqual(refused, Array(30).fill("ABOVE_MAX_PER_DAY"))
      assert.strictEqual(yield* charged(agent.purse, unit), 200_000n)
      assert.lengthOf(shop.backend.seen, 20)
    })
  )

  it.effect("gives back to the day's cap what a failed call did not cost", () =>
    Effect.gen(function* () {
      let status = 404
      const { agent, paying, url } = yield* scene((_, response) => response.writeHead(status).end())
      const fetch = payingFetch({ ...paying, maxPerDay: "0.01" })
      for (let call = 0; call < 3; call++) {
        assert.strictEqual((yield* Effect.promise(() => fetch(url))).status, 404)
      }
      status = 200
      assert.strictEqual((yield* Effect.promise(() => fetch(url))).status, 200)
      assert.strictEqual((yield* Effect.promise(() => refusal(fetch(url)))).code, "ABOVE_MAX_PER_DAY")
      assert.strictEqual(yield* charged(agent.purse, unit), 10_000n)
    })
  )

  it.effect("says why the wallet did not pay, and counts nothing", () =>
    Effect.gen(function* () {
      const { paying, url } = yield* scene((_, response) => response.end())
      const poor = yield* buyer(0n)
      const fetch = payingFetch({ ...paying, apiKey: poor.key, wallet: poor.purse, maxPerDay: "0.01" })
      for (let call = 0; call < 2; call++) {
        const error = yield* Effect.promise(() => refusal(fetch(url)))
        assert.strictEqual(error.code, "PAY_REFUSED")
        assert.deepInclude(error.details, { code: "INSUFFICIENT_BALANCE", available: "0.00" })
      }
    })
  )

  it.effect("shows the same proof again when the connection breaks before or after the call was made", () =>
    Effect.gen(function* () {
      const { agent, paying, shop, url } = yield* scene((_, response) => response.end("served"))
      for (const cut of [{ before: (attempt: number) => attempt < 3 }, { after: (attempt: number) => attempt === 1 }]) {
        const path = new URL(url).pathname
        const proxy = yield* Effect.promise(() => between(paying.baseUrl, cut, isPaid))
        const fetch = payingFetch({ ...paying, maxRetryDelayMs: 20 })
        const before = yield* charged(agent.purse, unit)
        const calls = shop.backend.seen.length
        yield* Effect.promise(async () => (await fetch(`${proxy.url}${path}`)).text())
        const proofs = proxy.seen.filter(isPaid).map(({ headers }) => headers["x-payment-proof"])
        assert.isAbove(proofs.length, 1)
        assert.lengthOf(new Set(proofs), 1)
        assert.strictEqual((yield* charged(agent.purse, unit)) - before, 10_000n)
        assert.strictEqual(shop.backend.seen.length - calls, 1)
      }
    })
  )

  it.effect("shows the same proof again while the origin is in trouble", () =>
    Effect.gen(function* () {
      let calls = 0
      const { agent, paying, url } = yield* scene((_, response) =>
        response.writeHead(++calls < 3 ? 503 : 200, { "retry-after": "0" }).end("served")
      )
      const fetch = payingFetch({ ...paying, maxRetryDelayMs: 20 })
      const response = yield* Effect.promise(() => fetch(url))
      assert.strictEqual(response.status, 200)
      assert.strictEqual(calls, 3)
      assert.strictEqual(yield* charged(agent.purse, unit), 10_000n)
    })
  )
})
