// What an endpoint asks for, as x402 writes it: version 2 offers, which carry the sealed quote, and version 1 requirements.
import type { Endpoint } from "../Endpoint.ts"
import { assetOf, caip2, chainIdOf, type Network } from "../Network.ts"
import type { Offer } from "./Authorization.ts"
import { svmMemo } from "./SvmExact.ts"
import type { Fields } from "./X402Payload.ts"

/** How long a signed authorisation may stay valid (seconds): above the longest origin timeout. */
export const maxTimeoutSeconds = 300

/** What version 1 calls each network. */
export const v1Networks: Record<Network, string> = {
  "base-mainnet": "base",
  "base-sepolia": "base-sepolia",
  "solana-mainnet": "solana",
  "solana-devnet": "solana-devnet"
}

/** Who moves the money at the end. */
export interface Settlers {
  /** The address that may settle an `upto` payment; without it `upto` is not offered. */
  readonly facilitator: string | undefined
  /** The account that pays Solana's fees; clients there cannot pay without it. */
  readonly feePayer: string | undefined
  /** Whoever else may be named in the place of either: of several keys a rail names another one each time it is asked. */
  readonly signers: ReadonlyArray<string>
}

/** What an endpoint asks for, at one price. */
export interface Asked {
  readonly endpoint: Endpoint
  /** Micro-units. */
  readonly price: bigint
  readonly settlers: Settlers
}

/** How many bytes of JSON a letter is. Of most it is plain, and that is quicker told than by writing them. */
const bytesOf = (letter: string): number =>
  letter >= " " && letter <= "~" && letter !== '"' && letter !== "\\"
    ? 1
    : Buffer.byteLength(JSON.stringify(letter)) - 2

/** Long descriptions would push the header beyond what proxies on the way accept. */
export const shortened = (text: string, bytes: number): string => {
  let end = 0
  let length = 0
  for (const letter of text) {
    length += bytesOf(letter)
    if (length > bytes) break
    end += letter.length
  }
  return text.slice(0, end)
}

const tokenOf = (endpoint: Endpoint) => {
  const known = assetOf(endpoint.network, endpoint.currency)
  return { address: endpoint.assetAddress ?? known.address, name: known.name, version: known.version }
}

/** What an offer of one moment says besides. */
export interface Occasion {
  /** Sealed terms: the payment is bound to the endpoint and the price by them. */
  readonly quote: string
  /** Solana: tells this offer from all others of the same quote, whose payments would be the same transaction. */
  readonly salt?: string | undefined
  /** Solana: saves the client from asking the chain. */
  readonly recentBlockhash?: string | undefined
}

/** The ways to pay: the same for the same occasion, so that an echoed offer can be compared with what it must be. */
export const offersOf = ({ endpoint, price, settlers }: Asked, occasion?: Occasion): ReadonlyArray<Offer> => {
  const { address, name, version } = tokenOf(endpoint)
  const common = {
    network: caip2[endpoint.network],
    amount: String(price),
    asset: address,
    payTo: endpoint.paymentAddress,
    maxTimeoutSeconds
  }
  const quoted = occasion === undefined ? {} : { quote: occasion.quote }
  if (chainIdOf(endpoint.network) === undefined) {
    const { recentBlockhash, salt } = occasion ?? {}
    const extra = {
      ...(settlers.feePayer === undefined ? {} : { feePayer: settlers.feePayer }),
      ...(occasion === undefined ? {} : { memo: svmMemo(occasion.quote, salt ?? "") }),
      ...quoted,
      ...(recentBlockhash === undefined ? {} : { recentBlockhash })
    }
    return [{ scheme: "exact", ...common, extra }]
  }
  return endpoint.schemes.flatMap((scheme): ReadonlyArray<Offer> => {
    if (scheme === "exact") return [{ scheme, ...common, extra: { name, version, ...quoted } }]
    const facilitatorAddress = settlers.facilitator
    if (facilitatorAddress === undefined) return []
    return [
      { scheme, ...common, extra: { name, version, assetTransferMethod: "permit2", facilitatorAddress, ...quoted } }
    ]
  })
}

/**
 * The entries of `accepts` in a version 1 body. Clients of that version know `exact` only, and throw on what they do not know. They are
 * not told a blockhash: those that would take it write no memo (@faremeter/payment-solana 0.10), and two payments alike in both are one.
 */
export const v1Requirements = (asked: Asked, occasion?: Omit<Occasion, "recentBlockhash">): ReadonlyArray<object> =>
  offersOf(asked, occasion)
    .filter(({ scheme }) => scheme === "exact")
    .map(({ amount, asset, extra, payTo, scheme }) => ({
      scheme,
      network: v1Networks[asked.endpoint.network],
      maxAmountRequired: amount,
      resource: asked.endpoint.gatewayUrl,
      description: shortened(asked.endpoint.description ?? asked.endpoint.name, 600),
      mimeType: "application/json",
      payTo,
      maxTimeoutSeconds,
      asset,
      extra
    }))

export type OfferRefusal = "unsupported_scheme" | "invalid_network" | "invalid_payment_requirements"

/** What the chain gives anew for each payment; an echo of an older one is as good. */
const changing = new Set(["recentBlockhash", "lastValidBlockHeight"])
const core = ["scheme", "network", "amount", "asset", "payTo", "maxTimeoutSeconds"] as const

/** The offer that an echo is of. The echo must equal it; its `extra` may say more. */
export const matchOffer = (offers: ReadonlyArray<Offer>, accepted: Fields): Offer | OfferRefusal => {
  const ofScheme = offers.filter(({ scheme }) => scheme === accepted.scheme)
  if (ofScheme.length === 0) return "unsupported_scheme"
  const ofNetwork = ofScheme.filter(({ network }) => network === accepted.network)
  if (ofNetwork.length === 0) return "invalid_network"
  return ofNetwork.find((offer) => isEcho(offer, accepted)) ?? "invalid_payment_requirements"
}

const isEcho = (offer: Offer, accepted: Fields): boolean => {
  const extra = accepted.extra
  if (typeof extra !== "object" || extra === null) return false
  if (!Object.keys(accepted).every((key) => key === "extra" || core.some((name) => name === key))) return false
  const echoed = new Map<string, unknown>(Object.entries(extra))
  return (
    core.every((key) => accepted[key] === offer[key]) &&
    Object.entries(offer.extra).every(([key, value]) => changing.has(key) || echoed.get(key) === value)
  )
}
