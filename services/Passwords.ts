import { Context, Effect, Semaphore } from "effect"
import { SecureRandom } from "effect/crypto"
import { scrypt, timingSafeEqual } from "node:crypto"
import { ServiceUnavailable } from "#domain/Refusal.ts"

interface Cost {
  /** Binary logarithm of scrypt's N. Memory is 128 * 2^ln * r bytes. */
  readonly ln: number
  readonly r: number
  readonly p: number
}

/** What a new hash costs; what is known by none costs as much. */
export const PasswordCost = Context.Reference<Cost>("turnpike/services/Passwords/Cost", {
  defaultValue: () => ({ ln: 15, r: 8, p: 3 })
})

/** How many are worked on in this process, each with 32 MB and a thread, and how many may wait for that. */
export const passwordLimits = { atOnce: 2, waiting: 64 }

const phc = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

const room = Semaphore.makeUnsafe(passwordLimits.atOnce)
let present = 0

/** Memory and threads are the whole process's, so the room is as well. Whoever comes when too many wait is sent away. */
const inTurn = <A>(work: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.suspend(() => {
    if (present >= passwordLimits.atOnce + passwordLimits.waiting) {
      return Effect.die(ServiceUnavailable.because("too many passwords are being checked", 2))
    }
    present++
    return Effect.ensuring(
      room.withPermits(1)(work),
      Effect.sync(() => present--)
    )
  })

/** Not interrupted: the thread works on in any case, and its room is taken until it is done. */
const derive = (password: string, salt: Uint8Array, { ln, r, p }: Cost) =>
  Effect.callback<Uint8Array>((resume) => {
    const options = { N: 2 ** ln, r, p, maxmem: 256 * 2 ** ln * r }
    scrypt(password.normalize("NFKC"), salt, 32, options, (error, key) =>
      resume(error === null ? Effect.succeed(key) : Effect.die(error))
    )
  }).pipe(Effect.uninterruptible, inTurn)

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64").replaceAll("=", "")

/** A salted scrypt hash that says its own parameters, so that they may grow later. */
export const hashPassword = Effect.fn("Passwords.hash")(function* (password: string) {
  const cost = yield* PasswordCost
  const salt = SecureRandom.randomBytesUnsafe(16)
  const key = yield* derive(password, salt, cost)
  return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${base64(salt)}$${base64(key)}`
})

/** Whether the password is the one behind the hash. A text that is no hash matches nothing, after the same work. */
export const verifyPassword = Effect.fn("Passwords.verify")(function* (password: string, hash: string) {
  const [, ln, r, p, salt = "", expected = ""] = phc.exec(hash) ?? []
  const known = ln === undefined ? yield* PasswordCost : { ln: Number(ln), r: Number(r), p: Number(p) }
  const key = yield* derive(password, Buffer.from(salt, "base64"), known)
  const wanted = Buffer.from(expected, "base64")
  return wanted.length === key.length && timingSafeEqual(wanted, key)
})
