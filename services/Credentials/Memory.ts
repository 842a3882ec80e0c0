import { Cache, Clock, Duration, Effect, Exit } from "effect"
import { dropOldest } from "#domain/BoundedMap.ts"

/** How many tokens are remembered, how many besides that are nobody's, and how old what is remembered may get. */
export const credentialMemory = { capacity: 10_000, strangers: 1_000, longest: Duration.seconds(10) }

const longest = Duration.toMillis(credentialMemory.longest)

/**
 * Remembers what `find` says about tokens, by their hashes in hex. Those that are nobody's are kept apart, and few of them: whoever
 * makes tokens up must not push out those that somebody has.
 */
export const make = Effect.fnUntraced(function* <A>(find: (hex: string) => Effect.Effect<A | undefined>) {
  /** Until when nobody is asked again, the oldest first. */
  const strangers = new Map<string, number>()
  const setApart = (hex: string, until: number) => {
    strangers.delete(hex)
    strangers.set(hex, until)
    dropOldest(strangers, credentialMemory.strangers)
  }
  const look = Effect.fnUntraced(function* (hex: string) {
    const asked = yield* Clock.currentTimeMillis
    if ((strangers.get(hex) ?? 0) > asked) return { found: undefined, age: 0 }
    const found = yield* find(hex)
    if (found === undefined) setApart(hex, asked + longest)
    return { found, age: (yield* Clock.currentTimeMillis) - asked }
  })
  const cache = yield* Cache.makeWith(look, {
    capacity: credentialMemory.capacity,
    // What is remembered is as old as the question was, not as the answer is. Failures of the database are not remembered.
    timeToLive: (exit) =>
      Exit.isSuccess(exit) && exit.value.found !== undefined
        ? Duration.subtract(credentialMemory.longest, Duration.millis(exit.value.age))
        : Duration.zero
  })
  return {
    /** What is found of this token, undefined when it is nobody's. Asks at most once for as long as it is remembered. */
    get: (hex: string) => Cache.get(cache, hex),
    /** Whether it is remembered whose token this is, or asked right now. */
    has: (hex: string) => Cache.has(cache, hex),
    /** Nothing is remembered of this token, or of any when the text is empty. */
    forget: (hex: string) =>
      Effect.suspend(() => {
        if (hex === "") strangers.clear()
        else strangers.delete(hex)
        return hex === "" ? Cache.invalidateAll(cache) : Cache.invalidate(cache, hex)
      })
  }
})
