import { Context, Duration } from "effect"

export interface ScannerCreditPolicy {
  /** How long nothing is heard of a charge before its process is taken for dead. */
  readonly lease: Duration.Duration
}

/** A reference, so a deployment or a test changes it without touching the code. */
export const ScannerCreditPolicy = Context.Reference<ScannerCreditPolicy>("turnpike/services/ScannerCredits/Policy", {
  defaultValue: () => ({ lease: Duration.minutes(2) })
})
