import type { PgClientConfig } from "@effect/sql-pg/PgClient"
import { Clock, Duration, Effect, Exit } from "effect"
import { Database } from "../Database.ts"
import * as LastingPipeline from "../Database/LastingPipeline.ts"
import * as Pipeline from "../Database/Pipeline.ts"
import { Ledger } from "../Ledger.ts"
import { monotonic, sleep } from "../RealTime.ts"

const command = (text: string): Pipeline.Step => ({ statement: Pipeline.statement([], text), values: [] })
export const begin = command("BEGIN")
export const commit = command("COMMIT")
const rollback = [command("ROLLBACK")]
/** What is written may be lost with the database server: it only says what came of calls, which are then made again. */
export const unhurried = command("SET LOCAL synchronous_commit = off")

// A plan made while a table was empty reads all of it for each row, and is kept until somebody else analyzes the table: measured
// 500 times as slow at 40,000 rows. Made again it goes by the size that the table has by then.
const forgetPlans = [command("DISCARD PLANS")]
const planned = Duration.toMillis("2 seconds")

/** How long the sender waits for the database. */
const patience = Duration.seconds(8)

/**
 * Whoever stands still in a transaction has subscriptions in its hands that others write to together with theirs: none of them waits for
 * it longer than for the head of the log.
 */
const standingShort = (settings: PgClientConfig): PgClientConfig => ({
  ...settings,
  startupParameters: { ...settings.startupParameters, idle_in_transaction_session_timeout: "3s" }
})

/** Events that are late are better than money that cannot move. */
const ledgerFirst = Effect.fail(
  new Pipeline.ConnectionLost({ message: "The ledger's connection comes first", cause: undefined })
)

const lostWithin = Effect.fail(
  new Pipeline.ConnectionLost({ message: "The connection of a transaction was lost", cause: undefined })
)

/** A connection of the sender's own: its statements are few, and planned once in a while. One transaction at a time. */
export const make = Effect.fnUntraced(function* (name: string) {
  const { config } = yield* Database
  const { crowded } = yield* Ledger
  const pipeline = yield* LastingPipeline.make(standingShort(Pipeline.byKey(config, name)), patience)
  const clock = yield* Clock.Clock
  let plannedAt = monotonic(clock)
  const planAgain = Effect.suspend(() => {
    const now = monotonic(clock)
    if (now - plannedAt < planned) return Effect.void
    plannedAt = now
    return pipeline.fly(forgetPlans)
  })
  let users = 0
  const inUse = <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      users++
      return Effect.ensuring(
        work,
        Effect.sync(() => users--)
      )
    })
  const stepBack = Effect.suspend(() => (users === 0 ? pipeline.drop : Effect.void))
  /** Whether a transaction was begun: what comes after it is nothing without it, and must not be written on another connection. */
  let isBegun = false
  const fly = (steps: ReadonlyArray<Pipeline.Step>) =>
    inUse(
      Effect.suspend(() => {
        if (steps[0] !== begin && isBegun && pipeline.isLost()) return lostWithin
        isBegun = steps.at(-1) !== commit && (isBegun || steps[0] === begin)
        return steps[0] === begin ? Effect.andThen(planAgain, pipeline.fly(steps)) : pipeline.fly(steps)
      })
    )
  /** Runs flights of which the first begins a transaction and the last commits it. */
  const transaction = <A, E>(flights: Effect.Effect<A, E>): Effect.Effect<A, E | Pipeline.ConnectionLost> => {
    const whole = Effect.onExit(inUse(flights), (exit) => {
      isBegun = false
      return Exit.isSuccess(exit) || pipeline.isLost() ? Effect.void : Effect.ignore(pipeline.fly(rollback))
    })
    return Effect.flatMap(
      Effect.sync(() => crowded.isOpen()),
      (isCrowded): Effect.Effect<A, E | Pipeline.ConnectionLost> =>
        isCrowded ? Effect.andThen(stepBack, ledgerFirst) : whole
    )
  }
  yield* crowded.await.pipe(
    Effect.andThen(stepBack),
    Effect.andThen(sleep("1 second")),
    Effect.forever,
    Effect.forkScoped
  )
  return { fly, transaction }
})
export type Connection = Effect.Success<ReturnType<typeof make>>
