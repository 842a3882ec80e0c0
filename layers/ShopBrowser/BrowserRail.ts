import { Clock, Context, Duration, Effect } from "effect"
import { orderUncertain, unknown } from "#services/ShoppingEngine/Outcomes.ts"
import type { Rail, StepOutcome } from "#services/ShoppingEngine/Rail.ts"
import type { CartOutcome, CheckoutOutcome, PaymentOutcome } from "#services/ShoppingEngine/Rail.ts"
import { realTime } from "#services/RealTime.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import { addToCart, type CartDone } from "./CartStep.ts"
import { checkOut } from "./CheckoutStep.ts"
import type { Doubt } from "./CheckoutWalk.ts"
import type { BrowserFailed } from "./Chromium.ts"
import { readPayment } from "./PaymentStep.ts"
import { find, press } from "./Press.ts"
import type { Tab } from "./Tab.ts"

/** Longest flow of one step, clean-up included. */
export const FlowTime = Context.Reference("turnpike/layers/ShopBrowser/FlowTime", {
  defaultValue: () => Duration.seconds(30)
})
const mostRemovals = 5

/** Ends a flow after its time. Whatever goes wrong in the browser, or takes too long in it, says nothing about the site. */
export const bounded = Effect.fnUntraced(function* <A, B>(
  flow: Effect.Effect<A, BrowserFailed>,
  otherwise: (why: StepOutcome) => B
) {
  const duration = yield* FlowTime
  const late = otherwise(unknown(`The page was not done within ${Duration.toSeconds(duration)} seconds.`))
  return yield* flow.pipe(
    Effect.timeoutOrElse({ duration, orElse: () => Effect.succeed(late) }),
    Effect.catch(({ message }) => Effect.succeed(otherwise(unknown(message)))),
    Effect.provideService(Clock.Clock, realTime)
  )
})

/** A page of which something was not loaded says nothing about its site, but what was taken as an order stays told. */
const whole = <A extends StepOutcome>(tab: Tab, outcome: A): A => {
  if (outcome.status === "passed" || !tab.isExhausted()) return outcome
  const detail = "The shop's pages are made of more than a test loads, so something of the last one is missing."
  const told = outcome.blockers.filter(({ id, severity }) => severity === "warning" || id === "order_taken")
  return { ...outcome, ...unknown(detail, outcome.evidence, told) }
}

/** Shops in a tab as this person would, by the roles and names of what can be seen. `doubts` makes what each checkout is in doubt with. */
export const make = (tab: Tab, shopper: TestShopper, doubts = (): Doubt => ({ isOpen: false })): Rail => {
  const state: { cart: URL | undefined; told: CartDone["told"]; currency: string | null; reached: boolean } = {
    cart: undefined,
    told: { thing: "", pages: [] },
    currency: null,
    reached: false
  }
  const cart: Rail["cart"] = (candidate) =>
    bounded(
      Effect.map(addToCart(tab, candidate, shopper), ({ outcome, page, told }) => {
        state.cart = page
        state.told = told
        state.currency = candidate.currency
        return whole(tab, outcome)
      }),
      (why): CartOutcome => ({ ...whole(tab, why), price: null })
    )

  const checkout = Effect.suspend(() => {
    const { cart, told } = state
    const notTried: CheckoutOutcome = { ...unknown("Not tried: nothing is in the cart."), total: null }
    if (cart === undefined) return Effect.succeed(notTried)
    const doubt = doubts()
    return bounded(
      Effect.map(checkOut(tab, cart, { shopper, told, doubt }), (outcome) => {
        state.reached = outcome.status === "passed"
        return whole(tab, outcome)
      }),
      (why): CheckoutOutcome => ({
        ...whole(tab, why),
        total: null,
        blockers: doubt.isOpen ? [...why.blockers, orderUncertain("checkout", null)] : why.blockers
      })
    )
  })

  const payment = Effect.suspend(() => {
    const notTried: PaymentOutcome = { ...unknown("Not tried: the checkout was not reached."), methods: [] }
    if (!state.reached) return Effect.succeed(notTried)
    const read = Effect.map(readPayment(tab, state.currency), (outcome) => whole(tab, outcome))
    return bounded(read, (why): PaymentOutcome => ({ ...whole(tab, why), methods: [] }))
  })

  const empty = Effect.fnUntraced(function* (cart: URL) {
    yield* tab.goTo(cart)
    for (let removed = 0; removed < mostRemovals; removed++) {
      const found = yield* find(tab.page, "remove")
      if (found?.enabled !== true || !(yield* press(found.control, "remove"))) return
      yield* tab.quiet
    }
  })
  const cleanUp = Effect.suspend(() =>
    state.cart === undefined ? Effect.void : bounded(empty(state.cart), () => undefined)
  )

  return { name: "browser", cart, checkout, payment, cleanUp }
}
