import { Effect } from "effect"
import { countedOf, paymentSigns, type PaymentSigns } from "#domain/page/PaymentOffer.ts"
import { snippet } from "#services/ShoppingEngine/Outcomes.ts"
import { classed, judged } from "#services/ShoppingEngine/Payments.ts"
import { ask } from "./Chromium.ts"
import { type Look, look } from "./Look.ts"
import { isShipping, nameIn } from "./Shipping.ts"
import type { Tab } from "./Tab.ts"

const most = 20

interface Frame {
  readonly title: string
  readonly src: string
}
/** The names of a card's fields, as the providers of payment title the frames that hold them. */
const cardFrame =
  /secure (?:card|payment|credit)|card (?:number|payment)|kreditkarte|js\.stripe\.com|adyen|braintree|checkout\.com\/frames/i

/** Reads the ways to pay off a page as it stands. Nothing is pressed. */
export const offered = Effect.fnUntraced(function* (tab: Tab, seen: Look) {
  const radios = tab.page.getByRole("radio")
  const names: Array<string> = []
  const count = Math.min(yield* ask(() => radios.count()), most)
  for (let index = 0; index < count; index++) names.push(yield* nameIn(radios.nth(index)))
  // Of the choices on a checkout page only those count that are known to be ways to pay.
  const choices = [...classed(names.filter((name) => name !== "" && !isShipping(name))).marks]
  const frames = yield* ask(() =>
    tab.page
      .locator("iframe")
      .evaluateAll((all: ReadonlyArray<Frame>) => all.slice(0, 50).map(({ src, title }) => `${title} ${src}`))
  )
  const frame = frames.find((text) => cardFrame.test(text))
  if (frame !== undefined) choices.push({ method: "card", class: "agent", marker: frame.slice(0, 160) })
  const inHtml = paymentSigns(seen.facts)
  const found: PaymentSigns = { ...inHtml, choices: [...choices, ...inHtml.choices] }
  return found
})

/** Judges the page that the checkout ended at. What can be chosen counts before what is only loaded. */
export const readPayment = Effect.fnUntraced(function* (tab: Tab, currency: string | null) {
  const { methods, none } = countedOf(yield* offered(tab, yield* look(tab)))
  const evidence = snippet(none ?? methods.map(({ marker }) => marker).join("; "))
  return judged({ marks: methods, others: [], isWhole: none !== undefined, isDrawn: true, currency, evidence })
})
