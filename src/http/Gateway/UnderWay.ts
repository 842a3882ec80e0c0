import { Context, Duration, Effect } from "effect"
import { sleep, within } from "#services/RealTime.ts"

/** How long those who are cut off when the process stops are waited for: their money is given back then, which takes milliseconds. */
export const LastPatience = Context.Reference("turnpike/http/Gateway/UnderWay/LastPatience", {
  defaultValue: () => Duration.seconds(3)
})

/**
 * Counts calls until their connections have let go of them, and what is done for them until it is done. When the scope ends these are
 * waited for, while what they need is still there.
 */
export const make = Effect.gen(function* () {
  const duration = yield* LastPatience
  let count = 0
  const ended = Effect.repeat(sleep("10 millis"), { until: () => count === 0 })
  const late = Effect.suspend(() => Effect.logWarning(`${count} calls were not over when the process stopped`))
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => (count === 0 ? Effect.void : within(ended, { duration, orElse: () => late })))
  )
  /** Begins something; what it returns ends it, and is called once. */
  const begin = () => {
    count++
    return () => {
      count--
    }
  }
  return { begin }
})
