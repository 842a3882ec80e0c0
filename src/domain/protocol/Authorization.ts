import type { Network } from "../Network.ts"
import { uuidFrom } from "../Uuid.ts"

/** One way to pay, as version 2 of x402 writes it (`PaymentRequirements`). */
export interface Offer {
  readonly scheme: "exact" | "upto"
  /** CAIP-2. */
  readonly network: string
  /** Micro-units; what is taken under `exact`, the most that is taken under `upto`. */
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

/** The payer's signed word that this much may be taken, checked against what was asked for. */
export interface Authorization {
  readonly protocol: "x402v2" | "x402v1" | "mpp"
  readonly scheme: "exact" | "upto"
  readonly method: "eip3009" | "permit2" | "svm"
  readonly network: Network
  /** In its canonical spelling, as every address here. */
  readonly asset: string
  readonly payer: string
  readonly payTo: string
  /** Micro-units; at most this is taken. */
  readonly amount: bigint
  /** The nonce of the scheme, unique per network, payer and contract that counts it; or the hash of the signed Solana message. */
  readonly nonce: string
  readonly validUntil: Date
  /** The sealed terms that it answers. */
  readonly quote: string | undefined
  /** What a facilitator gets as `paymentPayload`, in version 2 whatever came in. */
  readonly payload: unknown
  /** What a facilitator gets as `paymentRequirements`. */
  readonly requirements: Offer
  /** The id of the `payment-identifier` extension, when the client sent one. */
  readonly identifier: string | undefined
}

/** What settling takes at least (seconds). */
export const settlingSeconds = 6

/**
 * How long the origin's answer may take to be whole before it is paid for (milliseconds): until the call that brought the
 * authorisation, or the authorisation itself, leaves no more time than settling takes.
 */
export const timeToAnswer = ({ validUntil }: Authorization, leaseUntil: Date | null, now: number): number =>
  Math.max(0, Math.min(leaseUntil?.getTime() ?? 0, validUntil.getTime()) - settlingSeconds * 1000 - now)

/**
 * The id under which this authorisation reserves money: a UUIDv8, the same in every process, so any number of copies reserve once.
 * `counter` is the contract that takes a nonce of a payer once.
 */
export const authorizationId = (network: Network, counter: string, payer: string, nonce: string): string =>
  uuidFrom(`${network} ${counter} ${payer} ${nonce}`)

/**
 * The id under which this authorisation reserves or moves money, wherever it is brought. A token counts the nonces of its own
 * authorisations; Permit2 counts those of a payer for all tokens and for both schemes.
 */
export const reservationOf = ({ asset, method, network, nonce, payer }: Authorization): string =>
  authorizationId(network, method === "permit2" ? method : asset, payer, nonce)
