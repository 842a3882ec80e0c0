// What callers of x402 (versions 1 and 2) and MPP show as payment. Decoded by hand: every paid call passes here, and an
// interpreted schema takes as long as the signature.

/** A JSON object of the caller's, every field still to be checked. */
export type Fields = Readonly<Record<string, unknown>>

export interface X402V2 {
  readonly _tag: "X402V2"
  /** The offer that the caller says it took. */
  readonly accepted: Fields
  readonly payload: Fields
  /** The id of the `payment-identifier` extension. */
  readonly identifier: string | undefined
}
export interface X402V1 {
  readonly _tag: "X402V1"
  readonly scheme: string
  readonly network: string
  readonly payload: Fields
}
export interface MppCredential {
  readonly _tag: "Mpp"
  readonly challenge: Fields
  readonly payload: Fields
  readonly source: string | undefined
}
export type Presented = X402V2 | X402V1 | MppCredential

export type MalformedReason =
  | "payment_header_too_large"
  | "multiple_payments"
  | "invalid_payload"
  | "invalid_x402_version"

export interface Malformed {
  readonly _tag: "Malformed"
  readonly reason: MalformedReason
  /** Whose header it is: x402 wants 400 for it, MPP a 402 with something new to pay. */
  readonly by: "x402" | "mpp"
}

/** The largest header with a payment. */
export const maxPaymentHeader = 8_192

const malformed = (reason: MalformedReason, by: Malformed["by"] = "x402"): Malformed => ({
  _tag: "Malformed",
  reason,
  by
})
const standardBase64 = /^[A-Za-z0-9+/]*={0,2}$/
/** MPP writes no padding, and its method `solana` wants it accepted. */
const credential = /^payment +([A-Za-z0-9_-]+)={0,2}$/i
const identifier = /^[A-Za-z0-9_-]{16,128}$/

/** A JSON object in a header; undefined for anything else. */
export const readJson = (text: string, encoding: "base64" | "base64url"): Fields | undefined => {
  try {
    return asFields(JSON.parse(Buffer.from(text, encoding).toString()))
  } catch {
    return undefined
  }
}

/** A JSON object in standard base64, as every header of x402 is written; missing padding is accepted. */
export const readHeader = (text: string): Fields | undefined =>
  text.length <= maxPaymentHeader && standardBase64.test(text) ? readJson(text, "base64") : undefined

export const asFields = (value: unknown): Fields | undefined => (isFields(value) ? value : undefined)

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether a value of `Authorization` is MPP's. */
export const isMppCredential = (value: string): boolean => /^payment(?: |$)/i.test(value)

/** The payment that a request shows, of whatever protocol; undefined when it shows none. */
export const readPayment = (
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
): Presented | Malformed | undefined => {
  // Clients that do not look for the version of the 402 send one text under both names; which version it is of it says itself.
  const named = new Set([headers["payment-signature"], headers["x-payment"]])
  const x402 = [...named].filter((value) => value !== undefined)
  const mpp = [headers.authorization, headers["payment-authorization"]].filter(
    (value) => value !== undefined && isMppCredential(String(value))
  )
  const [value, ...more] = [...x402, ...mpp]
  if (value === undefined) return undefined
  const by = x402.length > 0 ? "x402" : "mpp"
  if (more.length > 0 || typeof value !== "string") return malformed("multiple_payments", by)
  if (value.length > maxPaymentHeader) return malformed("payment_header_too_large", by)
  return by === "x402" ? readX402(value) : readMpp(value)
}

const readX402 = (value: string): Presented | Malformed => {
  const fields = readHeader(value)
  if (fields === undefined) return malformed("invalid_payload")
  const { x402Version } = fields
  if (x402Version !== 1 && x402Version !== 2) return malformed("invalid_x402_version")
  const payload = asFields(fields.payload)
  if (payload === undefined) return malformed("invalid_payload")
  if (x402Version === 1) {
    const { network, scheme } = fields
    if (typeof scheme !== "string" || typeof network !== "string") return malformed("invalid_payload")
    return { _tag: "X402V1", scheme, network, payload }
  }
  const accepted = asFields(fields.accepted)
  const id = identifierOf(fields.extensions)
  if (accepted === undefined || id === "invalid") return malformed("invalid_payload")
  return { _tag: "X402V2", accepted, payload, identifier: id?.text }
}

/** Clients that do not know the extension echo it without an id. */
const identifierOf = (extensions: unknown): { readonly text: string } | "invalid" | undefined => {
  const text = asFields(asFields(asFields(extensions)?.["payment-identifier"])?.info)?.id
  if (text === undefined) return undefined
  return typeof text === "string" && identifier.test(text) ? { text } : "invalid"
}

const readMpp = (value: string): Presented | Malformed => {
  const text = credential.exec(value)?.[1]
  const fields = text === undefined ? undefined : readJson(text, "base64url")
  const challenge = asFields(fields?.challenge)
  const payload = asFields(fields?.payload)
  const source = fields?.source
  if (challenge === undefined || payload === undefined || (source !== undefined && typeof source !== "string")) {
    return malformed("invalid_payload", "mpp")
  }
  return { _tag: "Mpp", challenge, payload, source }
}
