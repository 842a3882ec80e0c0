// The facilitator interface of x402 (`/verify`, `/settle`, `/supported`), versions 2 and 1.
import { Schema } from "effect"
import { Currency, maxMicros } from "../Money.ts"
import { assetOf, caip2, domainOf, type Network, networksOf, parseAddress, sandboxAddress } from "../Network.ts"
import type { Environment } from "../Principal.ts"
import { isStorableJson } from "../Text.ts"
import type { Authorization, Offer } from "./Authorization.ts"
import type { Recover } from "./Eip712.ts"
import { verifySvmExact } from "./SvmExact.ts"
import { verifyEvm } from "./X402Evm.ts"
import { v1Networks } from "./X402Offers.ts"
import { asFields, type Fields } from "./X402Payload.ts"

const Anything = Schema.Record(Schema.String, Schema.Json)

/** What a seller asks about: the payload of a payer, and what the seller had asked the payer for. */
export const Facilitation = Schema.Struct({
  // Not every middleware writes it beside the payload, which says it too (x402-solana and @faremeter/middleware do not).
  x402Version: Schema.optionalKey(Schema.Int),
  paymentPayload: Anything,
  paymentRequirements: Anything
}).annotate({ identifier: "Facilitation" })
export type Facilitation = typeof Facilitation.Type

/** Whether a payment would go through now. */
export const VerifyResponse = Schema.Struct({
  isValid: Schema.Boolean,
  invalidReason: Schema.optionalKey(Schema.String),
  invalidMessage: Schema.optionalKey(Schema.String),
  payer: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "VerifyResponse" })
export type VerifyResponse = typeof VerifyResponse.Type

/** What became of a payment. */
export const SettleResponse = Schema.Struct({
  success: Schema.Boolean,
  errorReason: Schema.optionalKey(Schema.String),
  errorMessage: Schema.optionalKey(Schema.String),
  payer: Schema.optionalKey(Schema.String),
  transaction: Schema.String,
  network: Schema.String,
  amount: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "SettleResponse" })
export type SettleResponse = typeof SettleResponse.Type

/** The ways to pay that are settled here. */
export const Supported = Schema.Struct({
  kinds: Schema.Array(
    Schema.Struct({
      x402Version: Schema.Int,
      scheme: Schema.String,
      network: Schema.String,
      extra: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
    })
  ),
  extensions: Schema.Array(Schema.String),
  signers: Schema.Record(Schema.String, Schema.Array(Schema.String))
}).annotate({ identifier: "Supported" })
export type Supported = typeof Supported.Type

/** Who settles a maximum where the ledger is the chain. */
export const sandboxFacilitator = sandboxAddress("base-sepolia", "facilitator")

/** Why the facilitator says no; the words are those of x402. */
export interface Declined {
  readonly _tag: "Declined"
  readonly reason: string
  readonly message?: string | undefined
}
export const declined = (reason: string, message?: string): Declined => ({ _tag: "Declined", reason, message })

/** A payment to verify or to settle, in canonical spelling. */
export interface Asked {
  readonly _tag: "Asked"
  readonly version: 1 | 2
  readonly network: Network
  readonly currency: typeof Currency.Type
  /** What the seller asked for; micro-units of it are `amount`. */
  readonly offer: Offer
  readonly amount: bigint
  readonly payload: Fields
}

/** What the facilitator itself brings to a payment. */
export interface Facilitating {
  /** Milliseconds; undefined when it does not matter whether the word is still, or already, good. */
  readonly now: number | undefined
  readonly recover: Recover
  readonly feePayers: ReadonlyArray<string>
}

/** The network as the seller wrote it, for answers. */
export const networkOf = ({ paymentRequirements: { network } }: Facilitation): string =>
  typeof network === "string" ? network.slice(0, 100) : ""

const isRequirement = declined("invalid_payment_requirements")

/** Reads what a seller sent. The requirements are the seller's word: everything in them is checked. */
export const readFacilitation = (
  { paymentPayload, paymentRequirements: wanted, x402Version }: Facilitation,
  environment: Environment,
  facilitators: ReadonlyArray<string>
): Asked | Declined => {
  const { x402Version: version } = paymentPayload
  if (version !== 1 && version !== 2) return declined("invalid_x402_version")
  if (x402Version !== undefined && x402Version !== version) return declined("invalid_x402_version")
  const { network: name, scheme } = wanted
  if (scheme !== "exact" && !(scheme === "upto" && version === 2)) return declined("unsupported_scheme")
  const network = networksOf(environment).find((one) => name === (version === 1 ? v1Networks : caip2)[one])
  if (network === undefined) return declined("invalid_network")

  const accepted = version === 1 ? paymentPayload : asFields(paymentPayload["accepted"])
  const payload = asFields(paymentPayload["payload"])
  if (accepted === undefined || payload === undefined) return declined("invalid_payload")
  if (accepted["scheme"] !== scheme) return declined("invalid_scheme", "the payload is of another scheme")
  if (accepted["network"] !== name) return declined("invalid_network", "the payload is for another network")

  const amount = amountOf(version === 1 ? wanted["maxAmountRequired"] : wanted["amount"])
  if (amount === undefined) return { ...isRequirement, message: "the amount is no amount that can be paid here" }
  const asset = canonical(network, wanted["asset"])
  const currency = Currency.literals.find((one) => canonical(network, assetOf(network, one).address) === asset)
  if (asset === undefined || currency === undefined) {
    return { ...isRequirement, message: "the asset is none that is settled here" }
  }
  const payTo = canonical(network, wanted["payTo"])
  if (payTo === undefined) return { ...isRequirement, message: "payTo is no address of the network" }
  const { maxTimeoutSeconds } = wanted
  if (typeof maxTimeoutSeconds !== "number" || !(maxTimeoutSeconds > 0 && maxTimeoutSeconds <= 31_536_000)) {
    return { ...isRequirement, message: "maxTimeoutSeconds must be a number of seconds, at most a year" }
  }
  // Version 1 leaves the domain of a known token to whoever settles: uvd-x402-sdk's middleware names none.
  const extra: Fields = { ...(version === 1 ? domainOf(network, currency) : {}), ...asFields(wanted["extra"]) }
  if (!isStorableJson(extra)) return { ...isRequirement, message: "extra must be Unicode text without NUL characters" }
  return {
    _tag: "Asked",
    version,
    network,
    currency,
    amount,
    payload,
    offer: {
      scheme,
      network: caip2[network],
      amount: String(amount),
      asset,
      payTo,
      maxTimeoutSeconds,
      extra: { ...extra, ...ownExtra(extra, network, currency, scheme, facilitators) }
    }
  }
}

/** What the chain knows better than the seller: the domain of the token, and who settles a maximum. */
const ownExtra = (
  extra: Fields,
  network: Network,
  currency: typeof Currency.Type,
  scheme: Offer["scheme"],
  facilitators: ReadonlyArray<string>
): Fields => {
  const { name, version } = assetOf(network, currency)
  const named = canonical(network, extra["facilitatorAddress"])
  const facilitatorAddress = facilitators.find((one) => canonical(network, one) === named) ?? facilitators[0] ?? ""
  return {
    ...(extra["name"] === undefined ? {} : { name }),
    ...(extra["version"] === undefined ? {} : { version }),
    ...(scheme === "upto" ? { facilitatorAddress } : {})
  }
}

const canonical = (network: Network, value: unknown): string | undefined => {
  if (typeof value !== "string") return undefined
  // Version 1 clients echo addresses whose letters are of the wrong case.
  return parseAddress(network, network.startsWith("base-") ? value.toLowerCase() : value)
}

const amountOf = (value: unknown): bigint | undefined => {
  if (typeof value !== "string" || !/^(?:0|[1-9]\d{0,18})$/.test(value)) return undefined
  const amount = BigInt(value)
  return amount > maxMicros ? undefined : amount
}

/** The payer's word, if it is good for what was asked: for exactly that much. */
export const authorize = (asked: Asked, facilitating: Facilitating): Authorization | Declined =>
  asked.offer.scheme === "exact" && asked.amount === 0n
    ? { ...isRequirement, message: "the amount must be above 0" }
    : authorized(asked, asked.offer, facilitating)

/** The payer's word, if it is good for taking that much: under `upto` less than what was signed may be taken. */
export const authorizeTaking = (asked: Asked, facilitating: Facilitating): Authorization | Declined => {
  if (asked.offer.scheme === "exact") return authorize(asked, facilitating)
  const signed = amountOf(asFields(asFields(asked.payload["permit2Authorization"])?.["permitted"])?.["amount"])
  if (signed === undefined) return declined("invalid_payload")
  if (asked.amount > signed) return declined("invalid_upto_evm_payload_settlement_exceeds_amount")
  return authorized(asked, { ...asked.offer, amount: String(signed) }, facilitating)
}

const authorized = (
  { network, payload, version }: Asked,
  offer: Offer,
  { feePayers, now, recover }: Facilitating
): Authorization | Declined => {
  const found = network.startsWith("solana-")
    ? verifySvmExact(payload, offer, { now: now ?? 0, feePayers })
    : verifyEvm(payload, offer, { network, now, recover })
  if (found._tag === "Refused") return declined(found.reason)
  const { method, nonce, payer, payload: shown, requirements, validUntil } = found
  // On a chain this would move nothing, and be told as if it had.
  if (payer === offer.payTo) return { ...isRequirement, message: "the payer is the receiver" }
  return {
    protocol: version === 1 ? "x402v1" : "x402v2",
    scheme: offer.scheme,
    method,
    network,
    asset: offer.asset,
    payer,
    payTo: offer.payTo,
    amount: BigInt(offer.amount),
    nonce,
    validUntil,
    quote: undefined,
    payload: shown,
    requirements,
    identifier: undefined
  }
}

/** Under its published name: what was signed has been used. */
export const usedBefore = ({ method }: Authorization): Declined =>
  declined(method === "svm" ? "duplicate_settlement" : "invalid_exact_evm_nonce_already_used")

const said = ({ message }: Declined, name: string) => (message === undefined ? {} : { [name]: message })
const of = (payer: string | undefined) => (payer === undefined ? {} : { payer })

/** The answer that a payment would not go through. */
export const invalid = (declined: Declined, payer?: string): VerifyResponse => ({
  isValid: false,
  invalidReason: declined.reason,
  ...said(declined, "invalidMessage"),
  ...of(payer)
})

/** The answer that no money moved, or that nobody knows yet. */
export const unsettled = (
  declined: Declined & { readonly transaction?: string | undefined },
  network: string,
  payer?: string
): SettleResponse => ({
  success: false,
  errorReason: declined.reason,
  ...said(declined, "errorMessage"),
  ...of(payer),
  transaction: declined.transaction ?? "",
  network
})

/** A way to pay that is settled, and what requirements must carry for it. */
interface Kind {
  readonly network: Network
  readonly scheme: string
  readonly extra: Fields
  readonly signers?: ReadonlyArray<string>
}

/** Who may be named under this name: those whom ways to pay name there, and whoever else settles them. */
export const settlersIn = (
  kinds: ReadonlyArray<Kind>,
  name: "feePayer" | "facilitatorAddress"
): ReadonlyArray<string> => [
  ...new Set(
    kinds.flatMap(({ extra: { [name]: text }, signers = [] }) => (typeof text === "string" ? [text, ...signers] : []))
  )
]

const isJson = Schema.is(Anything)

/** The ways to pay as both versions list them. */
export const supportedOf = (kinds: ReadonlyArray<Kind>): Supported => {
  const listed = (version: 1 | 2) =>
    kinds
      // Version 1 knows `exact` only.
      .filter(({ scheme }) => version === 2 || scheme === "exact")
      .map(({ extra, network, scheme }) => ({
        x402Version: version,
        scheme,
        network: (version === 2 ? caip2 : v1Networks)[network],
        ...(isJson(extra) && Object.keys(extra).length > 0 ? { extra } : {})
      }))
  const feePayers = settlersIn(kinds, "feePayer")
  const settlers = settlersIn(kinds, "facilitatorAddress")
  return {
    kinds: [...listed(2), ...listed(1)],
    extensions: [],
    signers: {
      ...(settlers.length === 0 ? {} : { "eip155:*": settlers }),
      ...(feePayers.length === 0 ? {} : { "solana:*": feePayers })
    }
  }
}
