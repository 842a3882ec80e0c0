import { Context, Duration } from "effect"
import type { RefundRetries } from "#domain/Refund.ts"

/** How long refunds may be asked for, and how those are pursued that could not be paid at once. */
export interface RefundPolicy extends RefundRetries {
  /** How long after a transfer completed it may be refunded. */
  readonly window: Duration.Duration
  /** How long a process owns a refund that it tries to pay. */
  readonly lease: Duration.Duration
}

/** A reference, so a deployment or a test changes it without touching the code. */
export const RefundPolicy = Context.Reference<RefundPolicy>("turnpike/services/Refunds/Policy", {
  defaultValue: () => ({
    window: Duration.days(90),
    first: Duration.hours(1),
    firstFor: Duration.days(1),
    later: Duration.days(1),
    laterFor: Duration.days(14),
    lease: Duration.minutes(1)
  })
})
