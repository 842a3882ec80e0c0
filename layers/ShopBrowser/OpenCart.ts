import { Effect } from "effect"
import { isOpenCartStep } from "#domain/NextStep.ts"
import { ask } from "./Chromium.ts"
import type { Look } from "./Look.ts"
import { isOrder, namesOf, ordersById } from "./Press.ts"
import * as Shipping from "./Shipping.ts"
import type { Tab } from "./Tab.ts"

/** Presses what OpenCart calls so in its source, whatever its language, unless it is called an order. */
const pressed = Effect.fnUntraced(function* (tab: Tab, id: string) {
  const control = tab.page.locator(`#${id}:visible`).first()
  if ((yield* ask(() => control.count())) === 0 || !(yield* ask(() => control.isEnabled()))) return false
  if ((yield* ordersById(control)) || (yield* namesOf(control)).some(isOrder)) return false
  yield* ask(() => control.click())
  yield* tab.quiet
  return true
})

/**
 * On the page of OpenCart's checkout each list opens by a button of its own: that of the ways to ship, of which one is kept, and that of
 * the ways to pay, of which none is taken. Undefined on other pages, and where the ways to ship cannot be read.
 */
export const openLists = Effect.fnUntraced(function* (tab: Tab, { facts }: Look) {
  if (!facts.forms.some((form) => isOpenCartStep(facts, form))) return undefined
  let shipping: Shipping.Shipping | undefined
  if (yield* pressed(tab, "button-shipping-methods")) {
    shipping = yield* Shipping.choose(tab)
    if (!(yield* pressed(tab, "button-shipping-method"))) return shipping
  }
  yield* pressed(tab, "button-payment-methods")
  return shipping
})
