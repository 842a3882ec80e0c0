import { Context, Duration } from "effect"

/** What converting money costs, and how long a price stands. Basis points are at most 5,000. */
export interface QuotePolicy {
  readonly timeToLive: Duration.Duration
  /** The platform's part of what is sent. */
  readonly feeBasisPoints: number
  /** How far the rate of a quote is below the one of the source. */
  readonly spreadBasisPoints: number
  /** How long a quote that nobody used can be read after its end. */
  readonly kept: Duration.Duration
}

/** A reference, so a deployment or a test changes it without touching the code. */
export const QuotePolicy = Context.Reference<QuotePolicy>("turnpike/services/Quotes/Policy", {
  defaultValue: () => ({
    timeToLive: Duration.seconds(30),
    feeBasisPoints: 25,
    spreadBasisPoints: 50,
    kept: Duration.hours(24)
  })
})
