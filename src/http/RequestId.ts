import type { IncomingMessage } from "node:http"
import { randomFillSync } from "node:crypto"

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
const sane = /^[!-~]{1,128}$/

/** Randomness is fetched for 512 ids at a time: every request pays for an id. */
const pool = new Uint8Array(512 * 10)
let used = pool.length

/** `req_` and the TypeID of a fresh UUIDv7 made at this instant (milliseconds). */
export const fresh = (now: number): string => {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  // 26 letters carry 130 bits: the two spare ones lead, then 48 of time, the version, the variant and 74 random bits.
  let text = "req_"
  let pending = 0
  let bits = 2
  for (let index = 0; index < 16; index++) {
    let byte = index < 6 ? Math.floor(now / 2 ** (40 - 8 * index)) & 255 : (pool[used++] ?? 0)
    if (index === 6) byte = (byte & 0x0f) | 0x70
    if (index === 8) byte = (byte & 0x3f) | 0x80
    pending = (pending << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += alphabet.charAt((pending >> bits) & 31)
    }
    pending &= (1 << bits) - 1
  }
  return text
}

/** The caller's own request id if it is sane, or else a fresh one. */
export const of = (request: IncomingMessage, now: number): string => {
  const sent = request.headers["x-request-id"]
  return typeof sent === "string" && sane.test(sent) ? sent : fresh(now)
}
