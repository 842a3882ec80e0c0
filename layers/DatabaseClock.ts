import { Clock, Effect, Layer, Metric, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import * as NewId from "#services/NewId.ts"
import { monotonic } from "#services/RealTime.ts"
import { atBeats } from "#services/Upkeep.ts"

/** One look at the database's clock: what it told, and when that was asked and heard, all in milliseconds; ours are monotonic. */
export interface Look {
  readonly asked: number
  readonly told: number
  readonly heard: number
}

/** A difference up to this is made good by running faster or slower; a larger one, in milliseconds, is jumped over. */
const jump = 10_000
/** How much faster or slower than real time. */
const slew = 0.1

/**
 * The database's clock, kept by this machine's monotonic one. The database read its clock between question and answer, so a look
 * proves between which bounds the difference of the two lies; what it does not contradict stays, however slow the answer was.
 */
export class FollowedClock implements Clock.Clock {
  readonly #local: Clock.Clock
  /** The difference that was made good at `#since`, in milliseconds, and the one that is on its way to be. */
  #made: number
  #since: number
  #due: number

  constructor(local: Clock.Clock, { asked, heard, told }: Look) {
    this.#local = local
    this.#since = heard
    this.#due = told - (asked + heard) / 2
    this.#made = this.#due
  }

  /** Takes a look into account. The time jumps, also back, only when the database's did, by more than ten seconds. */
  readonly learn = ({ asked, heard, told }: Look): void => {
    const now = monotonic(this.#local)
    this.#made = this.#differenceAt(now)
    this.#since = now
    this.#due = Math.min(Math.max(this.#due, told - heard), told - asked)
    if (Math.abs(this.#due - this.#made) > jump) this.#made = this.#due
  }

  readonly #differenceAt = (now: number): number => {
    const left = this.#due - this.#made
    if (left === 0) return this.#due
    const step = (now - this.#since) * slew
    return step >= Math.abs(left) ? this.#due : this.#made + Math.sign(left) * step
  }

  currentTimeMillisUnsafe(): number {
    const now = monotonic(this.#local)
    return Math.floor(now + this.#differenceAt(now))
  }
  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  currentTimeNanosUnsafe(): bigint {
    const now = this.#local.monotonicTimeNanosUnsafe()
    return now + BigInt(Math.round(this.#differenceAt(Number(now) / 1e6) * 1e6))
  }
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  monotonicTimeNanosUnsafe(): bigint {
    return this.#local.monotonicTimeNanosUnsafe()
  }
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())
  sleep(duration: Parameters<Clock.Clock["sleep"]>[0]): Effect.Effect<void> {
    return this.#local.sleep(duration)
  }
}

/** How long the database is not asked, and how far the two clocks of a machine go apart when it slept or was set, in milliseconds. */
const interval = 15_000
const moved = 1_000

const lead = Metric.gauge("turnpike_clock_lead_seconds", {
  description: "How far this machine's own clock is ahead of the database's, which is the one that counts"
})

/**
 * Whatever stands on this layer takes its time from the database: quotes, holds, leases and schedules are decided by one clock,
 * whatever the clocks of the machines say that share the database. While it is away the last known difference holds.
 */
export const layer = Layer.effect(
  Clock.Clock,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const local = yield* Clock.Clock
    const tell = SqlSchema.findOne({
      Request: Schema.Void,
      Result: Schema.Struct({ told: Schema.Finite }),
      execute: () => sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS told`
    })
    const look = Effect.gen(function* () {
      const asked = monotonic(local)
      const { told } = yield* tell(undefined)
      return { asked, told, heard: monotonic(local) }
    }).pipe(Effect.timeout("5 seconds"))

    const clock = new FollowedClock(local, yield* look)
    const follow = Effect.gen(function* () {
      clock.learn(yield* look)
      const ahead = (local.currentTimeMillisUnsafe() - clock.currentTimeMillisUnsafe()) / 1000
      yield* Metric.update(lead, ahead)
      return ahead
    })
    // The first look opened a connection; these are quick, and each narrows what is possible.
    yield* Effect.repeat(follow, { times: 4 })
    const ahead = yield* follow
    if (Math.abs(ahead) > 1) {
      yield* Effect.logWarning(`This machine's clock is ${ahead.toFixed(1)} s ahead of the database's, which is used`)
    }
    // A machine that sleeps stops its monotonic clock and not the one on its wall: by these it is known to have slept as soon as it
    // wakes. Until the database is asked it would live in the past.
    const apart = () => local.currentTimeMillisUnsafe() - monotonic(local)
    let asked = { at: monotonic(local), apart: apart() }
    const keepUp = Effect.suspend(() => {
      const now = { at: monotonic(local), apart: apart() }
      if (now.at - asked.at < interval && Math.abs(now.apart - asked.apart) < moved) return Effect.void
      // Whoever gets no answer has not woken yet.
      asked = { ...asked, at: now.at }
      return Effect.map(follow, () => {
        asked = now
      })
    })
    yield* Effect.forkScoped(atBeats(Effect.ignore(keepUp), "1 second"))
    yield* NewId.timedBy(clock)
    return clock
  })
)
