import { Effect, Layer } from "effect"
import { midRate, sandboxPerDollar } from "#domain/Rate.ts"
import { RateSource } from "#services/RateSource.ts"

/** The sandbox's rates: a table that never changes, so that what integrators expect of it can be written down. */
export const layer = Layer.succeed(RateSource, {
  mid: (from, to) => {
    const mid = midRate(sandboxPerDollar, from, to)
    return mid === undefined ? Effect.die(`The table has no rate from ${from} to ${to}`) : Effect.succeed(mid)
  }
})
