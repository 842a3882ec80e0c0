import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Accounts } from "#services/Accounts.ts"
import { BoughtCalls } from "#services/BoughtCalls.ts"
import { Deployment } from "#services/Deployment.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { EventLog } from "#services/EventLog.ts"
import * as Appended from "#services/EventLog/Appended.ts"
import { Ledger } from "#services/Ledger.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { ScannerSales } from "#services/ScannerSales.ts"
import { Secrets } from "#services/Secrets.ts"
import { Wallets } from "#services/Wallets.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { tenant } from "./WalletsHarness.ts"

const platform = (environment: "live" | "sandbox") =>
  ScannerSales.layer.pipe(
    Layer.provideMerge(Layer.merge(Endpoints.layer, BoughtCalls.layer)),
    Layer.provide(WebhookDeliveries.layer),
    Layer.provide(Layer.merge(PublicHttp.layer, Secrets.layer)),
    Layer.provideMerge(Layer.mergeAll(Wallets.layer, Accounts.layer, EventLog.layer)),
    Layer.provideMerge(Ledger.layer),
    Layer.provide(Appended.layer),
    Layer.provideMerge(
      Layer.succeed(Deployment, {
        environment,
        publicUrl: "https://turnpike.test",
        scannerUrl: "https://turnpike.test"
      })
    ),
    Layer.provideMerge(Layer.merge(Postgres.layerTest, BusMemory.layer))
  )

layer(platform("live"), { timeout: "60 seconds" })("sales of a live server", (it) => {
  it.effect("begin once the seller has a wallet for them, and do not keep a server from starting before", () =>
    Effect.gen(function* () {
      const { open } = yield* ScannerSales
      const bought = yield* BoughtCalls
      const seller = yield* tenant("live")
      const onSale = Effect.map((yield* Endpoints).list(seller, { limit: 10, offset: 0 }), ({ total }) => total)
      yield* open(seller)
      assert.deepStrictEqual([yield* onSale, bought.isOpen()], [0, false])
      assert.isUndefined(bought.caller(Redacted.value(bought.credential)))

      const address = "0x857b06519E91e3A54538791bDbb0E22373e36b66"
      yield* (yield* Wallets).create(seller, { currency: "USDC", network: "base-mainnet", address })
      yield* open(seller)
      assert.deepStrictEqual([yield* onSale, bought.isOpen()], [3, true])
      assert.strictEqual(bought.caller(Redacted.value(bought.credential))?.tenant_id, seller.tenant_id)
    })
  )
})

layer(platform("sandbox"), { timeout: "60 seconds" })("sales of a sandbox", (it) => {
  it.effect("have a wallet of their own: what the operator sells is paid to the operator's", () =>
    Effect.gen(function* () {
      const operator = yield* tenant("sandbox")
      yield* (yield* ScannerSales).open(operator)
      assert.isTrue((yield* BoughtCalls).isOpen())
      const { id } = yield* (yield* Wallets).create(operator, { currency: "USDC", network: "base-sepolia" })
      const weather = { name: "Weather", path: "/", method: "GET", network: "base-sepolia" } as const
      assert.strictEqual((yield* (yield* Endpoints).create(operator, weather)).walletId, id)
    })
  )
})
