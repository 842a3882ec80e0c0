import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { payingFetch, receiptOf } from "#client/client.ts"
import { Deployment } from "#services/Deployment.ts"
import { Wallets } from "#services/Wallets.ts"
import { balance, charged, origin, tenant, server } from "../http/GatewayHarness.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { between, refusal } from "./Strangers.ts"

const unit = 1_000_000n
const currency = "USDC"
const network = "base-sepolia"

/** An agent with a key of its own, whose address has money in the sandbox, in front of an endpoint that costs 0.01. */
const scene = Effect.fnUntraced(function* (listener: Parameters<typeof origin>[0]) {
  const { publicUrl } = yield* Deployment
  const wallets = yield* Wallets
  const shop = (yield* tenant).principal
  yield* wallets.create(shop, { currency, network })
  const backend = yield* origin(listener)
  const about = { name: "Weather", path: "/", method: "GET", network, originUrl: backend.url } as const
  const { id } = yield* (yield* Endpoints).create(shop, about)
  const signer = privateKeyToAccount(generatePrivateKey())
  const agent = (yield* tenant).principal
  const purse = yield* wallets.create(agent, { currency, network, address: signer.address })
  yield* wallets.fund(agent, purse.id, { amount: unit, currency })
  return { baseUrl: publicUrl, path: `/x402/${id}`, signer, purse: purse.id, backend }
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a fetch that pays a Turnpike with a key", (it) => {
  it.effect("turns a 402 into the answer, and says what was taken", () =>
    Effect.gen(function* () {
      const { baseUrl, path, purse, signer } = yield* scene((_, response) => response.end("sunny"))
      const response = yield* Effect.promise(() => payingFetch({ signer })(`${baseUrl}${path}`))
      assert.strictEqual(yield* Effect.promise(() => response.text()), "sunny")
      const receipt = receiptOf(response)
      assert.deepStrictEqual([receipt?.amount, receipt?.network], ["0.01", network])
      assert.strictEqual(receipt?.payer?.toLowerCase(), signer.address.toLowerCase())
      assert.strictEqual(yield* charged(purse, unit), 10_000n)
    })
  )

  it.effect("pays once although the answer was lost", () =>
    Effect.gen(function* () {
      const { backend, baseUrl, path, purse, signer } = yield* scene((_, response) => response.end("sunny"))
      const proxy = yield* Effect.promise(() =>
        between(
          baseUrl,
          { after: (attempt) => attempt === 1 },
          ({ headers }) => headers["payment-signature"] !== undefined
        )
      )
      const fetch = payingFetch({ signer, maxRetryDelayMs: 20 })
      yield* Effect.promise(async () => (await fetch(`${proxy.url}${path}`)).text())
      assert.strictEqual(yield* charged(purse, unit), 10_000n)
      assert.lengthOf(backend.seen, 1)
    })
  )

  it.effect("says that the address has no money", () =>
    Effect.gen(function* () {
      const { baseUrl, path, purse } = yield* scene((_, response) => response.end("sunny"))
      const signer = privateKeyToAccount(generatePrivateKey())
      const error = yield* Effect.promise(() => refusal(payingFetch({ signer })(`${baseUrl}${path}`)))
      assert.strictEqual(error.code, "PAYMENT_NOT_ACCEPTED")
      assert.strictEqual(error.details["reason"], "insufficient_funds")
      assert.deepStrictEqual(yield* balance(purse), { posted: unit, held: 0n })
    })
  )
})
