import { Context, Duration } from "effect"

/** When transfers are submitted to the rail, and how hard it is asked. */
export interface SettlementPolicy {
  /** How long a new transfer may still be cancelled before it is submitted. */
  readonly submitAfter: (memo: string | null) => Duration.Duration
  /** How long one question to the rail may take. */
  readonly callTimeout: Duration.Duration
  /** How long a process owns a settlement it asks about; longer than `callTimeout`. */
  readonly lease: Duration.Duration
  /** The first and the longest pause between questions. */
  readonly firstRetry: Duration.Duration
  readonly longestRetry: Duration.Duration
  /** How often in a row a rail may give no answer before the settlement is left to the operator. */
  readonly silences: number
  /** How long after its submission a settlement is asked about, at most. */
  readonly patience: Duration.Duration
}

/** A reference, so a deployment or a test changes it without touching the code. */
export const SettlementPolicy = Context.Reference<SettlementPolicy>("turnpike/services/Settlements/Policy", {
  defaultValue: () => ({
    submitAfter: () => Duration.zero,
    callTimeout: Duration.seconds(30),
    lease: Duration.seconds(60),
    firstRetry: Duration.millis(500),
    longestRetry: Duration.minutes(5),
    silences: 100,
    patience: Duration.days(7)
  })
})
