import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto"
import { readUuid } from "./Uuid.ts"

/** What refresh tokens are sealed with. */
export type RefreshKey = KeyObject

export const refreshKey = (secret: Uint8Array): RefreshKey => createSecretKey(secret)

/** Which token of which session: the first has generation 0, and each refresh makes the next. */
export interface RefreshToken {
  readonly session: string
  readonly generation: number
}

// The bits that base64url leaves over must be zero, so that there is one spelling: 52 bytes are 69 characters and 4 bits more.
const pattern = /^refresh_[\w-]{69}[AQgw]$/
const macBytes = 32
const termsBytes = 16 + 4

/** The token itself. Nothing of it needs to be kept: it can be written again. */
export const writeRefreshToken = (key: RefreshKey, { generation, session }: RefreshToken): string => {
  const terms = Buffer.alloc(termsBytes)
  terms.write(session.replaceAll("-", ""), 0, 16, "hex")
  terms.writeUInt32BE(generation, 16)
  return `refresh_${Buffer.concat([terms, mac(key, terms)]).toString("base64url")}`
}

/** What a token that we wrote says; undefined for any other text. Whether it is the latest is the session's question. */
export const readRefreshToken = (key: RefreshKey, text: string): RefreshToken | undefined => {
  if (!pattern.test(text)) return undefined
  const bytes = Buffer.from(text.slice("refresh_".length), "base64url")
  const terms = bytes.subarray(0, termsBytes)
  if (bytes.length !== termsBytes + macBytes || !timingSafeEqual(mac(key, terms), bytes.subarray(termsBytes))) {
    return undefined
  }
  return { session: readUuid(terms, 0), generation: terms.readUInt32BE(16) }
}

const mac = (key: RefreshKey, terms: Uint8Array): Buffer => createHmac("sha256", key).update(terms).digest()
