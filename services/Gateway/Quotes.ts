import { Clock, Duration, Effect } from "effect"
import type { TokenKey } from "#domain/PaymentToken.ts"
import { type Demand, type Demanded, prepareDemand } from "#domain/protocol/Demand.ts"
import { sealQuote } from "#domain/protocol/SealedQuote.ts"
import { Deployment } from "../Deployment.ts"
import type { Snapshot } from "../Endpoints.ts"
import { Payments } from "../Payments.ts"
import { PaymentPolicy } from "../Payments/Policy.ts"
import { SandboxChain } from "../SandboxChain.ts"
import type { Call } from "./Call.ts"
import type * as Settlers from "./Settlers.ts"

/** How many prices and reasons of one endpoint are kept ready. */
const remembered = 64

/** The nonce of a payment request: enough to tell one Solana offer from all others. */
const saltLength = 11

/** Writes 402s: for one endpoint, method and second they differ in the payment request only, and the rest is kept ready. */
export const make = Effect.fnUntraced(function* (key: TokenKey, settlers: Effect.Success<typeof Settlers.make>) {
  const payments = yield* Payments
  const chain = yield* SandboxChain
  const clock = yield* Clock.Clock
  const { environment, publicUrl } = yield* Deployment
  const { requestLife } = yield* PaymentPolicy
  const expiresIn = Math.floor(Duration.toSeconds(requestLife))
  const payUrl = `${publicUrl}/v1/x402/pay`

  const prepared = new WeakMap<Snapshot, Map<string, Demand>>()
  const demandOf = (snapshot: Snapshot, method: string, price: bigint, error: string): Demand => {
    const demands = prepared.get(snapshot) ?? new Map<string, Demand>()
    if (demands.size === 0) prepared.set(snapshot, demands)
    const name = `${method} ${price} ${error}`
    const known = demands.get(name)
    if (known !== undefined) return known
    const { endpoint } = snapshot
    const asked = { endpoint, price, settlers: settlers(endpoint.network) }
    const signIn = snapshot.price.tiers.length > 0
    const demand = prepareDemand(asked, { error, key, expiresIn, payUrl, signIn })
    if (demands.size < remembered) demands.set(name, demand)
    return demand
  }

  let blockhash = { minute: -1, text: "" }
  const blockhashOf = ({ endpoint }: Snapshot, now: number): string | undefined => {
    if (environment !== "sandbox" || !endpoint.network.startsWith("solana-")) return undefined
    const minute = Math.floor(now / 60_000)
    if (blockhash.minute !== minute) blockhash = { minute, text: chain.recentBlockhash(now) }
    return blockhash.text
  }

  /** A 402 at this price. A price that is one payer's own is sealed for that payer, and there is none without one. */
  return ({ method, snapshot, url }: Call, price: bigint, error: string, payer?: string): Demanded => {
    const { issuedAt, request, terms } = payments.request(snapshot, method)
    const quote =
      payer === undefined || price === snapshot.endpoint.basePrice
        ? terms
        : sealQuote(key, { endpoint: snapshot.endpoint.id, method, limit: price, issuedAt }, payer)
    const recentBlockhash = blockhashOf(snapshot, clock.currentTimeMillisUnsafe())
    const salt = request.slice(-saltLength)
    return demandOf(snapshot, method, price, error)({ quote, issuedAt, request, salt, url, recentBlockhash })
  }
})
