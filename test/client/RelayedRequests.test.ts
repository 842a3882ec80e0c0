import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { payingFetch, type Offer } from "#client/client.ts"
import { Deployment } from "#services/Deployment.ts"
import { balance, buyer, charged, seller, send, server } from "../http/GatewayHarness.ts"
import { json, refusal, stranger } from "./Strangers.ts"

const unit = 1_000_000n

/** Two sellers, an agent with money, and a server that is neither: it answers the 402 of the second one as it likes. */
const scene = Effect.fnUntraced(function* (changed: (body: object, trusted: Trusted) => object) {
  const { publicUrl: baseUrl } = yield* Deployment
  const trusted = yield* seller((_, response) => response.end(), { description: "The weather" })
  const other = yield* seller((_, response) => response.end("sunny"), { description: "Gift cards" })
  const agent = yield* buyer(unit)
  const asked = (yield* send(other.path)).json
  const front = yield* Effect.promise(() =>
    stranger(async ({ headers }, response) => {
      if (headers["x-payment-proof"] === undefined) return json(response, 402, changed(asked, trusted.endpoint))
      const proof = { "x-payment-proof": String(headers["x-payment-proof"]) }
      return response.end(await (await fetch(`${baseUrl}${other.path}`, { headers: proof })).text())
    })
  )
  return { agent, front, other, trusted, paying: { baseUrl, apiKey: agent.key, wallet: agent.purse } }
})

interface Trusted {
  readonly paymentAddress: string
  readonly gatewayUrl: string
}

/** The first way to pay, changed. */
const offering = (body: object, changed: object) => {
  const [first] = Object(body).accepts
  return { ...body, accepts: [{ ...first, ...changed }] }
}

/** How a server lies about whom it has paid, and the field that gives it away. */
const lies: Record<string, (body: object, trusted: Trusted) => object> = {
  receiver: (body, { paymentAddress }) => ({ ...body, receiver: paymentAddress }),
  gateway_url: (body, { gatewayUrl }) => offering(body, { resource: gatewayUrl }),
  network: (body) => ({ ...body, network: "base-sepolia" }),
  currency: (body) => ({ ...body, currency: "EURC" }),
  asset: (body) => offering(body, { asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" }),
  description: (body) => offering(body, { description: "The weather" })
}

layer(server, { timeout: "60 seconds", excludeTestServices: true })("the payment request of another seller", (it) => {
  for (const [field, lie] of Object.entries(lies)) {
    it.effect(`is not paid for a server that shows another ${field}, whatever was approved`, () =>
      Effect.gen(function* () {
        const { agent, front, other, paying } = yield* scene(lie)
        const fetch = payingFetch({ ...paying, approve: () => true })
        const error = yield* Effect.promise(() => refusal(fetch(front.url)))
        assert.deepStrictEqual([error.code, error.paid], ["PAY_REFUSED", false])
        assert.deepInclude(error.details, { code: "PAYMENT_TERMS_DIFFER", field })
        assert.deepStrictEqual(yield* balance(agent.purse), { posted: unit, held: 0n })
        assert.lengthOf(front.seen, 1)
        assert.lengthOf(other.backend.seen, 0)
      })
    )
  }

  it.effect("is paid through a server that shows it as it is, and says to whom and where", () =>
    Effect.gen(function* () {
      const { agent, front, other, paying } = yield* scene((body) => body)
      const offers: Array<Offer> = []
      const fetch = payingFetch({ ...paying, approve: (offer) => offers.push(offer) === 1 })
      const answer = yield* Effect.promise(async () => (await fetch(front.url)).text())
      assert.strictEqual(answer, "sunny")
      const { gatewayUrl, paymentAddress } = other.endpoint
      const shown = { url: `${front.url}/`, gatewayUrl, payTo: paymentAddress, description: "Gift cards" }
      assert.deepInclude(offers[0], shown)
      assert.strictEqual(yield* charged(agent.purse, unit), 10_000n)
    })
  )
})
