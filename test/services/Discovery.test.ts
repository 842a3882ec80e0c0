import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Deployment } from "#services/Deployment.ts"
import { Discovery, discoveryPolicy } from "#services/Discovery.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { EventBus } from "#services/EventBus.ts"
import { Wallets } from "#services/Wallets.ts"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Platform from "#layers/Platform.ts"
import * as Postgres from "#layers/Postgres.ts"
import { tenant } from "../http/GatewayHarness.ts"
import { setClock } from "./SetClock.ts"

/** A bus whose messages have not arrived yet. */
const slow = Layer.effect(
  EventBus,
  Effect.map(EventBus, (bus) => EventBus.of({ ...bus, publish: () => Effect.void }))
).pipe(Layer.provide(BusMemory.layer))
const deployment = Layer.succeed(Deployment, {
  environment: "sandbox",
  publicUrl: "http://turnpike.test",
  scannerUrl: "http://turnpike.test"
})
const platform = Platform.layer.pipe(Layer.provideMerge(Layer.mergeAll(Postgres.layerTest, slow, deployment)))

layer(platform, { timeout: "60 seconds" })("discovery", (it) => {
  it.effect("shows a change to whoever made it, before others are told", () =>
    Effect.gen(function* () {
      const { principal } = yield* tenant
      const [discovery, endpoints] = [yield* Discovery, yield* Endpoints]
      yield* (yield* Wallets).create(principal, {})
      const shop = { name: "Weather", path: "/a", method: "GET", originUrl: "https://origin.example" } as const
      const { id } = yield* endpoints.create(principal, shop)
      const found = Effect.map(discovery.list({ limit: 20, offset: 0 }), ({ listings, total }) => [
        listings.find((listing) => listing.id === id)?.price,
        total
      ])
      assert.deepStrictEqual(yield* found, [10_000n, 1])
      yield* endpoints.update(principal, id, { basePrice: 20_000n })
      assert.deepStrictEqual(yield* found, [20_000n, 1])
      yield* endpoints.disable(principal, id)
      assert.deepStrictEqual(yield* found, [undefined, 0])
      yield* endpoints.update(principal, id, { status: "active" })
      assert.deepStrictEqual(yield* found, [20_000n, 1])
    })
  )

  it.effect("shows within seconds what nobody is told of, though the time is set back meanwhile", () =>
    Effect.gen(function* () {
      const { clock, set } = yield* setClock
      const { principal } = yield* tenant
      const sql = yield* SqlClient.SqlClient
      yield* (yield* Wallets).create(principal, {})
      const news = { name: "News", path: "/b", method: "GET", originUrl: "https://news.example" } as const
      const { id } = yield* (yield* Endpoints).create(principal, news)
      const layer = Layer.fresh(Discovery.layer).pipe(Layer.provide(Layer.succeed(Clock.Clock, clock)))
      const { list } = Context.get(yield* Layer.build(layer), Discovery)
      const shown = list({ limit: 20, offset: 0 }).pipe(
        Effect.map(({ listings }) => listings.some((listing) => listing.id === id)),
        Effect.provideService(Clock.Clock, clock)
      )
      assert.isTrue(yield* shown)
      yield* sql`UPDATE endpoints SET status = 'paused' WHERE id = ${id}`
      assert.isTrue(yield* shown)
      set.by = -3_600_000
      yield* TestClock.adjust(discoveryPolicy.fresh)
      assert.isFalse(yield* shown)
    })
  )
})
