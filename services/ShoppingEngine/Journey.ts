import type { FilledForm } from "#domain/ShopperForm.ts"
import type { Blocker } from "#domain/ShoppingTest.ts"
import type { PageSeen } from "./ApiRail.ts"
import { orderUncertain, snippet, warning } from "./Outcomes.ts"
import type { CheckoutOutcome, StepOutcome } from "./Rail.ts"

/** What is bought: what it is called, and what its page says of it. */
export interface Bought {
  readonly name: string
  readonly text: string
}

/** What was learnt on the way. */
export interface Journey {
  readonly thing: string
  /** What the shop's pages said, from the product's on. */
  readonly texts: Array<string>
  readonly filled: Set<string>
  /** What the shop was given of the shopper. */
  readonly given: Set<string>
  readonly warnings: Array<Blocker>
  total: string | null
  hasAddress: boolean
  /** A form of the checkout was sent. */
  hasSent: boolean
  /** The last that was sent is enough for an order, and no later step has shown itself since. */
  isOpen: boolean
  /** The page of which that was sent lists a later step, where one pays or looks at the order. */
  isPaidNext: boolean
}

/** Where the checkout led: `at` is the page of the payment, when it was reached. */
export interface Walked {
  readonly at: PageSeen | undefined
  readonly outcome: CheckoutOutcome
  readonly hasSent: boolean
}

export const begun = ({ name, text }: Bought): Journey => ({
  thing: name,
  texts: [text],
  filled: new Set(),
  given: new Set(),
  warnings: [],
  total: null,
  hasAddress: false,
  hasSent: false,
  isOpen: false,
  isPaidNext: false
})

/** The end of a walk, with its warnings. That nothing was ordered is in doubt while what was sent last is open. */
export const ended = (outcome: StepOutcome, { hasSent, isOpen, total, warnings }: Journey, at?: PageSeen): Walked => {
  const isTaken = outcome.blockers.some(({ id }) => id === "order_taken")
  const doubt = isOpen && !isTaken ? [orderUncertain("checkout", outcome.evidence)] : []
  return { at, hasSent, outcome: { ...outcome, blockers: [...warnings, ...doubt, ...outcome.blockers], total } }
}

/** Says once that fields have no label. */
export const noteLabels = ({ nameless }: FilledForm, journey: Journey) => {
  if (nameless.length === 0 || journey.warnings.some(({ id }) => id === "labels_missing")) return
  const names = nameless.slice(0, 8).map((field) => field.name ?? field.id ?? "?")
  const detail = `${nameless.length} fields of the checkout have no label: ${names.join(", ")}.`
  journey.warnings.push(warning("checkout", "labels_missing", detail, snippet(names.join(", "))))
}
