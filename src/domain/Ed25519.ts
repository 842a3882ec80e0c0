import { createPrivateKey, createPublicKey, type KeyObject, verify as verifySignature } from "node:crypto"
import { Schema } from "effect"
import { isOnCurve, p } from "./Edwards25519.ts"

/** The y of the points of order 8: two of them, up to sign. */
const y8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022n
const smallOrder = new Set([0n, 1n, p - 1n, y8, p - y8])

/**
 * Whether 32 bytes are a public key that only the holder of a private key can sign for: a point of the curve, in its one spelling,
 * and not of small order, under which anybody's signature can hold.
 */
export const isPublicKey = (bytes: Uint8Array): boolean => {
  if (bytes.length !== 32) return false
  const y = BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`) & ((1n << 255n) - 1n)
  return y < p && !smallOrder.has(y) && isOnCurve(bytes)
}

const bytesOf = (text: string): Buffer => Buffer.from(text, "base64")

const noPublicKey = "must be an Ed25519 public key: 32 bytes in base64, not of small order"

// Bits of a last letter that stand for no byte are zero in the one spelling.
/** A public key in standard base64. */
export const PublicKey = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/u, { message: noPublicKey }).abort(),
  Schema.makeFilter((text) => isPublicKey(bytesOf(text)) || noPublicKey)
)
export type PublicKey = typeof PublicKey.Type

/** A signature in standard base64. */
export const Signature = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9+/]{85}[AQgw]==$/u, { message: "must be an Ed25519 signature: 64 bytes in base64" })
)
export type Signature = typeof Signature.Type

const der = (hex: string): Buffer => Buffer.from(hex, "hex")
const publicHead = der("302a300506032b6570032100")
const privateHead = der("302e020100300506032b657004220420")

/** The private key that a seed of 32 bytes is. */
export const privateKeyOf = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([privateHead, seed]), format: "der", type: "pkcs8" })

/** The public key to it. */
export const publicKeyOf = (seed: Uint8Array): PublicKey =>
  createPublicKey(privateKeyOf(seed))
    .export({ format: "der", type: "spki" })
    .subarray(publicHead.length)
    .toString("base64")

/** Whether the holder of this key signed the text. */
export const isSigned = (publicKey: PublicKey, text: string, signature: Signature): boolean => {
  const key = createPublicKey({ key: Buffer.concat([publicHead, bytesOf(publicKey)]), format: "der", type: "spki" })
  return verifySignature(null, Buffer.from(text), key, bytesOf(signature))
}
