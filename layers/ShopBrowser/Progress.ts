import type { OrderTaken } from "#domain/OrderTaken.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import type { Meaning } from "./Fields.ts"

/** What was done on the pages of a checkout. */
export interface Progress {
  /** Who shops: of another country, where the checkout lists only such. */
  shopper: TestShopper
  readonly filled: Set<Meaning>
  /** What is asked for in a list that has nothing to choose. */
  readonly impossible: Set<Meaning>
  unlabelled: number
  readonly unrecognised: Set<string>
  complaint: string | null
  /** A control that was not pressed, or whose form was stopped, as that may be to order. */
  held: string | null
  /** Why the only control of that name was not pressed: its form is none of the checkout. */
  aside: string | null
  /** The only control that leads on: its form makes an account. */
  account: string | null
  /** A box beside the purchase that cannot be unticked. */
  ticked: string | null
  /** A control that changed nothing when it was pressed, and what the shop answered to that. */
  stuck: { readonly name: string; readonly answer: string | null } | null
  taken: OrderTaken | null
  /** The ways to pay are in sight. */
  hasArrived: boolean
  /** How often it was waited for what had not come yet. */
  waits: number
}

export const begun = (shopper: TestShopper): Progress => ({
  shopper,
  filled: new Set(),
  impossible: new Set(),
  unlabelled: 0,
  unrecognised: new Set(),
  complaint: null,
  held: null,
  aside: null,
  account: null,
  ticked: null,
  stuck: null,
  taken: null,
  hasArrived: false,
  waits: 0
})
