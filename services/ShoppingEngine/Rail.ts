import type { Effect } from "effect"
import type { PaymentMark } from "#domain/page/PageFacts.ts"
import type { Candidate } from "#domain/ProductChoice.ts"
import type { Blocker, ShopRail } from "#domain/ShoppingTest.ts"

export type { Candidate } from "#domain/ProductChoice.ts"

/** What became of one step on one rail. `unknown`: it could not be tried here, which says nothing about the site. */
export interface StepOutcome {
  readonly status: "passed" | "failed" | "unknown"
  readonly detail: string
  /** At most 300 characters of what was seen. */
  readonly evidence: string | null
  /** A failed step names at least one that blocks. */
  readonly blockers: ReadonlyArray<Blocker>
}
export interface CartOutcome extends StepOutcome {
  readonly price: string | null
}
export interface CheckoutOutcome extends StepOutcome {
  readonly total: string | null
}
export interface PaymentOutcome extends StepOutcome {
  readonly methods: ReadonlyArray<PaymentMark>
}

/**
 * One interface of a shop by which an agent can buy. Each step asserts the state of the shop after it, not the answer alone. No rail
 * has an operation that places an order; what a rail may send by itself is listed in
 * `#domain/ShoppingConduct.ts`, what it may submit and press is judged by `#domain/FormConduct.ts`.
 */
export interface Rail {
  readonly name: ShopRail
  cart(candidate: Candidate): Effect.Effect<CartOutcome>
  readonly checkout: Effect.Effect<CheckoutOutcome>
  readonly payment: Effect.Effect<PaymentOutcome>
  /** Whether it sent a form of the checkout: then no other rail goes through the same checkout again. */
  readonly hasSentCheckout?: () => boolean
  /** Empties the cart and cancels the checkout; whatever fails of that is left. */
  readonly cleanUp: Effect.Effect<void>
}
