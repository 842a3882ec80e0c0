import { Effect } from "effect"
import { saysEmpty } from "#domain/CartWords.ts"
import { addToCart } from "#domain/page/AddToCart.ts"
import { sameAmount } from "#domain/page/Price.ts"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import { chargedIn } from "#domain/CartLine.ts"
import { isEmptying } from "#domain/FormConduct.ts"
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
import { besideHeading, complaint, formless, scriptsForm } from "./NotAdded.ts"
import { judgedPage } from "./Payments.ts"
import type { Candidate, CartOutcome, PaymentOutcome, Rail, StepOutcome } from "./Rail.ts"

const minimum =
  /(?:minimum order|order minimum|minimum purchase|mindestbestellwert|minimum de commande|pedido mínimo)(?:[^.]|\.(?=\d)){0,80}/i
const closed: ReadonlySet<BlockerId> = new Set(["checkout_form_unrecognized", "javascript_wall"])
/** Whether a checkout ended where it showed nothing: no wall, and no form that was sent. */
const isClosed = ({ blockers, status }: StepOutcome): boolean =>
  status === "failed" && blockers.every(({ id }) => closed.has(id))
const belowLeast = (said: string): string =>
  `The cart says: ${said}. A test buys one thing, and the checkout does not open for so little.`
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
