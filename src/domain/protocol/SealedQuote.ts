import { createHmac, timingSafeEqual } from "node:crypto"
import { type PaymentRequest, readTerms, sealTerms, type TokenKey } from "../PaymentToken.ts"

/** How long an offer may be paid after it was made, whatever the price is by then. */
export const quoteLife = 300_000

/** What the `quote` of an offer says. */
export interface SealedQuote {
  readonly terms: PaymentRequest
  /** Whether this payer may use it: an offer to one caller is not for others. */
  isFor(payer: string): boolean
}

/**
 * The terms of an offer as its `extra` carries them. With a payer's canonical address, they are for that payer only: what is left
 * of them without its seal behind the dot is no quote at all.
 */
export const sealQuote = (key: TokenKey, terms: PaymentRequest, payer?: string): string => {
  if (payer === undefined) return sealTerms(key, terms)
  const sealed = sealTerms(key, terms, "onePayer")
  return `${sealed}.${addressee(key, sealed, payer).toString("base64url")}`
}

const pattern = /^(pr_[\w-]{64})(?:\.([\w-]{22}))?$/

/** What a quote that we sealed says; undefined for any other text. */
export const readQuote = (key: TokenKey, text: string): SealedQuote | undefined => {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [, sealed = "", seal] = match
  const terms = readTerms(key, sealed, seal === undefined ? "everybody" : "onePayer")
  if (terms === undefined) return undefined
  if (seal === undefined) return { terms, isFor: () => true }
  const given = Buffer.from(seal, "base64url")
  // The last letter has bits that no byte needs: one spelling of each quote is enough.
  if (given.toString("base64url") !== seal) return undefined
  return { terms, isFor: (payer) => timingSafeEqual(given, addressee(key, sealed, payer)) }
}

export type QuoteRefusal =
  | "quote_unknown"
  | "quote_for_another_endpoint"
  | "quote_for_another_method"
  | "quote_expired"
  | "quote_for_another_payer"

/** Why a quote is not good for this call; undefined when it is. `now` in milliseconds; undefined when age does not matter. */
export const judgeQuote = (
  quote: SealedQuote | undefined,
  call: { readonly endpoint: string; readonly method: string },
  now: number | undefined
): QuoteRefusal | undefined => {
  if (quote === undefined) return "quote_unknown"
  const { endpoint, issuedAt, method } = quote.terms
  if (endpoint !== call.endpoint) return "quote_for_another_endpoint"
  if (method !== "ANY" && method !== call.method) return "quote_for_another_method"
  return now !== undefined && now > issuedAt + quoteLife ? "quote_expired" : undefined
}

const addressee = (key: TokenKey, sealed: string, payer: string): Buffer =>
  createHmac("sha256", key).update(`quote for one payer\n${sealed}\n${payer}`).digest().subarray(0, 16)
