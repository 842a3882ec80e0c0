import { Effect, Schema } from "effect"
import { fromMinor } from "#domain/ProductChoice.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import { assertCart, checkedOut, isGood, jsonPost, lookAtCheckout, valueOf } from "./ApiRail.ts"
import type { Errand } from "./Errand.ts"
import { evidenceOf, failed, snippet, unknown, warning } from "./Outcomes.ts"
import { classed, judged } from "./Payments.ts"
import type { Candidate, CartOutcome, CheckoutOutcome, PaymentOutcome, Rail, StepOutcome } from "./Rail.ts"

const api = "/wp-json/wc/store/v1"

const money = { currency_minor_unit: Schema.optionalKey(Schema.Int) }
const Cart = Schema.Struct({
  items: Schema.Array(
    Schema.Struct({
      id: Schema.Finite,
      quantity: Schema.Finite,
      variation: Schema.optionalKey(Schema.Array(Schema.Struct({ value: Schema.String }))),
      prices: Schema.Struct({ price: Schema.String, ...money })
    })
  ),
  needs_shipping: Schema.optionalKey(Schema.Boolean),
  shipping_rates: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        shipping_rates: Schema.Array(Schema.Struct({ name: Schema.String, price: Schema.String, ...money }))
      })
    )
  ),
  payment_methods: Schema.optionalKey(Schema.Array(Schema.String)),
  errors: Schema.optionalKey(Schema.Array(Schema.Struct({ code: Schema.String, message: Schema.String }))),
  totals: Schema.Struct({
    total_price: Schema.String,
    currency_code: Schema.optionalKey(Schema.String),
    ...money
  })
})
type Cart = typeof Cart.Type

/**
 * WooCommerce names the German states with their country before, and versions that have none yet (before 6.3) take any; some others it
 * names in ways of its own. Their full names would do as well, but stand in the shop's own language.
 */
const ownStates: Readonly<Record<string, string>> = { "DE BE": "DE-BE", "JP 13": "JP13", "MX CMX": "DF" }
const stateOf = ({ country, region }: TestShopper) => ownStates[`${country} ${region}`] ?? region

const addressOf = (shopper: TestShopper) => ({
  first_name: shopper.firstName,
  last_name: shopper.lastName,
  address_1: shopper.line1,
  city: shopper.city,
  state: stateOf(shopper),
  postcode: shopper.postalCode,
  country: shopper.country
})

/** Whether the shop took the call and not the variation: sold out, not for sale, or in need of a choice. */
const refusesVariation = ({ blockers, evidence }: StepOutcome): boolean =>
  blockers.some(({ id }) => id === "add_to_cart_failed") && /stock|purchasable|variation/i.test(evidence ?? "")

/** Buys over WooCommerce's Store API. Its `checkout` places orders, and is never called. */
export const make = (errand: Errand, shopper: TestShopper): Rail => {
  let token: string | undefined
  let nonce: string | undefined
  let last: Cart | undefined
  let lastEvidence: string | null = null

  const headers = (): ReadonlyArray<readonly [string, string]> => [
    ...(token === undefined ? [] : [["Cart-Token", token] as const]),
    ...(nonce === undefined ? [] : [["Nonce", nonce] as const])
  ]

  /** The cart as it is; keeps the token and the nonce of the answer, which the next call needs. */
  const call = Effect.fnUntraced(function* (
    step: "cart" | "checkout",
    refusal: "add_to_cart_failed" | "address_rejected",
    request: { readonly path: string; readonly body?: unknown }
  ) {
    const url = `${api}${request.path}`
    const said = yield* errand.json(
      Cart,
      request.body === undefined ? { url, headers: headers() } : jsonPost(url, request.body, headers())
    )
    if ("answer" in said) {
      token = said.answer.headers.get("cart-token") ?? token
      nonce = said.answer.headers.get("nonce") ?? said.answer.headers.get("x-wc-store-api-nonce") ?? nonce
    }
    return valueOf(step, refusal, said)
  })

  const cart = Effect.fnUntraced(function* (candidate: Candidate) {
    const opened = yield* call("cart", "add_to_cart_failed", { path: "/cart" })
    if (!isGood(opened)) return { ...opened, price: null } satisfies CartOutcome
    const add = (id: number) =>
      call("cart", "add_to_cart_failed", { path: "/cart/add-item", body: { id, quantity: 1 } })
    let id = Number(candidate.platformId)
    let added = yield* add(id)
    for (const other of candidate.otherIds ?? []) {
      if (isGood(added) || !refusesVariation(added)) break
      id = Number(other)
      added = yield* add(id)
    }
    if (!isGood(added)) return { ...added, price: null } satisfies CartOutcome
    const read = yield* call("cart", "add_to_cart_failed", { path: "/cart" })
    if (!isGood(read)) return { ...read, price: null } satisfies CartOutcome
    last = read.value
    const seen = evidenceOf(read.answer)
    const lines = read.value.items.map((item) => ({
      id: String(item.id),
      quantity: item.quantity,
      price: fromMinor(item.prices.price, item.prices.currency_minor_unit ?? 2) ?? null
    }))
    const minimum = read.value.errors?.find(({ code, message }) => /minimum/i.test(`${code} ${message}`))
    const warnings = minimum === undefined ? [] : [warning("cart", "minimum_order", minimum.message, seen)]
    // The price that was stated is of the first variation, and so is what it is called.
    const variation = read.value.items.find((item) => item.id === id)?.variation ?? []
    const name = [candidate.name, variation.map(({ value }) => value).join(" / ")]
      .filter((said) => said !== "")
      .join(", ")
    const bought = String(id) === candidate.platformId ? candidate : { ...candidate, name, price: null }
    return assertCart(bought, String(id), lines, seen, warnings)
  })

  const checkout = Effect.gen(function* () {
    const address = addressOf(shopper)
    const body = {
      billing_address: { ...address, email: shopper.email, phone: shopper.phone },
      shipping_address: address
    }
    const taken = yield* call("checkout", "address_rejected", { path: "/cart/update-customer", body })
    if (!isGood(taken)) return { ...taken, total: null } satisfies CheckoutOutcome
    last = taken.value
    lastEvidence = evidenceOf(taken.answer)
    const rates = (taken.value.shipping_rates ?? []).flatMap((group) => group.shipping_rates)
    if (taken.value.needs_shipping !== false && rates.length === 0) {
      const detail = `No shipping to ${shopper.countryName} is offered.`
      return { ...failed("checkout", "no_shipping_option", detail, lastEvidence), total: null }
    }
    const page = yield* lookAtCheckout(errand, "/checkout/")
    if (page !== undefined && !isGood(page)) return { ...page, total: null } satisfies CheckoutOutcome
    const { currency_minor_unit: decimals = 2, total_price: total } = taken.value.totals
    const first = rates[0]
    const shipping =
      first === undefined
        ? "nothing is shipped"
        : `${first.name} to ${shopper.countryName} for ${fromMinor(first.price, first.currency_minor_unit ?? 2) ?? first.price}`
    return checkedOut(fromMinor(total, decimals) ?? null, shipping, lastEvidence)
  })

  const payment = Effect.sync((): PaymentOutcome => {
    const names = last?.payment_methods
    if (last === undefined || names === undefined) {
      return { ...unknown("The cart does not say how it can be paid.", lastEvidence), methods: [] }
    }
    const { marks, others } = classed(names)
    const evidence = snippet(`payment_methods: ${names.slice(0, 20).join(", ")}`)
    return judged({ marks, others, isWhole: true, currency: last.totals.currency_code ?? null, evidence })
  })

  const cleanUp = Effect.suspend(() =>
    Effect.asVoid(errand.tidying.ask({ method: "DELETE", url: `${api}/cart/items`, headers: headers() }))
  )
  return { name: "platform_api", cart, checkout, payment, cleanUp }
}
