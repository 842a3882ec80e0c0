import { Context, Duration } from "effect"

/** How long callers wait for a chain, and how hard the rail is asked. */
export interface ChainPolicy {
  /** How long `settle` waits for the outcome before it answers that there is none yet. */
  readonly wait: Duration.Duration
  /** How long one question to the rail may take. */
  readonly callTimeout: Duration.Duration
  /** How long a process owns a settlement it asks about; longer than `callTimeout`. */
  readonly lease: Duration.Duration
  /** The pause between looks at a settlement that somebody else asks about. */
  readonly lookAgain: Duration.Duration
  /** The first and the longest pause between questions. */
  readonly firstRetry: Duration.Duration
  readonly longestRetry: Duration.Duration
  /** How long after the authorisation has ended a settlement is still asked about. */
  readonly patience: Duration.Duration
  /** How long a settlement is asked about at most, however long its authorisation is valid. */
  readonly longestLife: Duration.Duration
  /** How long whoever settled has to book the outcome before a worker does. */
  readonly bookingGrace: Duration.Duration
  /** Settlements that callers of this process wait for at once; more are left to the worker. */
  readonly concurrency: number
}

/** A reference, so a deployment or a test changes it without touching the code. */
export const ChainPolicy = Context.Reference<ChainPolicy>("turnpike/services/ChainSettlements/Policy", {
  defaultValue: () => ({
    wait: Duration.seconds(15),
    callTimeout: Duration.seconds(60),
    lease: Duration.seconds(90),
    lookAgain: Duration.millis(250),
    firstRetry: Duration.millis(500),
    longestRetry: Duration.minutes(1),
    patience: Duration.hours(24),
    longestLife: Duration.days(7),
    bookingGrace: Duration.seconds(5),
    concurrency: 256
  })
})
