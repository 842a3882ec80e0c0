import { Clock, Duration, Effect } from "effect"

/**
 * The time in which databases, browsers and threads live, also where the clock is another one: a test that moves virtual time by
 * an hour while a statement is under way has not waited an hour for it.
 */
export const realTime = Clock.Clock.defaultValue()

/** Milliseconds that only go on, also when the time is set: by these it is told how long something lasts. */
export const monotonic = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/** The same, by the clock of whoever asks. */
export const monotonicMillis: Effect.Effect<number> = Effect.map(Clock.Clock, monotonic)

/** Milliseconds that only go on, in real time. */
export const passed = (): number => monotonic(realTime)

/** Sleeps so long whatever the clock says. */
export const sleep = (duration: Duration.Input): Effect.Effect<void> =>
  realTime.sleep(Duration.fromInputUnsafe(duration))

/** How long what has arrived may take to be read, in milliseconds. To a process that stood still its timers come before that. */
export const reading = 50

/**
 * What it says, unless that takes longer in real time; then `orElse`. `effect` keeps its own clock. What arrived while the process stood
 * still is read before it is too late.
 */
export const within = <A, E, R, B, E2, R2>(
  effect: Effect.Effect<A, E, R>,
  { duration, orElse }: { readonly duration: Duration.Input; readonly orElse: () => Effect.Effect<B, E2, R2> }
): Effect.Effect<A | B, E | E2, R | R2> =>
  Effect.raceFirst(effect, sleep(duration).pipe(Effect.andThen(sleep(reading)), Effect.flatMap(orElse)))
