import { Effect, Schema } from "effect"
import { sameAmount } from "#domain/page/Price.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import { assertCart, checkedOut, isGood, jsonPost, lookAtCheckout, valueOf } from "./ApiRail.ts"
import type { Errand } from "./Errand.ts"
import { evidenceOf, failed, snippet, unknown } from "./Outcomes.ts"
import { classed, judged } from "./Payments.ts"
import type { Candidate, CartOutcome, CheckoutOutcome, PaymentOutcome, Rail } from "./Rail.ts"

const CartId = Schema.String.check(Schema.isPattern(/^[\w-]{1,64}$/))
const Item = Schema.Struct({
  item_id: Schema.Int,
  sku: Schema.String,
  qty: Schema.Finite,
  price: Schema.optionalKey(Schema.Finite),
  product_type: Schema.optionalKey(Schema.String)
})
const ShippingMethods = Schema.Array(
  Schema.Struct({
    carrier_code: Schema.String,
    method_code: Schema.NullOr(Schema.String),
    available: Schema.Boolean,
    amount: Schema.optionalKey(Schema.Finite)
  })
)
const PaymentMethods = Schema.Array(Schema.Struct({ code: Schema.String, title: Schema.String }))
const Totals = Schema.Struct({
  grand_total: Schema.optionalKey(Schema.Finite),
  base_currency_code: Schema.optionalKey(Schema.String)
})
/** What the lines cost, as the buyer sees it: the items themselves have it without tax, and in the money of the shop's books. */
const LineTotals = Schema.Struct({
  items: Schema.Array(
    Schema.Struct({
      item_id: Schema.Int,
      price: Schema.optionalKey(Schema.Finite),
      price_incl_tax: Schema.optionalKey(Schema.NullOr(Schema.Finite))
    })
  )
})
const PaymentDetails = Schema.Struct({ payment_methods: PaymentMethods, totals: Totals })

/** Kinds of products of which nothing is sent. A cart of them alone has no shipping: asked for its ways, Magento answers with none. */
const unshipped: ReadonlySet<string | undefined> = new Set(["virtual", "downloadable"])

const addressOf = (shopper: TestShopper) => ({
  firstname: shopper.firstName,
  lastname: shopper.lastName,
  email: shopper.email,
  telephone: shopper.phone,
  street: [shopper.line1],
  city: shopper.city,
  region: shopper.regionName,
  region_code: shopper.region,
  postcode: shopper.postalCode,
  country_id: shopper.country
})

/** Buys over Magento's guest carts. Their `order` and `payment-information` place orders, and are never called. */
export const make = (errand: Errand, shopper: TestShopper, currency: string | null): Rail => {
  let base: string | undefined
  let items: ReadonlyArray<typeof Item.Type> = []
  let offered: typeof PaymentDetails.Type | undefined

  const cart = Effect.fnUntraced(function* (candidate: Candidate) {
    const asked = yield* errand.json(CartId, jsonPost("/rest/V1/guest-carts", {}))
    // Magento 1 looks the same from outside, and has no such carts: nothing was refused.
    if (!("_tag" in asked) && asked.answer.status === 404)
      return { ...unknown("The shop has no carts at /rest/V1/guest-carts."), price: null } satisfies CartOutcome
    const opened = valueOf("cart", "add_to_cart_failed", asked)
    if (!isGood(opened)) return { ...opened, price: null } satisfies CartOutcome
    base = `/rest/V1/guest-carts/${opened.value}`
    const sku = candidate.sku ?? candidate.platformId ?? ""
    const cartItem = { quote_id: opened.value, sku, qty: 1 }
    const added = valueOf(
      "cart",
      "add_to_cart_failed",
      yield* errand.json(Item, jsonPost(`${base}/items`, { cartItem }))
    )
    if (!isGood(added)) {
      const isChoice = /required option|choose an option|select/i.test(added.evidence ?? "")
      const chosen = isChoice ? failed("cart", "variant_required", "A variant must be chosen.", added.evidence) : added
      return { ...chosen, price: null } satisfies CartOutcome
    }
    const read = valueOf("cart", "add_to_cart_failed", yield* errand.json(Schema.Array(Item), { url: `${base}/items` }))
    if (!isGood(read)) return { ...read, price: null } satisfies CartOutcome
    items = read.value
    const totals = yield* errand.json(LineTotals, { url: `${base}/totals` })
    const charged = "_tag" in totals ? [] : (totals.value?.items ?? [])
    const lines = items.map(({ item_id, price, qty, sku: id }) => {
      const found = charged.find((one) => one.item_id === item_id)
      const prices = [found?.price_incl_tax, found?.price, price].flatMap((one) => one?.toFixed(2) ?? [])
      return {
        id,
        quantity: qty,
        price: prices.find((one) => sameAmount(one, candidate.price ?? "")) ?? prices[0] ?? null
      }
    })
    return assertCart(candidate, sku, lines, evidenceOf(read.answer))
  })

  /** Takes the address and the first way of shipping. */
  const ship = Effect.fnUntraced(function* (of: string) {
    const address = addressOf(shopper)
    const methods = valueOf(
      "checkout",
      "address_rejected",
      yield* errand.json(ShippingMethods, jsonPost(`${of}/estimate-shipping-methods`, { address }))
    )
    if (!isGood(methods)) return methods
    const chosen = methods.value.find(({ available, method_code }) => available && method_code !== null)
    if (chosen === undefined) {
      const detail = `No shipping to ${shopper.countryName} is offered.`
      return failed("checkout", "no_shipping_option", detail, evidenceOf(methods.answer))
    }
    const addressInformation = {
      shipping_address: address,
      billing_address: address,
      shipping_carrier_code: chosen.carrier_code,
      shipping_method_code: chosen.method_code
    }
    const taken = valueOf(
      "checkout",
      "address_rejected",
      yield* errand.json(PaymentDetails, jsonPost(`${of}/shipping-information`, { addressInformation }))
    )
    if (!isGood(taken)) return taken
    const shipping = `${chosen.carrier_code} to ${shopper.countryName} for ${(chosen.amount ?? 0).toFixed(2)}`
    return { details: taken.value, shipping, evidence: evidenceOf(taken.answer) }
  })

  /** What the answer to a way of shipping would say, where nothing is shipped. */
  const readDetails = Effect.fnUntraced(function* (of: string) {
    const methods = valueOf(
      "checkout",
      "checkout_form_unrecognized",
      yield* errand.json(PaymentMethods, { url: `${of}/payment-methods` })
    )
    if (!isGood(methods)) return methods
    const totals = valueOf(
      "checkout",
      "checkout_form_unrecognized",
      yield* errand.json(Totals, { url: `${of}/totals` })
    )
    if (!isGood(totals)) return totals
    const details = { payment_methods: methods.value, totals: totals.value }
    return { details, shipping: "nothing is shipped", evidence: evidenceOf(totals.answer) }
  })

  const checkout = Effect.gen(function* () {
    if (base === undefined) return { ...unknown("There is no cart."), total: null } satisfies CheckoutOutcome
    const isShipped = items.length === 0 || items.some(({ product_type: kind }) => !unshipped.has(kind))
    const taken = yield* isShipped ? ship(base) : readDetails(base)
    if (!isGood(taken)) return { ...taken, total: null } satisfies CheckoutOutcome
    offered = taken.details
    const page = yield* lookAtCheckout(errand, "/checkout/")
    if (page !== undefined && !isGood(page)) return { ...page, total: null } satisfies CheckoutOutcome
    const total = taken.details.totals.grand_total
    return checkedOut(total === undefined ? null : total.toFixed(2), taken.shipping, taken.evidence)
  })

  const payment = Effect.sync((): PaymentOutcome => {
    if (offered === undefined) return { ...unknown("The checkout was not reached."), methods: [] }
    const names = offered.payment_methods.map(({ code, title }) => `${code} ${title}`)
    const { marks, others } = classed(names)
    const evidence = snippet(`payment_methods: ${names.slice(0, 20).join(", ")}`)
    return judged({ marks, others, isWhole: true, currency, evidence })
  })

  const cleanUp = Effect.suspend(() =>
    Effect.forEach(
      items.slice(0, 5),
      ({ item_id }) => errand.tidying.ask({ method: "DELETE", url: `${base ?? ""}/items/${item_id}` }),
      { discard: true }
    )
  )
  return { name: "platform_api", cart, checkout, payment, cleanUp }
}
