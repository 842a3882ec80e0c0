import { type Duration, Effect, Schedule } from "effect"

/**
 * Does a step for as long as the scope is open, with a pause of `every` after each turn. A turn that fails is logged under `failed` and
 * ends nothing.
 */
export const upkeep = <A, E, R>(failed: string, step: Effect.Effect<A, E, R>, every: Duration.Input) =>
  step.pipe(
    Effect.catchCause((cause) => Effect.logError(failed, cause)),
    Effect.repeat(Schedule.spaced(every)),
    Effect.forkScoped
  )
