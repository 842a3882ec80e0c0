import { Effect } from "effect"

/** Does each of them, also when one before it failed, and fails then itself; how much all did together. */
export const eachDue = (works: ReadonlyArray<Effect.Effect<number>>): Effect.Effect<number> =>
  Effect.forEach(works, Effect.exit).pipe(
    Effect.flatMap((exits) => Effect.all(exits)),
    Effect.map((counts) => counts.reduce((sum, count) => sum + count, 0))
  )
