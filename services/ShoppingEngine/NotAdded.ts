// Why the forms of a shop's pages put nothing into its cart.

import { saysEmpty } from "#domain/CartWords.ts"
import { buyingAtOnce, subscribing } from "#domain/FormConduct.ts"
import { type AddToCart, addToCart } from "#domain/page/AddToCart.ts"
import type { PageControl, PageFacts } from "#domain/page/PageFacts.ts"
import { soldAsSubscription } from "#domain/VisitorWords.ts"
import type { PageSeen } from "./ApiRail.ts"
import { addingForm } from "./FormPages.ts"
import { failed, snippet, subscriptionAlone, unknown } from "./Outcomes.ts"
import type { Candidate, StepOutcome } from "./Rail.ts"

const wantsVariant =
  /(?:please |must |first )?(?:select|choose|pick)\b.{0,60}\b(?:option|variant|size|colou?r|style|a |an |one )|required option|bitte .{0,30}w[äa]hlen/i
const soldOut = /sold out|out of stock|no longer available|ausverkauft|rupture de stock|agotado|esaurito/i

/** The part of a page that is about its product; what else is recommended below may be sold out. */
export const besideHeading = ({ headingAt, visibleText }: PageFacts): string =>
  visibleText.slice(headingAt ?? 0, (headingAt ?? 0) + 1_500)

const isOpen = ({ options, tag }: PageControl): boolean =>
  tag !== "select" || options.some(({ disabled, value }) => !disabled && value !== "")

/** Why a button that would add cannot be pressed: nothing can be chosen, or it waits for a script that sees the choice. */
const disabledIn = (facts: PageFacts, { choices, marker }: AddToCart): StepOutcome => {
  const sold = soldOut.exec(besideHeading(facts))?.[0]
  if (sold !== undefined && facts.scripts.length === 0)
    return failed("cart", "add_to_cart_failed", `The page says: ${sold}.`, snippet(sold))
  if (choices.some((choice) => !isOpen(choice)))
    return failed(
      "cart",
      "variant_required",
      `"${marker}" cannot be pressed, and nothing can be chosen.`,
      snippet(marker)
    )
  return facts.scripts.length === 0 && choices.length === 0
    ? failed("cart", "add_to_cart_failed", `"${marker}" cannot be pressed.`, snippet(marker))
    : failed("cart", "javascript_wall", `"${marker}" cannot be pressed before a script lets it.`, snippet(marker))
}

/** Why a page has no form that adds to the cart. */
export const formless = ({ facts }: PageSeen): StepOutcome => {
  const found = addToCart(facts)
  if (found?.isDisabled === true) return disabledIn(facts, found)
  if (found?.kind === "button") {
    const detail = `The button "${found.marker}" belongs to no form that can be sent: only a script knows what it does.`
    return failed("cart", "javascript_wall", detail, snippet(found.marker))
  }
  // Ours to refuse: it says nothing about the shop.
  const atOnce = buyingAtOnce(facts)
  if (atOnce !== undefined && (found === undefined || found.kind === "form"))
    return unknown(`The page only offers to buy at once, by "${atOnce}", and a test orders nothing.`, snippet(atOnce))
  const again = found === undefined || found.kind === "form" ? subscribing(facts) : undefined
  if (again !== undefined)
    return unknown(
      `The page only offers a subscription, by "${again}", and a test subscribes to nothing.`,
      snippet(again)
    )
  if (found?.kind === "form")
    return unknown(`A test does not send the form of "${found.marker}".`, snippet(found.marker))
  if (facts.clientOnly !== null) {
    return failed(
      "cart",
      "javascript_wall",
      "The page is empty before its scripts have run.",
      snippet(facts.clientOnly.marker)
    )
  }
  const sold = soldOut.exec(besideHeading(facts))?.[0]
  if (sold === undefined && facts.isCut)
    return unknown(
      "The page is longer than we read, and up to there nothing adds to the cart.",
      snippet(facts.visibleText)
    )
  const detail =
    sold === undefined ? "The page has neither a form nor a button that adds to the cart." : `The page says: ${sold}.`
  return sold === undefined && facts.scripts.length > 0
    ? failed("cart", "javascript_wall", detail, snippet(facts.visibleText))
    : failed("cart", "add_to_cart_failed", detail, snippet(sold ?? facts.visibleText))
}

/** A form without an address that, sent as HTML says, only shows its page again: a script of that page is what acts on its button. */
export const scriptsForm = (product: PageSeen, candidate: Candidate, landed: PageSeen): StepOutcome | undefined => {
  const pressable = addingForm(product, candidate)
  const hasAddress = pressable?.form.hasAction !== false || pressable.button?.formAction != null
  const isBack = landed.answer.status >= 400 || landed.answer.url.pathname === product.answer.url.pathname
  if (hasAddress || !isBack || product.facts.scripts.length === 0) return undefined
  const detail = `The form of "${pressable.label}" has no address and changes nothing when it is sent: only a script acts on its button.`
  return failed("cart", "javascript_wall", detail, snippet(pressable.label))
}

/** What the page that came after the form says of an item that is not in the cart. */
export const complaint = (product: PageSeen, landed: PageSeen, cart: PageSeen): StepOutcome => {
  const again = soldAsSubscription(landed.facts.visibleText)
  if (again !== undefined) return subscriptionAlone(again)
  const said = wantsVariant.exec(landed.facts.visibleText)?.[0]
  if (said !== undefined)
    return failed("cart", "variant_required", `The shop asks for a choice: ${said}.`, snippet(said))
  const sold = soldOut.exec(landed.facts.visibleText)?.[0]
  // What the product's page said before is about something else on it.
  if (sold !== undefined && !product.facts.visibleText.includes(sold))
    return failed("cart", "add_to_cart_failed", `The shop says: ${sold}.`, snippet(sold))
  if (landed.answer.status >= 400) {
    return failed(
      "cart",
      "add_to_cart_failed",
      `The form was answered with ${landed.answer.status}.`,
      snippet(landed.facts.visibleText)
    )
  }
  const isEmpty = saysEmpty(cart.facts.visibleText, cart.facts)
  if (isEmpty === undefined && cart.facts.isCut)
    return unknown(
      "The cart's page is longer than we read, and up to there it does not show the item.",
      snippet(cart.facts.visibleText)
    )
  if (isEmpty === undefined && (cart.facts.clientOnly !== null || cart.facts.scripts.length > 0)) {
    const detail = "The cart shows what it holds only to scripts."
    return failed("cart", "javascript_wall", detail, snippet(cart.facts.visibleText))
  }
  const detail = "The form was taken without a word and the item is not in the cart."
  return failed("cart", "add_to_cart_failed", detail, snippet(isEmpty ?? cart.facts.visibleText))
}
