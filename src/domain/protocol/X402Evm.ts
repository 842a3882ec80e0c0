// x402 on EVM chains: `exact` by EIP-3009 or Permit2, `upto` by Permit2. Order and words of refusals are the published ones.
import { dateOf } from "../Instant.ts"
import { chainIdOf, type Network } from "../Network.ts"
import type { Authorization, Offer } from "./Authorization.ts"
import { isSignedBy, permitDigest, type Recover, transferDigest } from "./Eip712.ts"
import { asFields, type Fields } from "./X402Payload.ts"

/** The contracts through which Permit2 pays for x402, by scheme. */
const permit2Spenders = {
  exact: "0x402085c248eea27d92e8b30b2c58ed07f9e20001",
  upto: "0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002"
} as const

/** What was signed, in canonical spelling. */
export interface EvmAccepted
  extends Pick<Authorization, "method" | "payer" | "nonce" | "validUntil" | "payload" | "requirements"> {
  readonly _tag: "Accepted"
}

export type EvmReason =
  | "invalid_payload"
  | "invalid_exact_evm_missing_eip712_domain"
  | "invalid_exact_evm_signature"
  | "invalid_exact_evm_recipient_mismatch"
  | "invalid_exact_evm_payload_authorization_valid_before"
  | "invalid_exact_evm_payload_authorization_valid_after"
  | "invalid_exact_evm_payload_authorization_value_mismatch"
  | "invalid_permit2_spender"
  | "invalid_permit2_recipient_mismatch"
  | "upto_facilitator_mismatch"
  | "permit2_deadline_expired"
  | "permit2_not_yet_valid"
  | "permit2_amount_mismatch"
  | "permit2_token_mismatch"
  | "invalid_permit2_signature"
  | "unsupported_payload_type"
  | "invalid_network"

export interface EvmRefused {
  readonly _tag: "Refused"
  readonly reason: EvmReason
}

export interface EvmContext {
  readonly network: Network
  /** Milliseconds; undefined when it does not matter whether the authorisation is still, or already, valid. */
  readonly now: number | undefined
  readonly recover: Recover
}

/** What settling takes at least: an authorisation that ends earlier is refused (seconds). */
const settlementMargin = 6n
const isOver = (end: bigint, now: number | undefined): boolean =>
  now !== undefined && end < BigInt(Math.floor(now / 1000)) + settlementMargin
const isAhead = (start: bigint, now: number | undefined): boolean =>
  now !== undefined && start > BigInt(Math.floor(now / 1000))
/** The end of year 9999: what is valid for longer is valid until then. */
const latest = 253_402_300_799n

const refused = (reason: EvmReason): EvmRefused => ({ _tag: "Refused", reason })

const address = (value: unknown): string | undefined =>
  typeof value === "string" && /^0x[0-9a-f]{40}$/i.test(value) ? value.toLowerCase() : undefined
const bytes32 = (value: unknown): string | undefined =>
  typeof value === "string" && /^0x[0-9a-f]{64}$/i.test(value) ? value.toLowerCase() : undefined
const uint = (value: unknown): bigint | undefined => {
  if (typeof value !== "string" || !/^(?:0|[1-9]\d{0,77})$/.test(value)) return undefined
  const number = BigInt(value)
  return number >> 256n === 0n ? number : undefined
}
const endAt = (seconds: bigint): Date => dateOf(Number(seconds < latest ? seconds : latest) * 1000)
const canonical = (text: unknown): string => String(text).toLowerCase()

/** What is taken for signed of a payload, which may name a payer in more places than one: of both kinds the permit. */
export const signedPart = (payload: Fields): Fields | undefined =>
  asFields(payload.permit2Authorization) ?? asFields(payload.authorization)

/** Whether the payer signed for this offer. The offer is ours: what it says is not questioned here. */
export const verifyEvm = (payload: Fields, offer: Offer, context: EvmContext): EvmAccepted | EvmRefused => {
  const { signature } = payload
  if (typeof signature !== "string") return refused("invalid_payload")
  const permit = asFields(payload.permit2Authorization)
  if (permit !== undefined) return verifyPermit(permit, signature, offer, context)
  if (offer.scheme !== "exact") return refused("unsupported_payload_type")
  return verifyTransfer(asFields(payload.authorization), signature, offer, context)
}

const verifyTransfer = (
  fields: Fields | undefined,
  signature: string,
  offer: Offer,
  { network, now, recover }: EvmContext
): EvmAccepted | EvmRefused => {
  const signed = fields ?? {}
  const from = address(signed.from)
  const to = address(signed.to)
  const value = uint(signed.value)
  const validAfter = uint(signed.validAfter)
  const validBefore = uint(signed.validBefore)
  const nonce = bytes32(signed.nonce)
  if (from === undefined || to === undefined || value === undefined) return refused("invalid_payload")
  if (validAfter === undefined || validBefore === undefined || nonce === undefined) return refused("invalid_payload")

  const { name, version } = offer.extra
  if (typeof name !== "string" || typeof version !== "string") return refused("invalid_exact_evm_missing_eip712_domain")
  const chainId = chainIdOf(network)
  if (chainId === undefined) return refused("invalid_network")
  const digest = transferDigest(
    { name, version, chainId, contract: canonical(offer.asset) },
    { from, to, value, validAfter, validBefore, nonce }
  )
  if (!isSignedBy(recover, from, digest, signature)) return refused("invalid_exact_evm_signature")
  if (to !== canonical(offer.payTo)) return refused("invalid_exact_evm_recipient_mismatch")
  if (isOver(validBefore, now)) return refused("invalid_exact_evm_payload_authorization_valid_before")
  if (isAhead(validAfter, now)) return refused("invalid_exact_evm_payload_authorization_valid_after")
  if (value !== BigInt(offer.amount)) return refused("invalid_exact_evm_payload_authorization_value_mismatch")

  const authorization = {
    from,
    to,
    value: String(value),
    validAfter: String(validAfter),
    validBefore: String(validBefore),
    nonce
  }
  return {
    _tag: "Accepted",
    method: "eip3009",
    payer: from,
    nonce,
    validUntil: endAt(validBefore),
    payload: { x402Version: 2, accepted: offer, payload: { signature: canonical(signature), authorization } },
    requirements: offer
  }
}

const verifyPermit = (
  fields: Fields,
  signature: string,
  offer: Offer,
  { network, now, recover }: EvmContext
): EvmAccepted | EvmRefused => {
  const permitted = asFields(fields.permitted)
  const witness = asFields(fields.witness)
  const from = address(fields.from)
  const token = address(permitted?.token)
  const amount = uint(permitted?.amount)
  const spender = address(fields.spender)
  const nonce = uint(fields.nonce)
  const deadline = uint(fields.deadline)
  const to = address(witness?.to)
  const validAfter = uint(witness?.validAfter)
  const facilitator = offer.scheme === "upto" ? address(witness?.facilitator) : undefined
  if (from === undefined || token === undefined || amount === undefined || spender === undefined) {
    return refused("invalid_payload")
  }
  if (nonce === undefined || deadline === undefined || to === undefined || validAfter === undefined) {
    return refused("invalid_payload")
  }
  if (offer.scheme === "upto" && facilitator === undefined) return refused("invalid_payload")

  const chainId = chainIdOf(network)
  if (chainId === undefined) return refused("invalid_network")
  if (spender !== permit2Spenders[offer.scheme]) return refused("invalid_permit2_spender")
  if (to !== canonical(offer.payTo)) return refused("invalid_permit2_recipient_mismatch")
  if (facilitator !== undefined && facilitator !== canonical(offer.extra.facilitatorAddress)) {
    return refused("upto_facilitator_mismatch")
  }
  if (isOver(deadline, now)) return refused("permit2_deadline_expired")
  if (isAhead(validAfter, now)) return refused("permit2_not_yet_valid")
  if (amount !== BigInt(offer.amount)) return refused("permit2_amount_mismatch")
  if (token !== canonical(offer.asset)) return refused("permit2_token_mismatch")
  const digest = permitDigest(chainId, { token, amount, spender, nonce, deadline, to, facilitator, validAfter })
  if (!isSignedBy(recover, from, digest, signature)) return refused("invalid_permit2_signature")

  const permit2Authorization = {
    from,
    permitted: { token, amount: String(amount) },
    spender,
    nonce: String(nonce),
    deadline: String(deadline),
    witness: { to, ...(facilitator === undefined ? {} : { facilitator }), validAfter: String(validAfter) }
  }
  const requirements: Offer = { ...offer, extra: { ...offer.extra, assetTransferMethod: "permit2" } }
  return {
    _tag: "Accepted",
    method: "permit2",
    payer: from,
    nonce: String(nonce),
    validUntil: endAt(deadline),
    payload: {
      x402Version: 2,
      accepted: requirements,
      payload: { signature: canonical(signature), permit2Authorization }
    },
    requirements
  }
}
