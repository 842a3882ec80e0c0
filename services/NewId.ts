import { Clock, Effect, type Scope } from "effect"
import { randomFillSync } from "node:crypto"

/** Randomness is fetched for many ids at a time: most of what an id costs is asking for it. */
const pool = new Uint32Array(1024)
let used = pool.length
const random32 = (): number => {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  return pool[used++] ?? 0
}

const bytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))
const hex16 = (value: number): string => `${bytes[(value >>> 8) & 255]}${bytes[value & 255]}`
const hex32 = (value: number): string => hex16(value >>> 16) + hex16(value)

// Real time also where a test has stopped the clock; a server that follows another clock says so.
let realTime = Clock.Clock.defaultValue()
let millis = 0
let time = ""
/** The 42 bits after the time, as 12 and 30: random in each new millisecond, one more for each id after the first. */
let high = 0
let low = 0

const begin = (at: number) => {
  millis = at
  const text = at.toString(16).padStart(12, "0")
  time = `${text.slice(0, 8)}-${text.slice(8)}`
  // Half of the range at most, so that there is room to count.
  high = random32() & 0x7ff
  low = random32() & 0x3fffffff
}

/** A fresh UUIDv7 that sorts after every one this process made before, also within a millisecond and when the clock goes back. */
export const newUuid = (): string => {
  const now = realTime.currentTimeMillisUnsafe()
  if (now > millis) begin(now)
  else if (low < 0x3fffffff) low++
  else if (high < 0xfff) {
    high++
    low = 0
  } else begin(millis + 1)
  return `${time}-${hex16(0x7000 | high)}-${hex16(0x8000 | (low >>> 16))}-${hex16(low)}${hex32(random32())}`
}

/** Ids carry the time of this clock until the scope closes, whatever those before it carried. */
export const timedBy = (clock: Clock.Clock): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = realTime
      realTime = clock
      // Ids made until now are those of requests that came too early, perhaps by a clock that is far ahead: no others go on from there.
      millis = 0
      return before
    }),
    (before) =>
      Effect.sync(() => {
        realTime = before
      })
  ).pipe(Effect.asVoid)

/** The same under the brand of the given schema. */
export const newId = <Id extends string>(schema: { readonly make: (uuid: string) => Id }): Effect.Effect<Id> =>
  Effect.sync(() => schema.make(newUuid()))
