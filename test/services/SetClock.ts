import { Clock, Effect } from "effect"

/** A clock like the test's whose time of day can be set apart from it, by milliseconds. What sleeps, and how much time passes, is as before. */
export const setClock = Effect.map(Clock.Clock, (clock) => {
  const set = { by: 0 }
  const currentTimeMillisUnsafe = () => clock.currentTimeMillisUnsafe() + set.by
  const currentTimeNanosUnsafe = () => clock.currentTimeNanosUnsafe() + BigInt(set.by) * 1_000_000n
  const moved: Clock.Clock = {
    ...clock,
    currentTimeMillisUnsafe,
    currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
    currentTimeNanosUnsafe,
    currentTimeNanos: Effect.sync(currentTimeNanosUnsafe)
  }
  return { clock: moved, set }
})
