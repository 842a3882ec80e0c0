import { Clock, Duration, Effect } from "effect"
import { dropOldest } from "#domain/BoundedMap.ts"
import { monotonic } from "../RealTime.ts"
import * as RecentAnswers from "../RecentAnswers.ts"

/** How many tokens are remembered, how many besides that are nobody's, and how old what is remembered may get. */
export const credentialMemory = { capacity: 10_000, strangers: 1_000, longest: Duration.seconds(10) }

const longest = Duration.toMillis(credentialMemory.longest)

/**
 * Remembers what `find` says about tokens, by their hashes in hex. Those that are nobody's are kept apart, and few of them: whoever
 * makes tokens up must not push out those that somebody has.
 */
export const make = Effect.fnUntraced(function* <A>(find: (hex: string) => Effect.Effect<A | undefined>) {
  const clock = yield* Clock.Clock
  /** Until when nobody is asked again, the oldest first. */
  const strangers = new Map<string, number>()
  const setApart = (hex: string, until: number) => {
    strangers.delete(hex)
    strangers.set(hex, until)
    dropOldest(strangers, credentialMemory.strangers)
  }
  const look = Effect.fnUntraced(function* (hex: string) {
    const asked = monotonic(clock)
    if ((strangers.get(hex) ?? 0) > asked) return undefined
    const found = yield* find(hex)
    if (found === undefined) setApart(hex, asked + longest)
    return found
  })
  const { forget, get, has } = yield* RecentAnswers.make(look, {
    ...credentialMemory,
    kept: (found) => found !== undefined
  })
  return {
    /** What is found of this token, undefined when it is nobody's. Asks at most once for as long as it is remembered. */
    get,
    /** Whether it is remembered whose token this is, or asked right now. */
    has,
    /** Nothing is remembered of this token, or of any when the text is empty. */
    forget: (hex: string) =>
      Effect.suspend(() => {
        if (hex === "") strangers.clear()
        else strangers.delete(hex)
        return forget(hex)
      })
  }
})
