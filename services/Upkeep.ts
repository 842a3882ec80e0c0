import { Duration, Effect } from "effect"
import { monotonicMillis } from "./RealTime.ts"

/** At these, by the clock that only goes on, whatever waits in a process has waited enough: waking for many costs as much as for one. */
const beat = Duration.toMillis("1 second")

/** Timers come early by a part of a millisecond. */
const early = 2

/**
 * How long to wait where something is to be done every so often: until the last beat before `every` is over, and half of `every` at
 * least. An `every` shorter than a beat is waited for as it is.
 */
export const untilBeat = (every: Duration.Input): Effect.Effect<Duration.Duration> =>
  Effect.map(monotonicMillis, (now) => {
    const longest = Duration.toMillis(Duration.fromInputUnsafe(every))
    if (longest < beat) return Duration.millis(longest)
    const left = Math.floor((now + longest + early) / beat) * beat - now
    return Duration.millis(Math.min(longest, Math.max(longest / 2, left)))
  })

/** Does a step again and again for as long as it succeeds, waiting `untilBeat` after each turn. */
export const atBeats = <A, E, R>(step: Effect.Effect<A, E, R>, every: Duration.Input): Effect.Effect<never, E, R> =>
  step.pipe(Effect.andThen(untilBeat(every)), Effect.flatMap(Effect.sleep), Effect.forever)

/**
 * Does a step for as long as the scope is open, at beats. A turn that fails is logged under `failed` and ends nothing.
 */
export const upkeep = <A, E, R>(failed: string, step: Effect.Effect<A, E, R>, every: Duration.Input) =>
  step.pipe(
    Effect.catchCause((cause) => Effect.logError(failed, cause)),
    (turn) => atBeats(turn, every),
    Effect.forkScoped
  )
