import { Context, Duration } from "effect"

export interface ScanBatchPolicy {
  /** How many targets one process scans at a time. */
  readonly atOnce: number
  /** How long a scan may take; then it is tried again. */
  readonly patience: Duration.Duration
  /** How long a process owns a target it scans; longer than `patience`. */
  readonly lease: Duration.Duration
  /** How often a target is begun before it is given up. */
  readonly attempts: number
  /** How often it is begun when the scanner says that it failed. */
  readonly failures: number
  /** The first and the longest pause before a target is begun again. */
  readonly firstRetry: Duration.Duration
  readonly longestRetry: Duration.Duration
  /** By how much the turn of each target is behind that of the one before it: about as long as one takes when all are at work. */
  readonly turn: Duration.Duration
  /** How often one looks for what a process that is gone has left, when nothing is known to be due. */
  readonly poll: Duration.Duration
}

/** A reference, so a deployment or a test changes it without touching the code. */
export const ScanBatchPolicy = Context.Reference<ScanBatchPolicy>("turnpike/services/ScanBatches/Policy", {
  defaultValue: () => ({
    atOnce: 10,
    patience: Duration.seconds(60),
    lease: Duration.minutes(2),
    attempts: 10,
    failures: 3,
    firstRetry: Duration.seconds(1),
    longestRetry: Duration.minutes(5),
    turn: Duration.millis(300),
    poll: Duration.seconds(10)
  })
})
