import { Effect, Schema } from "effect"
import { fromMinor } from "#domain/ProductChoice.ts"
import { vendureDocuments } from "#domain/ShoppingConduct.ts"
import type { BlockerId, Step } from "#domain/ShoppingTest.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import { assertCart, checkedOut, isGood, jsonPost, valueOf } from "./ApiRail.ts"
import type { Errand } from "./Errand.ts"
import { evidenceOf, failed, snippet, unknown } from "./Outcomes.ts"
import { classed, judged } from "./Payments.ts"
import type { Candidate, CartOutcome, CheckoutOutcome, PaymentOutcome, Rail } from "./Rail.ts"

const ErrorResult = Schema.Struct({ errorCode: Schema.String, message: Schema.String })
const dataOf = <A>(data: Schema.Decoder<A>) => Schema.Struct({ data })
/** Any mutation of ours: its only field is an order, or why not. */
const Mutated = dataOf(Schema.Record(Schema.String, Schema.Union([ErrorResult, Schema.Struct({ id: Schema.String })])))
const Cart = dataOf(
  Schema.Struct({
    activeOrder: Schema.NullOr(
      Schema.Struct({
        totalWithTax: Schema.Int,
        currencyCode: Schema.String,
        lines: Schema.Array(
          Schema.Struct({
            quantity: Schema.Int,
            linePriceWithTax: Schema.Int,
            productVariant: Schema.Struct({ id: Schema.String })
          })
        )
      })
    )
  })
)
const ShippingMethods = dataOf(
  Schema.Struct({
    eligibleShippingMethods: Schema.Array(
      Schema.Struct({ id: Schema.String, name: Schema.String, priceWithTax: Schema.Int })
    )
  })
)
const PaymentMethods = dataOf(
  Schema.Struct({
    eligiblePaymentMethods: Schema.Array(
      Schema.Struct({ code: Schema.String, name: Schema.String, isEligible: Schema.Boolean })
    )
  })
)

/** Buys over Vendure's shop API. Its documents are a list; none of them adds a payment or moves the order on. */
export const make = (errand: Errand, shopper: TestShopper): Rail => {
  let token: string | undefined
  let currency: string | null = null

  const ask = Effect.fnUntraced(function* <A>(
    schema: Schema.Decoder<A>,
    by: Errand,
    call: { readonly document: keyof typeof vendureDocuments; readonly variables?: unknown }
  ) {
    const body = { query: vendureDocuments[call.document], variables: call.variables ?? {} }
    const headers = token === undefined ? [] : [["Authorization", `Bearer ${token}`] as const]
    const said = yield* by.json(schema, jsonPost("/shop-api", body, headers))
    if ("answer" in said) token = said.answer.headers.get("vendure-auth-token") ?? token
    return said
  })

  /** A change, and whether the shop refused it in its own words. */
  const change = Effect.fnUntraced(function* (
    step: Step,
    refusal: BlockerId,
    call: { readonly document: keyof typeof vendureDocuments; readonly variables?: unknown }
  ) {
    const good = valueOf(step, refusal, yield* ask(Mutated, errand, call))
    if (!isGood(good)) return good
    const [result] = Object.values(good.value.data)
    return result !== undefined && "errorCode" in result
      ? failed(step, refusal, `The shop says: ${result.errorCode} ${result.message}.`, evidenceOf(good.answer))
      : undefined
  })

  const readCart = (step: "cart" | "checkout") =>
    Effect.map(ask(Cart, errand, { document: "cart" }), (said) => valueOf(step, "add_to_cart_failed", said))

  const cart = Effect.fnUntraced(function* (candidate: Candidate) {
    const id = candidate.platformId ?? ""
    const refused = yield* change("cart", "add_to_cart_failed", { document: "add", variables: { id } })
    if (refused !== undefined) return { ...refused, price: null } satisfies CartOutcome
    const read = yield* readCart("cart")
    if (!isGood(read)) return { ...read, price: null } satisfies CartOutcome
    const order = read.value.data.activeOrder
    currency = order?.currencyCode ?? null
    const lines = (order?.lines ?? []).map((line) => ({
      id: line.productVariant.id,
      quantity: line.quantity,
      price: fromMinor(line.linePriceWithTax, 2) ?? null
    }))
    return assertCart(candidate, id, lines, evidenceOf(read.answer))
  })

  const checkout = Effect.gen(function* () {
    const input = { emailAddress: shopper.email, firstName: shopper.firstName, lastName: shopper.lastName }
    const unnamed = yield* change("checkout", "account_required", { document: "customer", variables: { input } })
    if (unnamed !== undefined) return { ...unnamed, total: null } satisfies CheckoutOutcome
    const address = {
      fullName: `${shopper.firstName} ${shopper.lastName}`,
      streetLine1: shopper.line1,
      city: shopper.city,
      province: shopper.regionName,
      postalCode: shopper.postalCode,
      countryCode: shopper.country,
      phoneNumber: shopper.phone
    }
    const refused = yield* change("checkout", "address_rejected", {
      document: "address",
      variables: { input: address }
    })
    if (refused !== undefined) return { ...refused, total: null } satisfies CheckoutOutcome
    const methods = valueOf(
      "checkout",
      "no_shipping_option",
      yield* ask(ShippingMethods, errand, { document: "shippingMethods" })
    )
    if (!isGood(methods)) return { ...methods, total: null } satisfies CheckoutOutcome
    const [method] = methods.value.data.eligibleShippingMethods
    if (method === undefined) {
      const detail = `No shipping to ${shopper.countryName} is offered.`
      return { ...failed("checkout", "no_shipping_option", detail, evidenceOf(methods.answer)), total: null }
    }
    const unshipped = yield* change("checkout", "no_shipping_option", {
      document: "shipping",
      variables: { id: [method.id] }
    })
    if (unshipped !== undefined) return { ...unshipped, total: null } satisfies CheckoutOutcome
    const read = yield* readCart("checkout")
    if (!isGood(read)) return { ...read, total: null } satisfies CheckoutOutcome
    const order = read.value.data.activeOrder
    const total = order === null ? null : (fromMinor(order.totalWithTax, 2) ?? null)
    return checkedOut(total, `${method.name} to ${shopper.countryName} is chosen`, evidenceOf(read.answer))
  })

  const payment = Effect.gen(function* () {
    const methods = valueOf(
      "payment",
      "no_payment_method",
      yield* ask(PaymentMethods, errand, { document: "paymentMethods" })
    )
    if (!isGood(methods)) return { ...unknown(methods.detail, methods.evidence), methods: [] } satisfies PaymentOutcome
    const names = methods.value.data.eligiblePaymentMethods
      .filter(({ isEligible }) => isEligible)
      .map(({ code, name }) => `${code} ${name}`)
    const { marks, others } = classed(names)
    return judged({ marks, others, isWhole: true, currency, evidence: snippet(`eligible: ${names.join(", ")}`) })
  })

  const cleanUp = Effect.suspend(() => Effect.asVoid(ask(Mutated, errand.tidying, { document: "empty" })))
  return { name: "platform_api", cart, checkout, payment, cleanUp }
}
