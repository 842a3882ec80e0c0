import { Effect, Schema } from "effect"
import { everShopCart } from "#domain/ShoppingConduct.ts"
import type { BlockerId, Step } from "#domain/ShoppingTest.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import { assertCart, checkedOut, isGood, jsonPost, lookAtCheckout, pageFor, valueOf } from "./ApiRail.ts"
import type { Errand } from "./Errand.ts"
import { evidenceOf, failed, snippet, unknown } from "./Outcomes.ts"
import { totalOn } from "./FormPages.ts"
import { classed, judged } from "./Payments.ts"
import type { Candidate, CartOutcome, CheckoutOutcome, PaymentOutcome, Rail } from "./Rail.ts"

const Added = Schema.Struct({
  data: Schema.Struct({
    cartId: Schema.String.check(Schema.isPattern(/^[\w-]{1,64}$/)),
    item: Schema.optionalKey(Schema.Struct({ uuid: Schema.optionalKey(Schema.String) })),
    items: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          uuid: Schema.optionalKey(Schema.String),
          productSku: Schema.String,
          qty: Schema.Union([Schema.Finite, Schema.String])
        })
      )
    )
  })
})
const Taken = Schema.Struct({ data: Schema.Unknown })
const Code = Schema.String.check(Schema.isMaxLength(200))
const ShippingMethod = Schema.Struct({ providerCode: Code, code: Code, name: Code })
const Cart = Schema.Struct({
  currency: Schema.String,
  grandTotal: Schema.Struct({ value: Schema.Finite }),
  shippingMethodName: Schema.NullOr(Schema.String),
  availableShippingMethods: Schema.Array(ShippingMethod),
  availablePaymentMethods: Schema.Array(Schema.Struct({ code: Code, name: Code }))
})
const CartAnswer = Schema.Struct({ data: Schema.Struct({ myCart: Cart }) })

const addressOf = (shopper: TestShopper) => ({
  full_name: `${shopper.firstName} ${shopper.lastName}`,
  telephone: shopper.phone,
  address_1: shopper.line1,
  city: shopper.city,
  province: `${shopper.country}-${shopper.region}`,
  postcode: shopper.postalCode,
  country: shopper.country
})

/** Buys over EverShop's cart. Its `/api/orders` places orders, and is never called. What it offers for the cart, its own store says. */
export const make = (errand: Errand, shopper: TestShopper): Rail => {
  let cartId: string | undefined
  let itemId: string | undefined
  let cartRead: typeof Cart.Type | undefined

  const call = Effect.fnUntraced(function* (step: Step, refusal: BlockerId, path: string, body: unknown) {
    const good = valueOf(step, refusal, yield* errand.json(Taken, jsonPost(path, body)))
    return isGood(good) ? undefined : good
  })

  const cart = Effect.fnUntraced(function* (candidate: Candidate) {
    const sku = candidate.sku ?? ""
    const said = yield* errand.json(Added, jsonPost("/api/cart/mine/items", { sku, qty: "1" }))
    const added = valueOf("cart", "add_to_cart_failed", said)
    if (!isGood(added)) return { ...added, price: null } satisfies CartOutcome
    const { data } = added.value
    cartId = data.cartId
    itemId = data.item?.uuid ?? data.items?.[0]?.uuid
    const seen = yield* pageFor("cart", errand, "/cart")
    if (!isGood(seen)) return { ...seen, price: null } satisfies CartOutcome
    const { text } = seen.answer
    const lines = text.includes(candidate.name) || text.includes(sku) ? [{ id: sku, quantity: 1, price: null }] : []
    return assertCart(candidate, sku, lines, snippet(`cart ${data.cartId}`))
  })

  const ask = Effect.map(
    Effect.suspend(() => errand.json(CartAnswer, jsonPost("/api/graphql", { query: everShopCart }))),
    (said) => {
      const good = valueOf("checkout", "no_shipping_option", said)
      // A store that does not answer this says nothing about its shipping.
      return isGood(good) || !good.blockers.some(({ id }) => id === "no_shipping_option")
        ? good
        : unknown(good.detail, good.evidence)
    }
  )

  /** Takes the first way of shipping, which is the cheapest. */
  const ship = Effect.fnUntraced(function* (base: string) {
    const said = yield* ask
    if (!isGood(said)) return said
    const [method] = said.value.data.myCart.availableShippingMethods
    if (method === undefined) {
      const detail = `No shipping to ${shopper.countryName} is offered.`
      return failed("checkout", "no_shipping_option", detail, evidenceOf(said.answer))
    }
    const body = { provider_code: method.providerCode, method_code: method.code }
    return (yield* call("checkout", "no_shipping_option", `${base}/shippingMethods`, body)) ?? method
  })

  const checkout = Effect.gen(function* () {
    if (cartId === undefined) return { ...unknown("There is no cart."), total: null } satisfies CheckoutOutcome
    const base = `/api/carts/${cartId}`
    const contact = yield* call("checkout", "account_required", `${base}/contacts`, { email: shopper.email })
    if (contact !== undefined) return { ...contact, total: null } satisfies CheckoutOutcome
    const address = addressOf(shopper)
    for (const type of ["shipping", "billing"]) {
      const refused = yield* call("checkout", "address_rejected", `${base}/addresses`, { address, type })
      if (refused !== undefined) return { ...refused, total: null } satisfies CheckoutOutcome
    }
    const chosen = yield* ship(base)
    if ("blockers" in chosen) return { ...chosen, total: null } satisfies CheckoutOutcome
    const seen = yield* lookAtCheckout(errand, "/checkout")
    if (seen !== undefined && !isGood(seen)) return { ...seen, total: null } satisfies CheckoutOutcome
    if (seen === undefined) return { ...unknown("The checkout page did not show itself."), total: null }
    const said = yield* ask
    if (!isGood(said)) return { ...said, total: null } satisfies CheckoutOutcome
    const read = said.value.data.myCart
    cartRead = read
    // What its page states before its scripts run counts first: that is what a buyer sees.
    const total = totalOn(seen.facts) ?? read.grandTotal.value.toFixed(2)
    const evidence = snippet(`${seen.answer.url.href}: ${read.shippingMethodName}, total ${total}`)
    return checkedOut(total, `${chosen.name} to ${shopper.countryName} is chosen`, evidence)
  })

  const payment = Effect.sync((): PaymentOutcome => {
    if (cartRead === undefined) return { ...unknown("The checkout was not reached."), methods: [] }
    const { availablePaymentMethods, currency } = cartRead
    const names = availablePaymentMethods.map(({ code, name }) => `${code} ${name}`)
    const { marks, others } = classed(names)
    const evidence = snippet(`availablePaymentMethods: ${names.slice(0, 20).join(", ")}`)
    return judged({ marks, others, isWhole: true, currency, evidence })
  })

  const cleanUp = Effect.suspend(() =>
    itemId === undefined
      ? Effect.void
      : Effect.asVoid(
          errand.tidying.ask({
            method: "DELETE",
            url: `/api/cart/mine/items/${encodeURIComponent(itemId.toWellFormed())}`
          })
        )
  )
  return { name: "platform_api", cart, checkout, payment, cleanUp }
}
