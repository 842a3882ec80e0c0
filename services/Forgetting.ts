import { type Duration, Effect } from "effect"
import { upkeep } from "./Upkeep.ts"

/**
 * Forgets what is over, a step at a time until a step finds nothing, and again after every interval, for as long as the scope is open.
 * A step says how many it forgot. What fails is logged and tried again.
 */
export const keepForgetting = <R>(what: string, step: Effect.Effect<number, never, R>, interval: Duration.Input) =>
  upkeep(`${what} could not be forgotten`, Effect.repeat(step, { until: (forgotten) => forgotten === 0 }), interval)
