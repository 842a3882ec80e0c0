import { Cache, Clock, Duration, Effect, Exit, Option } from "effect"
import { monotonic } from "./RealTime.ts"

/**
 * Remembers what `find` answers, each answer until `longest` after it was asked for, by the monotonic clock: whatever time it is set to
 * be meanwhile, nothing is believed for longer. Failures are not remembered, nor answers that are not `kept`.
 */
export const make = Effect.fnUntraced(function* <A, E = never>(
  find: (key: string) => Effect.Effect<A, E>,
  {
    capacity,
    kept = () => true,
    longest
  }: {
    readonly capacity: number
    readonly longest: Duration.Duration
    readonly kept?: (answer: A) => boolean
  }
) {
  const clock = yield* Clock.Clock
  const millis = Duration.toMillis(longest)
  const ask = (key: string) =>
    Effect.suspend(() => {
      const asked = monotonic(clock)
      return Effect.map(find(key), (answer) => ({ answer, asked }))
    })
  const cache = yield* Cache.makeWith(ask, {
    capacity,
    timeToLive: (exit) => (Exit.isSuccess(exit) && kept(exit.value.answer) ? Duration.infinity : Duration.zero)
  })
  const isOld = ({ asked }: { readonly asked: number }) => monotonic(clock) - asked >= millis
  const again = (key: string) => Effect.andThen(Cache.invalidate(cache, key), Cache.get(cache, key))
  return {
    /** Asks at most once for as long as it is remembered; those who ask meanwhile share the answer. */
    get: (key: string) =>
      Effect.map(
        Effect.flatMap(Cache.get(cache, key), (known) => (isOld(known) ? again(key) : Effect.succeed(known))),
        ({ answer }) => answer
      ),
    /** Whether the answer is remembered, or asked for right now. */
    has: (key: string) =>
      Effect.flatMap(Cache.getSuccess(cache, key), (known) =>
        Option.isSome(known) ? Effect.succeed(!isOld(known.value)) : Cache.has(cache, key)
      ),
    /** Nothing is remembered of this key, or of any when it is empty. */
    forget: (key: string) => (key === "" ? Cache.invalidateAll(cache) : Cache.invalidate(cache, key))
  }
})
