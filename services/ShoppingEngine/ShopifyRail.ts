import { Effect, Schema } from "effect"
import { parseDecimal, formatDecimal } from "#domain/Money.ts"
import { openingOf } from "#domain/page/Document.ts"
import { fromMinor } from "#domain/ProductChoice.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import { soldAsSubscription } from "#domain/VisitorWords.ts"
import { assertCart, checkedOut, isGood, jsonPost, lookAtCheckout, type PageSeen, valueOf } from "./ApiRail.ts"
import type { Errand } from "./Errand.ts"
import { evidenceOf, failed, snippet, subscriptionAlone, unanswered, unknown, warning } from "./Outcomes.ts"
import { judgedPage } from "./Payments.ts"
import type { Candidate, CartOutcome, CheckoutOutcome, PaymentOutcome, Rail } from "./Rail.ts"

const Cart = Schema.Struct({
  currency: Schema.optionalKey(Schema.String),
  total_price: Schema.optionalKey(Schema.Finite),
  requires_shipping: Schema.optionalKey(Schema.Boolean),
  items: Schema.Array(
    Schema.Struct({
      variant_id: Schema.Finite,
      quantity: Schema.Finite,
      price: Schema.Finite
    })
  )
})
const Added = Schema.Struct({ items: Schema.Array(Schema.Struct({ variant_id: Schema.Finite })) })
const Rates = Schema.Struct({
  shipping_rates: Schema.Array(Schema.Struct({ name: Schema.String, price: Schema.String }))
})

/** Two decimal strings added; null when one of them is none. */
const sum = (a: string | null, b: string): string | null => {
  const [left, right] = [a === null ? undefined : parseDecimal(a), parseDecimal(b)]
  return left === undefined || right === undefined ? null : formatDecimal(left + right)
}

const addressQuery = ({ country, postalCode, regionName }: TestShopper): string =>
  new URLSearchParams([
    ["shipping_address[zip]", postalCode],
    ["shipping_address[country]", country],
    ["shipping_address[province]", regionName]
  ]).toString()

/** Buys over the cart's interface that every Shopify theme uses. The checkout itself is only looked at. */
export const make = (errand: Errand, shopper: TestShopper, currency: string | null): Rail => {
  let checkoutPage: PageSeen | undefined

  const cart = Effect.fnUntraced(function* (candidate: Candidate) {
    const id = Number(candidate.platformId)
    const said = yield* errand.json(Added, jsonPost("/cart/add.js", { items: [{ id, quantity: 1 }] }))
    const again = "_tag" in said ? undefined : soldAsSubscription(openingOf(said.answer.document, 2_000))
    if (again !== undefined) return { ...subscriptionAlone(again), price: null } satisfies CartOutcome
    const added = valueOf("cart", "add_to_cart_failed", said)
    if (!isGood(added)) return { ...added, price: null } satisfies CartOutcome
    const read = valueOf("cart", "add_to_cart_failed", yield* errand.json(Cart, { url: "/cart.js" }))
    if (!isGood(read)) return { ...read, price: null } satisfies CartOutcome
    const lines = read.value.items.map((item) => ({
      id: String(item.variant_id),
      quantity: item.quantity,
      price: fromMinor(item.price, 2) ?? null
    }))
    return assertCart(candidate, String(id), lines, evidenceOf(read.answer))
  })

  /** Shipping by the cart's own calculator; undefined when the shop does not have it. */
  const shipping = Effect.fnUntraced(function* () {
    const said = yield* errand.json(Rates, { url: `/cart/shipping_rates.json?${addressQuery(shopper)}` })
    if ("_tag" in said) return unanswered("checkout", said)
    const { answer, value } = said
    const seen = evidenceOf(answer)
    if (answer.status === 422) {
      return /country|province|zip/i.test(answer.text) && !/not supported/i.test(answer.text)
        ? failed("checkout", "address_rejected", "The shop does not take the address.", seen)
        : failed("checkout", "no_shipping_option", `The shop does not ship to ${shopper.countryName}.`, seen)
    }
    if (value === undefined || answer.status !== 200) return undefined
    const [first] = value.shipping_rates
    if (first === undefined) {
      return failed("checkout", "no_shipping_option", `No shipping to ${shopper.countryName} is offered.`, seen)
    }
    return { name: first.name, price: first.price, seen }
  })

  const checkout = Effect.gen(function* () {
    const before = valueOf("checkout", "checkout_form_unrecognized", yield* errand.json(Cart, { url: "/cart.js" }))
    if (!isGood(before)) return { ...before, total: null } satisfies CheckoutOutcome
    const { requires_shipping: isShipped = true, total_price: cents } = before.value
    const rate = isShipped ? yield* shipping() : undefined
    if (rate !== undefined && "blockers" in rate && rate.status === "failed") return { ...rate, total: null }
    const page = yield* lookAtCheckout(errand, "/checkout")
    if (page !== undefined && !isGood(page)) return { ...page, total: null } satisfies CheckoutOutcome
    if (page === undefined) {
      return { ...unknown("The checkout page did not show itself to a plain request."), total: null }
    }
    if (/\/cart\/?$/.test(page.answer.url.pathname)) {
      const detail = "The checkout sends us back to the cart."
      return { ...failed("checkout", "checkout_form_unrecognized", detail, evidenceOf(page.answer)), total: null }
    }
    checkoutPage = page
    const subtotal = cents === undefined ? null : (fromMinor(cents, 2) ?? null)
    if (rate !== undefined && !("blockers" in rate)) {
      const total = sum(subtotal, rate.price)
      return checkedOut(total, `${rate.name} to ${shopper.countryName} for ${rate.price}`, rate.seen)
    }
    if (!isShipped) return checkedOut(subtotal, "nothing is shipped", snippet(page.facts.visibleText))
    const late = "Shipping is known only inside the checkout."
    const detail = warning("checkout", "total_unknown_before_payment", late, snippet(page.facts.visibleText))
    return { ...checkedOut(null, "shipping is not stated beforehand", null, [detail]), total: null }
  })

  const payment = Effect.sync((): PaymentOutcome => {
    if (checkoutPage === undefined) return { ...unknown("The checkout was not seen."), methods: [] }
    // The scripts of its checkout draw the fields of a card, in frames: what its HTML lists is seldom all.
    return judgedPage(checkoutPage.facts, { currency, isWhole: false })
  })

  const cleanUp = Effect.asVoid(errand.tidying.ask({ method: "POST", url: "/cart/clear.js" }))
  return { name: "platform_api", cart, checkout, payment, cleanUp }
}
