import { Context, Duration } from "effect"

/** The times of a dispute. */
export interface DisputePolicy {
  /** How long after a transfer completed it may be disputed. */
  readonly filingWindow: Duration.Duration
  /** How long the counterparty has to answer. */
  readonly responseWindow: Duration.Duration
  /** A window that ends within this time ends soon. */
  readonly soon: Duration.Duration
  /** How long a process owns a dispute that it resolves. */
  readonly lease: Duration.Duration
}

/** A reference, so a deployment or a test changes it without touching the code. */
export const DisputePolicy = Context.Reference<DisputePolicy>("turnpike/services/Disputes/Policy", {
  defaultValue: () => ({
    filingWindow: Duration.days(120),
    responseWindow: Duration.days(30),
    soon: Duration.hours(72),
    lease: Duration.minutes(1)
  })
})
