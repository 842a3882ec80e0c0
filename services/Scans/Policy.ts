import { Context, Duration } from "effect"

/** How much of one kind of work a process takes on. */
export interface WorkLimits {
  /** How many are under way. */
  readonly atOnce: number
  /** How many wait for that. Whoever comes then is sent away. */
  readonly queue: number
  /** The part of that room which one buyer may have, so that there is some for others. */
  readonly share: number
  /** How many callers wait altogether, each of them for one of those. */
  readonly callers: number
  /** After so long a look at a site is given up. */
  readonly longest: Duration.Duration
}

export interface ScanPolicy {
  readonly scans: WorkLimits
  readonly tests: WorkLimits
  /** A scan of this age is stale. */
  readonly freshFor: Duration.Duration
  /** How long a process owns what it does, unless it says that it still does. */
  readonly lease: Duration.Duration
  /** How long another process is waited for altogether, and how often one looks whether a word from it was lost. */
  readonly patience: Duration.Duration
  readonly poll: Duration.Duration
  /** How many scans are counted together once they ended. */
  readonly block: number
}

/** A reference, so a deployment or a test changes it without touching the code. */
export const ScanPolicy = Context.Reference<ScanPolicy>("turnpike/services/Scans/Policy", {
  defaultValue: () => ({
    scans: { atOnce: 20, queue: 200, share: 0.5, callers: 2000, longest: Duration.seconds(60) },
    tests: { atOnce: 8, queue: 80, share: 0.5, callers: 800, longest: Duration.minutes(3) },
    freshFor: Duration.hours(24),
    lease: Duration.seconds(30),
    patience: Duration.minutes(5),
    poll: Duration.seconds(1),
    block: 16_384
  })
})
