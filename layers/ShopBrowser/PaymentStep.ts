import { Effect } from "effect"
import { namesPaying } from "#domain/Deeds.ts"
import { countedOf, paymentSigns, type PaymentSigns } from "#domain/page/PaymentOffer.ts"
import { snippet } from "#services/ShoppingEngine/Outcomes.ts"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import { statedOn } from "#domain/page/PaymentStated.ts"
import { isOrder } from "./Press.ts"
import { classed, judged, saysWayToPay } from "#services/ShoppingEngine/Payments.ts"
import { ask } from "./Chromium.ts"
import { type Look, look, shownOf } from "./Look.ts"
import { isShipping } from "#domain/ShippingWords.ts"
import { radiosOn } from "./Radios.ts"
import type { Tab } from "./Tab.ts"

interface Frame {
  readonly title: string
  readonly src: string
}
/** The names of a card's fields, as the providers of payment title the frames that hold them. */
const cardFrame =
  /secure (?:card|payment|credit)|card (?:number|payment)|kreditkarte|js\.stripe\.com|adyen|braintree|checkout\.com\/frames/i

interface Element {
  readonly clientHeight: number
  readonly parentElement: Element | null
  readonly ownerDocument: {
    readonly defaultView: { getComputedStyle(of: Element): { readonly display: string; readonly overflowY: string } }
  }
}
/** Runs in the page. Whether something stands in a box that is folded to nothing: what is read by its role is there all the same. */
const isFolded = (element: Element): boolean => {
  for (let box = element.parentElement; box !== null; box = box.parentElement) {
    if (box.clientHeight > 0) continue
    const { display, overflowY } = box.ownerDocument.defaultView.getComputedStyle(box)
    if (display === "block" && overflowY !== "visible") return true
  }
  return false
}

/** What the page's HTML says of paying, where it can be seen. */
const inSight = Effect.fnUntraced(function* (tab: Tab, seen: Look) {
  const inHtml = paymentSigns(seen.facts)
  if (inHtml.choices.length === 0 && inHtml.none === undefined) return inHtml
  const shown = yield* shownOf(tab, seen)
  const { choices, none } = shown === undefined ? { choices: [], none: undefined } : paymentSigns(shown)
  return { ...inHtml, choices, none }
})

/** A button that orders shows that nothing else is asked before. */
export const hasOrderButton = ({ controls, forms }: Pick<PageFacts, "controls" | "forms">): boolean =>
  [...controls, ...forms.flatMap((form) => form.controls)].some(
    ({ disabled, label, type }) => !disabled && (type === "submit" || type === "button") && isOrder(label ?? "")
  )

/** Reads the ways to pay off a page as it stands. Nothing is pressed. */
export const offered = Effect.fnUntraced(function* (tab: Tab, seen: Look) {
  const names: Array<string> = []
  for (const { attributes, name, radio } of yield* radiosOn(tab)) {
    if (yield* ask(() => radio.evaluate(isFolded))) continue
    if (namesPaying(attributes) || saysWayToPay(name)) names.push(name)
  }
  // Of the choices on a checkout page only those count that are known to be ways to pay.
  const choices = [...classed(names.filter((name) => name !== "" && !isShipping(name))).marks]
  const frames = yield* ask(() =>
    tab.page
      .locator("iframe:visible")
      .evaluateAll((all: ReadonlyArray<Frame>) => all.slice(0, 50).map(({ src, title }) => `${title} ${src}`))
  )
  const frame = frames.find((text) => cardFrame.test(text))
  if (frame !== undefined) choices.push({ method: "card", class: "agent", marker: frame.slice(0, 160) })
  const inHtml = yield* inSight(tab, seen)
  const mayBeSaid = choices.length === 0 && inHtml.choices.length === 0 && hasOrderButton(seen.facts)
  // A step that is not shown yet may have the button that orders.
  const shown = mayBeSaid ? yield* shownOf(tab, seen) : undefined
  const said = shown !== undefined && hasOrderButton(shown) ? classed(statedOn(seen.text)).marks : []
  const found: PaymentSigns = { ...inHtml, choices: [...choices, ...inHtml.choices, ...said] }
  return found
})

/** Judges the page that the checkout ended at. What can be chosen counts before what is only loaded. */
export const readPayment = Effect.fnUntraced(function* (tab: Tab, currency: string | null) {
  const { methods, none } = countedOf(yield* offered(tab, yield* look(tab)))
  const evidence = snippet(none ?? methods.map(({ marker }) => marker).join("; "))
  return judged({ marks: methods, others: [], isWhole: none !== undefined, currency, evidence })
})
