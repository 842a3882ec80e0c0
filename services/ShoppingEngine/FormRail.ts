import { Effect } from "effect"
import { saysEmpty } from "#domain/CartWords.ts"
import { type AddToCart, addToCart } from "#domain/page/AddToCart.ts"
import { sameAmount } from "#domain/page/Price.ts"
import type { PageControl, PageFacts } from "#domain/page/PageFacts.ts"
import { chargedIn } from "#domain/CartLine.ts"
import { buyingAtOnce, isEmptying, subscribing } from "#domain/FormConduct.ts"
import { orderTaken } from "#domain/OrderTaken.ts"
import { isQuantity } from "#domain/page/Quantity.ts"
import { fill, textWanted } from "#domain/ShopperForm.ts"
import type { Blocker, BlockerId } from "#domain/ShoppingTest.ts"
import { isPriceSaid } from "#domain/ProductChoice.ts"
import { mayAsk } from "#domain/ShoppingConduct.ts"
import type { SiteRequest } from "../SiteVisits.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import { isGood, pageIn, type PageSeen, pageFor, wallOf } from "./ApiRail.ts"
import { signsOf } from "./CartSigns.ts"
import type { Errand } from "./Errand.ts"
import * as FormCheckout from "./FormCheckout.ts"
import { addingForm, leadsOn, cartLink, formsFor, isCartPath, labelOf, requestFor } from "./FormPages.ts"
import {
  failed,
  orderTakenAt,
  ownWords,
  passed,
  refusedBy,
  snippet,
  unanswered,
  unknown,
  unwantedIn,
  warning
} from "./Outcomes.ts"
import { judgedPage } from "./Payments.ts"
import type { Candidate, CartOutcome, PaymentOutcome, Rail, StepOutcome } from "./Rail.ts"

const wantsVariant =
  /(?:please |must |first )?(?:select|choose|pick)\b.{0,60}\b(?:option|variant|size|colou?r|style|a |an |one )|required option|bitte .{0,30}w[äa]hlen/i
const soldOut = /sold out|out of stock|no longer available|ausverkauft|rupture de stock|agotado|esaurito/i
const minimum =
  /(?:minimum order|order minimum|minimum purchase|mindestbestellwert|minimum de commande|pedido mínimo)(?:[^.]|\.(?=\d)){0,80}/i
const closed: ReadonlySet<BlockerId> = new Set(["checkout_form_unrecognized", "javascript_wall"])
/** Whether a checkout ended where it showed nothing: no wall, and no form that was sent. */
const isClosed = ({ blockers, status }: StepOutcome): boolean =>
  status === "failed" && blockers.every(({ id }) => closed.has(id))
const belowLeast = (said: string): string =>
  `The cart says: ${said}. A test buys one thing, and the checkout does not open for so little.`
/** The part of a page that is about its product; what else is recommended below may be sold out. */
const besideHeading = ({ headingAt, visibleText }: PageFacts): string =>
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
const formless = ({ facts }: PageSeen): StepOutcome => {
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

/** How far behind what a cart calls the item its line goes. */
const lineLength = 300

/** What a cart's page charges for the item that it calls this. */
const chargedOn = ({ prices, visibleText }: PageFacts, calling: string, candidate: Candidate): string | null => {
  const { price } = candidate
  if (price !== null && prices.some(({ value }) => sameAmount(value, price))) return price
  const at = visibleText.toLowerCase().lastIndexOf(calling.toLowerCase())
  return at < 0 ? null : chargedIn(visibleText.slice(at + calling.length, at + calling.length + lineLength), candidate)
}

interface Adding {
  readonly request: SiteRequest
  readonly quantity: number
}

/** The request that puts the product into the cart, by a form or by a link; or why there is none. */
const wayToAdd = (seen: PageSeen, candidate: Candidate, shopper: TestShopper): Adding | StepOutcome => {
  const pressable = addingForm(seen, candidate)
  const found = addToCart(seen.facts)
  if (pressable === undefined) {
    const url = found?.kind === "link" ? URL.parse(found.action ?? "") : null
    return url !== null && url.host === seen.answer.url.host && mayAsk({ method: "GET", url, body: undefined })
      ? { request: { method: "GET", url }, quantity: 1 }
      : formless(seen)
  }
  const filled = fill(pressable.form, pressable.button, shopper, "add_to_cart")
  if (filled.unwanted.length > 0) return unwantedIn(filled)
  if (filled.exhausted.length > 0) {
    const detail = `Of "${filled.exhausted.map(labelOf).join(", ")}" nothing can be chosen.`
    return failed("cart", "variant_required", detail, snippet(pressable.label))
  }
  const asked = textWanted(pressable.form)
  if (asked !== undefined) return ownWords(asked)
  return { request: requestFor(pressable, filled, seen.answer.url), quantity: filled.quantity }
}

/** A form without an address that, sent as HTML says, only shows its page again: a script of that page is what acts on its button. */
const scriptsForm = (product: PageSeen, candidate: Candidate, landed: PageSeen): StepOutcome | undefined => {
  const pressable = addingForm(product, candidate)
  const hasAddress = pressable?.form.hasAction !== false || pressable.button?.formAction != null
  const isBack = landed.answer.status >= 400 || landed.answer.url.pathname === product.answer.url.pathname
  if (hasAddress || !isBack || product.facts.scripts.length === 0) return undefined
  const detail = `The form of "${pressable.label}" has no address and changes nothing when it is sent: only a script acts on its button.`
  return failed("cart", "javascript_wall", detail, snippet(pressable.label))
}

/** What the page that came after the form says of an item that is not in the cart. */
const complaint = (product: PageSeen, landed: PageSeen, cart: PageSeen): StepOutcome => {
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

/** Buys by the forms of the shop's own pages, as a browser without scripts would. Only forms that `maySubmit` lets through are sent. */
export const make = (errand: Errand, shopper: TestShopper, currency: string | null): Rail => {
  let cartSeen: PageSeen | undefined
  let paymentSeen: PageSeen | undefined
  let bought = { name: "", text: "" }
  let hasSent = false

  const add = Effect.fnUntraced(function* (candidate: Candidate, url: URL) {
    const seen = yield* pageFor("cart", errand, url)
    if (!isGood(seen)) return seen
    const wall = wallOf("cart", seen)
    if (wall !== undefined) return wall
    const way = wayToAdd(seen, candidate, shopper)
    if ("status" in way) return way
    const linked = cartLink(seen.facts)
    const address = linked ?? new URL("/cart", seen.facts.url)
    const signs = signsOf(candidate, seen)
    const before = yield* pageFor("cart", errand, address)
    const known = signs.map(({ count }) => (isGood(before) ? count(before.facts) : 0))
    const outcome = yield* errand.submitJudged(way.request)
    const refused = refusedBy("cart", outcome)
    if (refused !== undefined) return refused
    if (outcome._tag === "NoAnswer") return unanswered("cart", outcome)
    const landed = yield* pageIn(errand, outcome)
    if (!isGood(landed)) return landed
    const taken = orderTaken(seen.facts.visibleText, landed.facts.visibleText, { leadsOn: true })
    if (taken !== undefined) return orderTakenAt("cart", taken, shopper)
    const walled = wallOf("cart", landed)
    if (walled !== undefined) return walled
    // Some shops lead to a cart only once it holds something.
    const shown = isCartPath(landed.answer.url) ? landed.answer.url : cartLink(landed.facts)
    const cart = yield* pageFor("cart", errand, linked ?? shown ?? address)
    if (!isGood(cart)) return cart
    cartSeen = cart
    const sign = signs.find(({ count }, index) => count(cart.facts) > (known[index] ?? 0))
    // What a cart recommends was there before; where its page was not seen then, one that says it is empty is.
    const isCompared = isGood(before) && before.answer.url.pathname === cart.answer.url.pathname
    if (sign !== undefined && (isCompared || saysEmpty(cart.facts.visibleText, cart.facts) === undefined))
      return { cart, product: seen, quantity: way.quantity, calling: sign.calling(cart.facts) }
    return scriptsForm(seen, candidate, landed) ?? complaint(seen, landed, cart)
  })

  const cart = Effect.fnUntraced(function* (candidate: Candidate) {
    if (candidate.url === undefined)
      return { ...unknown("The product has no page."), price: null } satisfies CartOutcome
    const added = yield* add(candidate, candidate.url)
    if ("status" in added) return { ...added, price: null } satisfies CartOutcome
    const { calling, quantity } = added
    const { facts } = added.cart
    bought = { name: candidate.name, text: besideHeading(added.product.facts) }
    const quantities = [...facts.controls, ...facts.forms.flatMap(({ controls }) => controls)].filter(
      (control) => control.type === "number" && (/qty|quantity/i.test(control.name ?? "") || isQuantity(control))
    )
    const seen = snippet(facts.visibleText.slice(Math.max(0, facts.visibleText.indexOf(calling)), 20_000))
    if (quantities.length === 1 && quantities.some(({ value }) => value !== String(quantity))) {
      const detail = `The cart holds ${quantities[0]?.value ?? "none"} of the item instead of ${quantity === 1 ? "one" : quantity}.`
      return { ...failed("cart", "add_to_cart_failed", detail, seen), price: null } satisfies CartOutcome
    }
    const price = chargedOn(facts, calling, candidate)
    const warnings: Array<Blocker> = []
    if (isPriceSaid(price, candidate, quantity) === false) {
      const detail = `Stated ${candidate.price}, in the cart ${price}.`
      warnings.push(warning("cart", "price_changed_in_cart", detail, seen))
    }
    const least = minimum.exec(facts.visibleText)?.[0]
    if (quantity > 1) {
      const detail = `The product's page sells no less than ${quantity} at once.`
      warnings.push(warning("cart", "minimum_order", detail, snippet(calling)))
    } else if (least !== undefined)
      warnings.push(warning("cart", "minimum_order", `The cart says: ${least}.`, snippet(least)))
    const detail = `The cart holds "${candidate.name}" ${quantity === 1 ? "once" : `${quantity} times`}${price === null ? "" : ` at ${price}`}.`
    return { ...passed(detail, seen, warnings), price } satisfies CartOutcome
  })

  const checkout = Effect.suspend(() =>
    Effect.map(FormCheckout.walk(errand, shopper, cartSeen, bought), ({ at, outcome, hasSent: sent }) => {
      paymentSeen = at
      hasSent = sent
      const least = minimum.exec(cartSeen?.facts.visibleText ?? "")?.[0]
      return least === undefined || sent || !isClosed(outcome)
        ? outcome
        : { ...unknown(belowLeast(least), snippet(least)), total: null }
    })
  )

  const payment = Effect.sync((): PaymentOutcome => {
    if (paymentSeen === undefined) return { ...unknown("The payment's page was not reached."), methods: [] }
    const { facts } = paymentSeen
    return judgedPage(facts, { currency, isWhole: facts.scripts.length === 0 })
  })

  /** Empties the cart by its own form, or by its link. */
  const cleanUp = Effect.gen(function* () {
    if (cartSeen === undefined) return
    const tidying = errand.tidying
    const seen = yield* pageFor("cart", tidying, cartSeen.answer.url)
    if (!isGood(seen)) return
    const [pressable] = formsFor(seen.facts, "empty_cart")
    if (pressable !== undefined) {
      const filled = fill(pressable.form, pressable.button, shopper)
      yield* tidying.submitJudged(requestFor(pressable, filled, seen.answer.url))
      return
    }
    const link = seen.facts.links.find(({ href, text }) => isEmptying(text) && leadsOn(href, seen.answer.url))
    if (link !== undefined) yield* tidying.look(link.href)
  })
  return { name: "html_form", cart, checkout, payment, cleanUp, hasSentCheckout: () => hasSent }
}
