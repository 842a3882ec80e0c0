import { assert, layer } from "@effect/vitest"
import { Effect, Struct } from "effect"
import type { ChangeAgent } from "#domain/Agent.ts"
import type { EndpointChange, NewEndpoint } from "#domain/Endpoint.ts"
import { fromTypeId } from "#domain/Ids.ts"
import type { CreateWallet } from "#domain/Wallet.ts"
import type { ChangeWebhook, CreateWebhook } from "#domain/Webhook.ts"
import { callsWith } from "./Callers.ts"
import { type Answer, server, tenant } from "./GatewayHarness.ts"

/** A value for each field that may be sent, unlike its default: a new field is a type error until it has one here. */
type Each<Body> = { readonly [_ in Exclude<keyof Body, "idempotency_key">]-?: unknown }

const recordOf = ({ body, json, status }: Answer) => {
  assert.include([200, 201], status, body)
  return json.data ?? json
}

/** Shows what was sent, and nothing of it is what stood there without being sent. */
const holds = (record: object, sent: object, without: object) => {
  assert.deepInclude(record, sent)
  for (const name of Struct.keys(sent)) assert.notDeepEqual(record[name], without[name], name)
}

layer(server, { timeout: "60 seconds", excludeTestServices: true })("every field that is sent is kept", (it) => {
  const party = Effect.gen(function* () {
    const { key } = yield* tenant
    const call = callsWith(key)
    const post = (path: string, body: object) => Effect.map(call("POST", path, body), recordOf)
    /** What is kept of a change, which its answer says too. */
    const changed = Effect.fnUntraced(function* (path: string, { id }: { readonly id: string }, change: object) {
      const answer = recordOf(yield* call("PATCH", `${path}/${id}`, change))
      const kept = recordOf(yield* call("GET", `${path}/${id}`))
      assert.deepStrictEqual(answer, kept)
      return kept
    })
    return { post, changed }
  })

  it.effect("of a wallet", () =>
    Effect.gen(function* () {
      const { post } = yield* party
      const { id } = yield* post("/v1/agents", { name: "Buyer" })
      const sent = {
        owner_type: "agent",
        owner_id: id,
        currency: "EURC",
        network: "base-sepolia",
        name: "Purse",
        metadata: { a: [1] },
        address: "0x00000000000000000000000000000000000000e5"
      } satisfies Each<CreateWallet>
      holds(yield* post("/v1/wallets", sent), sent, yield* post("/v1/wallets", {}))
    })
  )

  it.effect("of an agent", () =>
    Effect.gen(function* () {
      const { changed, post } = yield* party
      const sent = {
        name: "Seller",
        description: "Sells",
        skills: ["selling"],
        metadata: { a: [1] }
      } satisfies Each<ChangeAgent>
      const without = yield* post("/v1/agents", { name: "Buyer" })
      holds(yield* post("/v1/agents", sent), sent, without)
      holds(yield* changed("/v1/agents", without, sent), sent, without)
    })
  )

  it.effect("of a webhook", () =>
    Effect.gen(function* () {
      const { changed, post } = yield* party
      const sent = {
        url: "https://b.example/",
        events: ["refund.*"],
        description: "Books"
      } satisfies Each<CreateWebhook>
      const change = { ...sent, status: "paused" } satisfies Each<ChangeWebhook>
      const without = yield* post("/v1/webhooks", { url: "https://a.example/", events: ["transfer.*"] })
      holds(yield* post("/v1/webhooks", sent), sent, without)
      holds(yield* changed("/v1/webhooks", without, change), change, without)
    })
  )

  it.effect("of a priced endpoint", () =>
    Effect.gen(function* () {
      const { changed, post } = yield* party
      const shop = yield* post("/v1/accounts", { name: "Shop" })
      const money = { currency: "EURC", network: "base-sepolia" }
      const till = yield* post("/v1/wallets", { ...money, owner_id: shop.id })
      const change = {
        name: "Rain",
        description: "By the hour",
        basePrice: 0.02,
        volumeDiscounts: [{ threshold: 5, priceMultiplier: 0.9 }],
        webhookUrl: "https://hooks.example/in",
        originUrl: "https://origin.example/v1",
        timeoutMs: 5000,
        rateLimit: 60,
        chargeOn: "response",
        schemes: ["exact", "upto"],
        mpp: false,
        forwardHeaders: { "x-key": "secret" },
        status: "paused"
      } satisfies Each<EndpointChange>
      const sent = {
        ...Struct.omit(change, ["status"]),
        path: "/b",
        method: "POST",
        accountId: fromTypeId("acc", shop.id),
        walletId: till.id,
        ...money
      } satisfies Each<NewEndpoint>
      const bare = Effect.fnUntraced(function* (network: string) {
        yield* post("/v1/wallets", { network })
        return yield* post("/v1/x402/endpoints", { name: "Weather", path: "/a", method: "GET", network })
      })
      holds(yield* post("/v1/x402/endpoints", sent), sent, yield* bare("solana-devnet"))
      const before = yield* bare("base-sepolia")
      holds(yield* changed("/v1/x402/endpoints", before, change), change, before)
    })
  )
})
