import { type Duration, Effect, Schedule } from "effect"

/**
 * Forgets what is over, a step at a time until a step finds nothing, and again after every interval, for as long as the scope is open.
 * A step says how many it forgot. What fails is logged and tried again.
 */
export const keepForgetting = <R>(what: string, step: Effect.Effect<number, never, R>, interval: Duration.Input) =>
  Effect.repeat(step, { until: (forgotten) => forgotten === 0 }).pipe(
    Effect.catchCause((cause) => Effect.logError(`${what} could not be forgotten`, cause)),
    Effect.repeat(Schedule.spaced(interval)),
    Effect.forkScoped
  )
