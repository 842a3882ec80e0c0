import { Effect, Schema } from "effect"
import type { TestShopper } from "#domain/TestShopper.ts"
import { assertCart, checkedOut, isGood, jsonPost, lookAtCheckout, type PageSeen, pageFor, valueOf } from "./ApiRail.ts"
import type { Errand } from "./Errand.ts"
import { evidenceOf, failed, snippet, unknown } from "./Outcomes.ts"
import { judgedPage } from "./Payments.ts"
import type { Candidate, CartOutcome, CheckoutOutcome, PaymentOutcome, Rail } from "./Rail.ts"

const Id = Schema.String.check(Schema.isPattern(/^[\w-]{1,64}$/))
const Items = Schema.Array(
  Schema.Struct({
    id: Schema.Union([Schema.String, Schema.Finite]),
    productId: Schema.Int,
    quantity: Schema.Finite,
    salePrice: Schema.optionalKey(Schema.Finite)
  })
)
const Cart = Schema.Struct({
  id: Id,
  lineItems: Schema.Struct({ physicalItems: Items, digitalItems: Schema.optionalKey(Items) })
})
const Checkout = Schema.Struct({
  grandTotal: Schema.optionalKey(Schema.Finite),
  consignments: Schema.Array(
    Schema.Struct({
      availableShippingOptions: Schema.optionalKey(
        Schema.Array(Schema.Struct({ description: Schema.String, cost: Schema.Finite }))
      )
    })
  )
})

/** Buys over BigCommerce's storefront interface. Its orders and payments are never called. */
export const make = (errand: Errand, shopper: TestShopper, currency: string | null): Rail => {
  let state: typeof Cart.Type | undefined
  let checkoutPage: PageSeen | undefined

  const cart = Effect.fnUntraced(function* (candidate: Candidate) {
    if (candidate.url === undefined)
      return { ...unknown("The product has no page."), price: null } satisfies CartOutcome
    const page = yield* pageFor("cart", errand, candidate.url)
    if (!isGood(page)) return { ...page, price: null } satisfies CartOutcome
    const field = page.facts.forms.flatMap(({ controls }) => controls).find(({ name }) => name === "product_id")
    const productId = Number(field?.value ?? Number.NaN)
    if (!Number.isInteger(productId)) {
      const detail = "The product's page does not tell its number."
      return { ...failed("cart", "add_to_cart_failed", detail, snippet(page.facts.title)), price: null }
    }
    const body = { lineItems: [{ quantity: 1, productId }] }
    const made = valueOf(
      "cart",
      "add_to_cart_failed",
      yield* errand.json(Cart, jsonPost("/api/storefront/carts", body))
    )
    if (!isGood(made)) {
      const isChoice = /option|variant|modifier/i.test(made.evidence ?? "")
      const chosen = isChoice ? failed("cart", "variant_required", "A variant must be chosen.", made.evidence) : made
      return { ...chosen, price: null } satisfies CartOutcome
    }
    state = made.value
    const read = valueOf(
      "cart",
      "add_to_cart_failed",
      yield* errand.json(Schema.Array(Cart), { url: "/api/storefront/carts" })
    )
    if (!isGood(read)) return { ...read, price: null } satisfies CartOutcome
    const { digitalItems = [], physicalItems = [] } = read.value[0]?.lineItems ?? {}
    const lines = [...physicalItems, ...digitalItems].map((item) => ({
      id: String(item.productId),
      quantity: item.quantity,
      price: item.salePrice === undefined ? null : item.salePrice.toFixed(2)
    }))
    return assertCart(candidate, String(productId), lines, evidenceOf(read.answer))
  })

  /** Takes the address and the first way of shipping. */
  const ship = Effect.fnUntraced(function* (of: string, itemId: string | number) {
    const address = {
      email: shopper.email,
      firstName: shopper.firstName,
      lastName: shopper.lastName,
      phone: shopper.phone,
      address1: shopper.line1,
      city: shopper.city,
      stateOrProvinceCode: shopper.region,
      postalCode: shopper.postalCode,
      countryCode: shopper.country
    }
    const url = `${of}/consignments?include=consignments.availableShippingOptions`
    const body = [{ address, lineItems: [{ itemId, quantity: 1 }] }]
    const taken = valueOf("checkout", "address_rejected", yield* errand.json(Checkout, jsonPost(url, body)))
    if (!isGood(taken)) return taken
    const option = taken.value.consignments.flatMap((one) => one.availableShippingOptions ?? [])[0]
    if (option === undefined) {
      const detail = `No shipping to ${shopper.countryName} is offered.`
      return failed("checkout", "no_shipping_option", detail, evidenceOf(taken.answer))
    }
    const { cost, description } = option
    return { ...taken, cost, shipping: `${description} to ${shopper.countryName} for ${cost}` }
  })

  /** A checkout of digital goods alone has nobody to send them to. */
  const readCheckout = Effect.fnUntraced(function* (of: string) {
    const read = valueOf("checkout", "checkout_form_unrecognized", yield* errand.json(Checkout, { url: of }))
    return isGood(read) ? { ...read, cost: 0, shipping: "nothing is shipped" } : read
  })

  const checkout = Effect.gen(function* () {
    if (state === undefined) return { ...unknown("There is no cart."), total: null } satisfies CheckoutOutcome
    const [item] = state.lineItems.physicalItems
    const of = `/api/storefront/checkouts/${state.id}`
    const taken = yield* item === undefined ? readCheckout(of) : ship(of, item.id)
    if (!isGood(taken)) return { ...taken, total: null } satisfies CheckoutOutcome
    const page = yield* lookAtCheckout(errand, "/checkout")
    if (page !== undefined && !isGood(page)) return { ...page, total: null } satisfies CheckoutOutcome
    checkoutPage = page
    const { grandTotal } = taken.value
    const total = grandTotal === undefined ? null : (grandTotal + taken.cost).toFixed(2)
    return checkedOut(total, taken.shipping, evidenceOf(taken.answer))
  })

  const payment = Effect.sync((): PaymentOutcome => {
    if (checkoutPage === undefined) return { ...unknown("The checkout page was not seen."), methods: [] }
    return judgedPage(checkoutPage.facts, { currency, isWhole: false })
  })

  const cleanUp = Effect.suspend(() =>
    state === undefined
      ? Effect.void
      : Effect.asVoid(errand.tidying.ask({ method: "DELETE", url: `/api/storefront/carts/${state.id}` }))
  )
  return { name: "platform_api", cart, checkout, payment, cleanUp }
}
