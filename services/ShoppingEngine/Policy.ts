import { Context, Duration } from "effect"
import type { TestType } from "#domain/ShoppingTest.ts"

/** What a test may cost a shop. */
export interface ShoppingPolicy {
  /** Requests and time of a test by its type. What a browser asks for counts apart, by the browser's own bounds. */
  readonly limits: Readonly<Record<TestType, { readonly requests: number; readonly duration: Duration.Duration }>>
  /** What there is beside that to put things back. */
  readonly reserve: { readonly requests: number; readonly duration: Duration.Duration; readonly bytes: number }
  /** Least time between two requests. */
  readonly pace: Duration.Duration
  readonly perRequest: Duration.Duration
}

/** A reference, so a deployment or a test changes it without touching the code. */
export const ShoppingPolicy = Context.Reference<ShoppingPolicy>("turnpike/services/ShoppingEngine/Policy", {
  defaultValue: () => ({
    limits: {
      browse: { requests: 24, duration: Duration.seconds(30) },
      search: { requests: 40, duration: Duration.seconds(40) },
      add_to_cart: { requests: 60, duration: Duration.seconds(50) },
      checkout: { requests: 80, duration: Duration.seconds(60) },
      full_flow: { requests: 80, duration: Duration.seconds(60) }
    },
    reserve: { requests: 12, duration: Duration.seconds(12), bytes: 6_000_000 },
    pace: Duration.millis(250),
    perRequest: Duration.seconds(10)
  })
})
