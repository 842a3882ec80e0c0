import { type Endpoint, schemesOn } from "../Endpoint.ts"
import { chainIdOf, parseAddress } from "../Network.ts"
import type { TokenKey } from "../PaymentToken.ts"
import type { Authorization, Offer } from "./Authorization.ts"
import type { Recover } from "./Eip712.ts"
import { challengeOf, type CredentialRefusal, occasionIn, readCredential } from "./Mpp.ts"
import { judgeQuote, type QuoteRefusal, readQuote, type SealedQuote } from "./SealedQuote.ts"
import { feePayerOf, hasMemo, memoOf, quoteOfMemo, type SvmReason, verifySvmExact } from "./SvmExact.ts"
import { type EvmReason, signedPart, verifyEvm } from "./X402Evm.ts"
import { matchOffer, type OfferRefusal, offersOf, type Settlers, v1Networks } from "./X402Offers.ts"
import { asFields, type Fields, type MppCredential, type Presented, type X402V1, type X402V2 } from "./X402Payload.ts"

/** What a payment is judged by. */
export interface Ground {
  readonly endpoint: Endpoint
  /** The method of the call. */
  readonly method: string
  /** Micro-units. What version 1 may pay, as it echoes no quote: the list price, and the payer's own. */
  readonly prices: ReadonlyArray<bigint>
  readonly settlers: Settlers
  readonly key: TokenKey
  /** Milliseconds. */
  readonly now: number
  readonly recover: Recover
}

export type AcceptRefusal = QuoteRefusal | OfferRefusal | CredentialRefusal | EvmReason | SvmReason

export type Acceptance =
  | { readonly _tag: "Accepted"; readonly authorization: Authorization }
  | {
      readonly _tag: "Refused"
      readonly reason: AcceptRefusal
      /** Signed as it must be, and good once: if it was used then, it is paid for, and its answer may be asked for again. */
      readonly outdated?: Authorization
    }

const refused = (reason: AcceptRefusal): Acceptance => ({ _tag: "Refused", reason })

const ofTime: ReadonlySet<string> = new Set<AcceptRefusal>([
  "quote_expired",
  "invalid_exact_evm_payload_authorization_valid_before",
  "permit2_deadline_expired"
])
/** Version 1 says no price, so one that has changed looks like a wrong one. */
const ofPrice: ReadonlySet<string> = new Set<AcceptRefusal>([
  "invalid_exact_evm_payload_authorization_value_mismatch",
  "permit2_amount_mismatch"
])

/** The owner takes ways to pay away, and the rail takes other keys, or is silent about them since we started. */
const ofTerms: ReadonlySet<string> = new Set<AcceptRefusal>([
  "unsupported_scheme",
  "invalid_challenge",
  "invalid_payment_requirements",
  "invalid_exact_svm_payload_missing_fee_payer",
  "invalid_exact_svm_fee_payer_mismatch"
])

/** Whether what a caller shows pays for this call. Pure: whether it was used before, and whether there is money, others know. */
export const accept = (presented: Presented, ground: Ground): Acceptance => {
  const { endpoint, settlers } = ground
  const isKnown = (address: string) => settlers.signers.includes(parseAddress(endpoint.network, address) ?? "")
  const acceptance = judged(presented, { ...ground, settlers: namedIn(presented, settlers, isKnown) })
  if (acceptance._tag === "Accepted") return acceptance
  const { reason } = acceptance
  const once = presented._tag === "X402V1" ? signedPrice(presented.payload) : undefined
  if (!ofTime.has(reason) && !ofTerms.has(reason) && (once === undefined || !ofPrice.has(reason))) return acceptance
  const then = judged(presented, {
    ...ground,
    endpoint: { ...endpoint, schemes: schemesOn(endpoint.network), mpp: true },
    settlers: namedIn(presented, settlers, () => true),
    prices: once === undefined ? ground.prices : [once],
    now: undefined
  })
  return then._tag === "Accepted" ? { ...acceptance, outdated: then.authorization } : acceptance
}

/** Who settles, as the offer named it that this payment answers; of version 1 only Solana's transaction says so. */
const namedIn = (presented: Presented, settlers: Settlers, isKnown: (address: string) => boolean): Settlers => {
  const { facilitatorAddress, feePayer } =
    presented._tag === "X402V2"
      ? (asFields(presented.accepted.extra) ?? {})
      : { facilitatorAddress: undefined, feePayer: feePayerOf(presented.payload) }
  const named = (address: unknown) => (typeof address === "string" && isKnown(address) ? address : undefined)
  return {
    facilitator: named(facilitatorAddress) ?? settlers.facilitator,
    feePayer: named(feePayer) ?? settlers.feePayer,
    signers: settlers.signers
  }
}

/**
 * Who says that it pays, not proven yet; undefined where that is not said. What it would be asked for may be looked up: whoever is
 * proven to pay in the end is nobody else.
 */
export const claimedPayer = ({ payload }: Presented): string | undefined => {
  const { from } = signedPart(payload) ?? payload
  return typeof from === "string" && /^0x[0-9a-f]{40}$/i.test(from) ? from.toLowerCase() : undefined
}

const signedPrice = (payload: Fields): bigint | undefined => {
  const { permitted, value } = signedPart(payload) ?? {}
  const signed = asFields(permitted)?.amount ?? value
  return typeof signed === "string" && /^\d{1,19}$/.test(signed) ? BigInt(signed) : undefined
}

type Judging = Omit<Ground, "now"> & { readonly now: number | undefined }

const judged = (presented: Presented, ground: Judging): Acceptance => {
  switch (presented._tag) {
    case "X402V2":
      return acceptV2(presented, ground)
    case "X402V1":
      return acceptV1(presented, ground)
    case "Mpp":
      return acceptMpp(presented, ground)
  }
}

const acceptV2 = ({ accepted, identifier, payload }: X402V2, ground: Judging): Acceptance => {
  const { memo, quote: echoed } = asFields(accepted.extra) ?? {}
  const text = typeof echoed === "string" ? echoed : ""
  const quote = readQuote(ground.key, text)
  const price = quote?.terms.limit ?? ground.prices[0] ?? 0n
  const occasion = { quote: text, salt: typeof memo === "string" ? saltOf(memo) : undefined }
  const offer = matchOffer(offersOf({ ...ground, price }, occasion), accepted)
  if (offer === "unsupported_scheme" || offer === "invalid_network") return refused(offer)
  const unusable = judge(quote, ground)
  if (unusable !== undefined) return refused(unusable)
  if (typeof offer === "string" || quote === undefined) return refused("invalid_payment_requirements")
  return verified(
    payload,
    asAnswered(offer, payload, ground.key),
    { protocol: "x402v2", identifier, quote, text },
    ground
  )
}

/**
 * The offer as it is verified and settled. On Solana not every client writes the memo that was asked for: x402-solana and @dexterai/x402
 * have none, @x402/svm wrote random letters before it knew of it (2.5 to 2.9), and @faremeter/payment-solana has none by MPP. Such a
 * transaction would pay as version 1, and pays as version 2 and by MPP as well. A memo that names another quote of ours, or cannot be
 * read, is refused.
 */
const asAnswered = (offer: Offer, payload: Fields, key: TokenKey): Offer => {
  const { memo, ...extra } = offer.extra
  if (memo === undefined) return offer
  const written = memoOf(payload)
  const isOurs = written === undefined ? hasMemo(payload) : readQuote(key, quoteOfMemo(written)) !== undefined
  return isOurs ? offer : { ...offer, extra }
}

const acceptV1 = ({ network, payload, scheme }: X402V1, ground: Judging): Acceptance => {
  if (scheme !== "exact" || !ground.endpoint.schemes.includes("exact")) return refused("unsupported_scheme")
  if (network !== v1Networks[ground.endpoint.network]) return refused("invalid_network")
  // On Solana the memo that was asked for binds a transaction as version 2 does. Not every client writes it (x402-fetch has none): with
  // no memo of ours, it is bound to receiver and price only, as on Base.
  const memo = chainIdOf(ground.endpoint.network) === undefined ? memoOf(payload) : undefined
  const text = memo === undefined ? "" : quoteOfMemo(memo)
  const quote = readQuote(ground.key, text)
  if (memo !== undefined && quote !== undefined) {
    const [offer] = offersOf({ ...ground, price: quote.terms.limit }, { quote: text, salt: saltOf(memo) })
    const unusable = judge(quote, ground)
    if (unusable !== undefined || offer === undefined) return refused(unusable ?? "invalid_payment_requirements")
    return verified(payload, offer, { protocol: "x402v1", identifier: undefined, quote, text }, ground)
  }
  let first: Acceptance | undefined
  for (const price of ground.prices) {
    const offer = offersOf({ ...ground, price }).find((one) => one.scheme === "exact")
    if (offer === undefined) continue
    const acceptance = verified(payload, offer, { protocol: "x402v1", identifier: undefined }, ground)
    if (acceptance._tag === "Accepted") return acceptance
    first ??= acceptance
  }
  return first ?? refused("invalid_payment_requirements")
}

const acceptMpp = (credential: MppCredential, ground: Judging): Acceptance => {
  if (!ground.endpoint.mpp) return refused("unsupported_scheme")
  const occasion = occasionIn(credential.challenge)
  const quote = occasion === undefined ? undefined : readQuote(ground.key, occasion.quote)
  const unusable = judge(quote, ground)
  if (unusable !== undefined) return refused(unusable)
  if (occasion === undefined || quote === undefined) return refused("invalid_challenge")
  const { issuedAt, limit } = quote.terms
  const asked = challengeOf(ground.key, { ...ground, price: limit }, { ...occasion, issuedAt })
  if (asked === undefined) return refused("unsupported_scheme")
  const payload = readCredential(credential, asked.challenge)
  if (typeof payload === "string") return refused(payload)
  return verified(
    payload,
    asAnswered(asked.offer, payload, ground.key),
    { protocol: "mpp", identifier: undefined, quote, text: occasion.quote },
    ground
  )
}

const judge = (quote: SealedQuote | undefined, { endpoint, method, now }: Judging) =>
  judgeQuote(quote, { endpoint: endpoint.id, method }, now)

/** The salt in a memo; undefined when it is none that we make: what a payer wrote instead may not even be text that can be kept. */
const saltOf = (memo: string): string | undefined => /^ ([\w-]{1,64})$/.exec(memo.slice(quoteOfMemo(memo).length))?.[1]

interface Origin extends Pick<Authorization, "protocol" | "identifier"> {
  readonly quote?: SealedQuote
  readonly text?: string
}

const verified = (
  payload: Fields,
  offer: Offer,
  { identifier, protocol, quote, text }: Origin,
  ground: Judging
): Acceptance => {
  const { network } = ground.endpoint
  const { feePayer } = ground.settlers
  const feePayers = feePayer === undefined ? [] : [feePayer]
  const verdict =
    chainIdOf(network) === undefined
      ? verifySvmExact(payload, offer, { feePayers, now: ground.now ?? 0, priceFirst: protocol === "mpp" })
      : verifyEvm(payload, offer, { ...ground, network })
  if (verdict._tag === "Refused") return refused(verdict.reason)
  if (quote !== undefined && !quote.isFor(verdict.payer)) return refused("quote_for_another_payer")
  const { method, nonce, payer, requirements, validUntil } = verdict
  const authorization: Authorization = {
    protocol,
    scheme: offer.scheme,
    method,
    network,
    asset: chainIdOf(network) === undefined ? offer.asset : offer.asset.toLowerCase(),
    payer,
    payTo: offer.payTo,
    amount: BigInt(offer.amount),
    nonce,
    validUntil,
    quote: text,
    payload: verdict.payload,
    requirements,
    identifier
  }
  return { _tag: "Accepted", authorization }
}
