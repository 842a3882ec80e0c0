import { Clock, Duration, Effect, Layer, Ref } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { Principal } from "#domain/Principal.ts"
import type { Facilitation } from "#domain/protocol/Facilitation.ts"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Platform from "#layers/Platform.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as RailSimulated from "#layers/RailSimulated.ts"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { ChainPolicy } from "#services/ChainSettlements/Policy.ts"
import { Deployment } from "#services/Deployment.ts"
import { Facilitator, SettlingWait } from "#services/Facilitator.ts"
import { Rail, RailUnavailable } from "#services/Rail.ts"
import { Wallets } from "#services/Wallets.ts"
import { nonce, now, signTransfer } from "../domain/protocol/Payers.ts"
import { tenant } from "../http/GatewayHarness.ts"

const usdc = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"

/** How much later than that it is (milliseconds). */
const time = { passed: 0 }
export const later = (millis: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      time.passed = millis
    }),
    () =>
      Effect.sync(() => {
        time.passed = 0
      })
  )

/** A live server at the time that payloads are signed for. */
export const patient = Layer.mergeAll(
  Postgres.layerTest,
  BusMemory.layer,
  Layer.succeed(Deployment, {
    environment: "live",
    publicUrl: "https://turnpike.test",
    scannerUrl: "https://turnpike.test"
  }),
  Layer.effect(
    Clock.Clock,
    Effect.map(Clock.Clock, (clock): Clock.Clock => {
      const begun = clock.currentTimeMillisUnsafe()
      const currentTimeMillisUnsafe = () => now + clock.currentTimeMillisUnsafe() - begun + time.passed
      // A clock's effects know the clock they were made for.
      const currentTimeMillis = Effect.sync(currentTimeMillisUnsafe)
      return Object.assign(Object.create(clock), { currentTimeMillisUnsafe, currentTimeMillis })
    })
  )
)
const short = Duration.millis(500)
/**
 * One that asks a chain again after a minute, for which nobody waits: a test asks when it wants to. However slow the machine is, what the
 * chain is to say next must not reach who still waits for what it said before.
 */
export const live = Layer.mergeAll(
  patient,
  Layer.effect(
    ChainPolicy,
    Effect.map(ChainPolicy, (usual) => ({ ...usual, wait: short, firstRetry: usual.longestRetry }))
  ),
  Layer.succeed(SettlingWait, short)
)

const rail = { speaks: true, setsBack: false }
/** The rail does not say which ways to pay it settles. */
export const speechless = Effect.acquireRelease(
  Effect.sync(() => {
    rail.speaks = false
  }),
  () =>
    Effect.sync(() => {
      rail.speaks = true
    })
)
/** While the rail says what it settles, the time of day is set back by a minute. */
export const setBack = Effect.acquireRelease(
  Effect.sync(() => {
    rail.setsBack = true
  }),
  () =>
    Effect.sync(() => {
      rail.setsBack = false
      time.passed = 0
    })
)
/** The simulated chain as if it were the main one. */
const main = Layer.effect(
  Rail,
  Effect.map(Rail, (simulated) => ({
    ...simulated,
    kinds: Effect.suspend(() => {
      if (rail.setsBack) time.passed = -60_000
      return rail.speaks
        ? Effect.succeed([{ network: "base-mainnet" as const, scheme: "exact" as const, extra: {} }])
        : Effect.fail(new RailUnavailable({ reason: "simulated" }))
    })
  }))
).pipe(Layer.provideMerge(RailSimulated.layer))

export const chained = (server: typeof patient) =>
  Platform.layer.pipe(Layer.provideMerge(ChainSettlements.layer), Layer.provideMerge(main), Layer.provideMerge(server))

export const does = (behaviour: RailSimulated.Behaviour) =>
  Effect.flatMap(RailSimulated.RailControl, (control) => Ref.set(control.behaviour, behaviour))
export const moved = Effect.flatMap(RailSimulated.RailControl, (control) => Ref.get(control.moved))

let sellers = 0
/** A seller with a wallet on the main network, and a payment of 0.01 to it, whose nonce may be that of another. */
export const saleWith = Effect.fnUntraced(function* (word?: string) {
  const { principal } = yield* tenant
  const caller = new Principal({ ...principal, environment: "live" })
  const to = privateKeyToAccount(`0x${String(++sellers).padStart(64, "0")}`).address
  const wallet = yield* (yield* Wallets).create(caller, { network: "base-mainnet", address: to })
  const payload = yield* Effect.promise(() =>
    signTransfer({ to, nonce: nonce(word ?? `live ${sellers}`) }, { chainId: 8453, asset: usdc, name: "USD Coin" })
  )
  const requirements = {
    scheme: "exact",
    network: "eip155:8453",
    amount: "10000",
    asset: usdc,
    payTo: to,
    maxTimeoutSeconds: 300,
    extra: { name: "USD Coin", version: "2" }
  }
  const payment: Facilitation = {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      accepted: requirements,
      payload: { ...payload, authorization: payload.authorization as never }
    },
    paymentRequirements: requirements
  }
  return { caller, wallet, payment, facilitator: yield* Facilitator }
})
export const sale = saleWith()
