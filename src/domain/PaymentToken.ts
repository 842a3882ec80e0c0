import { createHmac, createSecretKey, hash, type KeyObject, randomFillSync, timingSafeEqual } from "node:crypto"
import { readUuid, uuidFrom, uuidOf } from "./Uuid.ts"

/** What tokens are sealed with. */
export type TokenKey = KeyObject

/** Prepares a secret once: Node takes ten times as long over a key given as bytes. */
export const tokenKey = (secret: Uint8Array): TokenKey => createSecretKey(secret)

/** What a payment request stands for. It is its own record: nothing is stored when one is made. */
export interface PaymentRequest {
  readonly endpoint: string
  /** The method that was called, or `ANY`. */
  readonly method: string
  /** The list price then, micro-units: nobody who pays this request pays more. */
  readonly limit: bigint
  /** Milliseconds since 1970, up to the next full second: from then on the request may be paid for its whole life. */
  readonly issuedAt: number
}

const methods = ["ANY", "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"]
const requestPrefix = "pr_"
const proofPrefix = "pp_"
/** The first sealed byte: terms that anybody may use, and terms that are one payer's own, do not read as each other. */
const versions = { everybody: 1, onePayer: 2 } as const
export type Audience = keyof typeof versions
const macBytes = 16
// version, method, endpoint, limit, time
const termsBytes = 1 + 1 + 16 + 8 + 6
const sealedBytes = termsBytes + macBytes
const nonceBytes = 8
const requestPattern = /^pr_[\w-]{75}$/
const termsPattern = /^pr_[\w-]{64}$/
const proofPattern = /^pp_[\w-]{43}$/

/**
 * The terms of a payment request, sealed. With a nonce behind them they are a payment request: the nonce only tells one request
 * from another, so it needs no seal, and one seal serves as many requests as have the same terms.
 */
export const sealTerms = (key: TokenKey, request: PaymentRequest, audience: Audience = "everybody"): string => {
  const bytes = Buffer.allocUnsafe(sealedBytes)
  bytes[0] = versions[audience]
  bytes[1] = Math.max(0, methods.indexOf(request.method))
  writeUuid(bytes, 2, request.endpoint)
  bytes.writeBigUInt64BE(request.limit, 18)
  bytes.writeUIntBE(request.issuedAt, 26, 6)
  mac(key, bytes.subarray(0, termsBytes)).copy(bytes, termsBytes, 0, macBytes)
  return requestPrefix + bytes.toString("base64url")
}

/** A payment request with these terms, different every time. `now` (milliseconds) keeps the ids of payments in order. */
export const requestOf = (sealedTerms: string, now: number): string => {
  if (unused === pool.length) {
    randomFillSync(pool)
    unused = 0
  }
  pool.writeUInt16BE(now % 1000, unused)
  unused += nonceBytes
  return sealedTerms + pool.toString("base64url", unused - nonceBytes, unused)
}

/** What sealed terms for this audience say; undefined for any other text, terms for another audience among them. */
export const readTerms = (key: TokenKey, text: string, audience: Audience): PaymentRequest | undefined =>
  termsPattern.test(text)
    ? termsIn(key, Buffer.from(text.slice(requestPrefix.length), "base64url"), audience)
    : undefined

/**
 * What a payment request that we wrote says; undefined for any other text. Whether it is still valid is the reader's question. One
 * payer's own terms are never one: here nothing says who that payer is.
 */
export const readRequest = (
  key: TokenKey,
  text: string
): (PaymentRequest & { readonly askedAt: number }) | undefined => {
  if (!requestPattern.test(text)) return undefined
  const bytes = Buffer.from(text.slice(requestPrefix.length), "base64url")
  const terms = termsIn(key, bytes.subarray(0, sealedBytes), "everybody")
  if (terms === undefined) return undefined
  return { ...terms, askedAt: terms.issuedAt - ((1000 - (bytes.readUInt16BE(sealedBytes) % 1000)) % 1000) }
}

const termsIn = (key: TokenKey, bytes: Buffer, audience: Audience): PaymentRequest | undefined => {
  if (bytes[0] !== versions[audience] || !sealed(key, bytes, termsBytes)) return undefined
  return {
    method: methods[bytes[1] ?? 0] ?? "ANY",
    endpoint: readUuid(bytes, 2),
    limit: bytes.readBigUInt64BE(18),
    issuedAt: bytes.readUIntBE(26, 6)
  }
}

/** The proof that a payment was made; whoever holds it may use it. */
export const writeProof = (key: TokenKey, payment: string): string => {
  const bytes = Buffer.allocUnsafe(16 + macBytes)
  writeUuid(bytes, 0, payment)
  mac(key, bytes.subarray(0, 16)).copy(bytes, 16, 0, macBytes)
  return proofPrefix + bytes.toString("base64url")
}

/** The payment behind a proof of ours; undefined for any other text. */
export const readProof = (key: TokenKey, text: string): string | undefined => {
  if (!proofPattern.test(text)) return undefined
  const bytes = Buffer.from(text.slice(proofPrefix.length), "base64url")
  return bytes.length === 16 + macBytes && sealed(key, bytes, 16) ? readUuid(bytes, 0) : undefined
}

/** The payment that is made when this wallet or agent pays this request: always the same one. A UUIDv7 of the time of the request. */
export const paymentIdOf = (request: string, askedAt: number, payer: string): string => {
  const bytes = hash("sha256", request + payer, "buffer")
  bytes.writeUIntBE(askedAt, 0, 6)
  return uuidOf(bytes, 7)
}

/** The id of something that happens to a payment once per attempt (`hold`, `capture`, `release`): always the same one. */
export const stepId = (payment: string, attempt: number, step: string): string =>
  uuidFrom(`${payment} ${attempt} ${step}`)

/** One text for several: as different as they are, and of one length. */
export const fingerprintOf = (...parts: ReadonlyArray<string>): string => hash("sha256", parts.join("\n"), "base64url")

const mac = (key: TokenKey, bytes: Uint8Array): Buffer => createHmac("sha256", key).update(bytes).digest()

const sealed = (key: TokenKey, bytes: Buffer, end: number): boolean =>
  timingSafeEqual(mac(key, bytes.subarray(0, end)).subarray(0, macBytes), bytes.subarray(end))

const writeUuid = (bytes: Buffer, offset: number, uuid: string): void => {
  bytes.write(uuid.replaceAll("-", ""), offset, 16, "hex")
}

const pool = Buffer.alloc(8192)
let unused = pool.length
