import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { PaymentError } from "#client/client.ts"
import { layerPaying, make } from "#client/effect.ts"
import { WalletId } from "#domain/Ids.ts"
import { Deployment } from "#services/Deployment.ts"
import { newUuid } from "#services/NewId.ts"
import { buyer, charged, seller, server } from "../http/GatewayHarness.ts"

layer(server, { timeout: "60 seconds", excludeTestServices: true })("the client on Effect", (it) => {
  it.effect("answers decoded records and typed refusals", () =>
    Effect.gen(function* () {
      const { publicUrl: baseUrl } = yield* Deployment
      const agent = yield* buyer(1_000_000n)
      const api = yield* make({ baseUrl, apiKey: Redacted.make(agent.key) })
      const wallet = yield* api.wallets.get({ params: { id: agent.purse } })
      assert.strictEqual(wallet.balance_available, 1_000_000n)
      const id = WalletId.make(newUuid())
      const absent = yield* Effect.flip(api.wallets.get({ params: { id } }))
      assert.strictEqual(absent._tag, "NOT_FOUND")
    }).pipe(Effect.provide(FetchHttpClient.layer))
  )

  it.effect("pays what answers 402, within its caps", () =>
    Effect.gen(function* () {
      const { publicUrl: baseUrl } = yield* Deployment
      const shop = yield* seller((_, response) => response.end("sunny"))
      const agent = yield* buyer(1_000_000n)
      const paying = layerPaying({ baseUrl, apiKey: agent.key, wallet: agent.purse, maxPerDay: "0.01" })
      const call = Effect.flatMap(HttpClient.get(`${baseUrl}${shop.path}`), ({ text }) => text)
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* call, "sunny")
        const { reason } = yield* Effect.flip(call)
        assert.instanceOf(reason.cause, PaymentError)
      }).pipe(Effect.provide(paying))
      assert.strictEqual(yield* charged(agent.purse, 1_000_000n), 10_000n)
    })
  )
})
