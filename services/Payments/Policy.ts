import { Context, Duration } from "effect"
import { later } from "#domain/Instant.ts"
import type { PaymentRow } from "#domain/Payment.ts"

/** How long promises hold, and what the platform takes. */
export interface PaymentPolicy {
  /** How long a payment request may be paid. */
  readonly requestLife: Duration.Duration
  /** How long a proof may be used. */
  readonly proofLife: Duration.Duration
  /** How much longer than the origin's timeout a call owns its payment: what capture or release need. */
  readonly leaseMargin: Duration.Duration
  /** How long a caller may take to send the body of its request: by so much longer does the call own its payment then. */
  readonly uploadLife: Duration.Duration
  /** How long a stored answer waits for the caller to come back. */
  readonly answerLife: Duration.Duration
  /** How long the same signed payment may ask for its stored answer again, at least. */
  readonly repeatLife: Duration.Duration
  /** How long an answer waits for a chain to decide about its payment. */
  readonly settlementLife: Duration.Duration
  /** How long an answer that cannot be kept is held back while a chain has not decided; then it is lost. */
  readonly holdLife: Duration.Duration
  /** How long a signed payment may be tried again after the origin failed, at most. */
  readonly retryLife: Duration.Duration
  /** The platform's share of a charge, in basis points. */
  readonly feeBasisPoints: number
}

/** A reference, so a deployment or a test changes it without touching the code. */
export const PaymentPolicy = Context.Reference<PaymentPolicy>("turnpike/services/Payments/Policy", {
  defaultValue: () => ({
    requestLife: Duration.seconds(60),
    proofLife: Duration.seconds(60),
    leaseMargin: Duration.seconds(10),
    uploadLife: Duration.minutes(2),
    answerLife: Duration.minutes(15),
    repeatLife: Duration.minutes(5),
    settlementLife: Duration.hours(24),
    holdLife: Duration.minutes(5),
    retryLife: Duration.minutes(15),
    feeBasisPoints: 0
  })
})

/** Until when an answer given at `at` is kept: what was signed may ask for it for as long as a client may still hold it for unused. */
export const keptUntil = (policy: PaymentPolicy, { proof_expires_at, protocol }: PaymentRow, at: Date): Date => {
  const life = protocol === "native" ? policy.answerLife : policy.repeatLife
  const answered = later(at, life)
  return answered > proof_expires_at ? answered : proof_expires_at
}
