import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { scrypt, timingSafeEqual } from "node:crypto"

interface Cost {
  /** Binary logarithm of scrypt's N. Memory is 128 * 2^ln * r bytes. */
  readonly ln: number
  readonly r: number
  readonly p: number
}

const cost: Cost = { ln: 15, r: 8, p: 3 }
const phc = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

const derive = (password: string, salt: Uint8Array, { ln, r, p }: Cost) =>
  Effect.callback<Uint8Array>((resume) => {
    const options = { N: 2 ** ln, r, p, maxmem: 256 * 2 ** ln * r }
    scrypt(password.normalize("NFKC"), salt, 32, options, (error, key) =>
      resume(error === null ? Effect.succeed(key) : Effect.die(error))
    )
  })

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64").replaceAll("=", "")

/** A salted scrypt hash that says its own parameters, so that they may grow later. */
export const hashPassword = Effect.fn("Passwords.hash")(function* (password: string) {
  const salt = SecureRandom.randomBytesUnsafe(16)
  const key = yield* derive(password, salt, cost)
  return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${base64(salt)}$${base64(key)}`
})

/** Whether the password is the one behind the hash. A text that is no hash matches nothing, after the same work. */
export const verifyPassword = Effect.fn("Passwords.verify")(function* (password: string, hash: string) {
  const [, ln, r, p, salt = "", expected = ""] = phc.exec(hash) ?? []
  const known = ln === undefined ? cost : { ln: Number(ln), r: Number(r), p: Number(p) }
  const key = yield* derive(password, Buffer.from(salt, "base64"), known)
  const wanted = Buffer.from(expected, "base64")
  return wanted.length === key.length && timingSafeEqual(wanted, key)
})
