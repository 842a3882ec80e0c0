import type { Json } from "./Encoding.ts"

/**
 * What a 402 asks for, as the application sees it before anything is paid. Whoever is called may say whatever it likes, so what is
 * shown is what is paid, or nothing is: the Turnpike holds no money for anything else, and a signature is good for nothing else. Only
 * `description` is the seller's own words: of a Turnpike's endpoint those it registered, of others those of the 402.
 */
export interface Offer {
  /** The address that asked. It may be a stranger that stands before what is paid for. */
  readonly url: string
  /** The endpoint that a wallet of a Turnpike pays for; undefined when the 402 names none, and for a signer. */
  readonly gatewayUrl: string | undefined
  readonly method: string
  /** Decimal, exact. */
  readonly amount: string
  readonly currency: string
  /** `base-sepolia`, `solana-mainnet`, …; the CAIP-2 name of a network that has none of these. */
  readonly network: string
  readonly payTo: string
  readonly asset: string | undefined
  readonly description: string | undefined
}

/** A 402 as it came. */
export interface Challenge {
  readonly url: string
  readonly method: string
  /** The JSON object in the body, if there was one. */
  readonly body: Json | undefined
  readonly headers: Headers
}

/** An offer and how to pay it. */
export interface Payable {
  readonly offer: Offer
  readonly micros: bigint
  /** Makes the payment; nothing is charged before its headers are sent. */
  readonly pay: (signal: AbortSignal | undefined) => Promise<Payment>
}

/** A payment made: whoever shows its headers may have it charged. */
export interface Payment {
  readonly headers: { readonly [name: string]: string }
  readonly paymentId: string | undefined
  /** At most this is taken. */
  readonly micros: bigint
}

/** A way to pay. */
export interface Means {
  /**
   * What the 402 asks for: of several offers the first of at most `most` micro-units, or the first. Throws a `PaymentError` when it is
   * nothing that can or may be paid this way.
   */
  readonly read: (challenge: Challenge, most: bigint) => Payable
  /** The origin whose word is taken for what was charged. */
  readonly believed: string | undefined
}
