import { Effect } from "effect"
import { orderTakenIn, type UcpCheckout, type UcpDelivery, type UcpOrder } from "#domain/protocol/UcpWords.ts"
import type { BlockerId, Step } from "#domain/ShoppingTest.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import type { UcpClient, UcpReply } from "../ScanEngine/protocols/UcpClient.ts"
import { assertCart, checkedOut, isGood } from "./ApiRail.ts"
import { blocking, evidenceOf, failed, orderTakenAt, snippet, unanswered, unknown } from "./Outcomes.ts"
import { judged } from "./Payments.ts"
import type { Candidate, CartOutcome, CheckoutOutcome, PaymentOutcome, Rail, StepOutcome } from "./Rail.ts"

/** A shipping option is none of the product. */
const meanings: ReadonlyArray<readonly [RegExp, BlockerId]> = [
  [/identity|login|sign[-_ ]?in|account|unauthori[sz]ed/i, "account_required"],
  [/captcha|challenge/i, "captcha_required"],
  [/variant|(?<!(?:shipping|delivery|fulfil\w*)[ _-])option/i, "variant_required"],
  [/minimum/i, "minimum_order"],
  [/shipping|fulfil|delivery/i, "no_shipping_option"],
  [/address|postal|zip|region|country/i, "address_rejected"]
]
/** What a shop's refusal is called, by its words. */
export const meaningOf = (words: string): BlockerId | undefined =>
  meanings.find(([pattern]) => pattern.test(words))?.[1]

/** A good reply's cart or checkout, or why the step ends: also where it is an order already. */
const valueOf = (
  step: Step,
  refusal: BlockerId,
  reply: UcpReply<UcpCheckout>,
  shopper: TestShopper
): { readonly value: UcpCheckout; readonly seen: string | null } | StepOutcome => {
  switch (reply._tag) {
    case "Done": {
      const taken = orderTakenIn(reply.value)
      if (taken !== undefined) return orderTakenAt(step, taken, shopper)
      return { value: reply.value, seen: evidenceOf(reply.outcome) }
    }
    case "Refused": {
      const meaning = meaningOf(reply.detail) ?? refusal
      return failed(step, meaning, `The shop's UCP service said no: ${reply.detail}.`, evidenceOf(reply.outcome))
    }
    case "Guarded":
      return failed(step, "account_required", "The UCP service asks for credentials.", evidenceOf(reply.outcome))
    case "Unseen":
      return reply.outcome._tag === "NoAnswer"
        ? unanswered(step, reply.outcome)
        : failed(step, "captcha_required", `A wall answered the call: ${reply.why}.`, evidenceOf(reply.outcome))
    case "Broken": {
      const seen = reply.outcome._tag === "Answered" ? evidenceOf(reply.outcome) : null
      return failed(step, refusal, `The UCP service does not work: ${reply.why}.`, seen)
    }
  }
}

const linesOf = ({ lines }: UcpCheckout) =>
  lines.map(({ itemId, price, quantity }) => ({ id: itemId, quantity, price }))

const addressOf = (shopper: TestShopper): Readonly<Record<string, string>> => ({
  first_name: shopper.firstName,
  last_name: shopper.lastName,
  street_address: shopper.line1,
  address_locality: shopper.city,
  address_region: shopper.region,
  postal_code: shopper.postalCode,
  address_country: shopper.country
})

/** Buys over the Universal Commerce Protocol, up to a checkout that is ready to be completed. Nothing here completes it. */
export const make = (client: UcpClient, shopper: TestShopper, declared: ReadonlyArray<string>): Rail => {
  let wanted: UcpOrder = { lines: [] }
  let cartId: string | undefined
  let checkoutState: UcpCheckout | undefined
  let seenLast: string | null = null

  // What was opened is cancelled in the end, whatever else is wrong with it.
  const place = (order: UcpOrder) =>
    Effect.tap(
      checkoutState === undefined ? client.createCheckout(order) : client.updateCheckout(checkoutState.id, order),
      (reply) =>
        Effect.sync(() => {
          if (reply._tag === "Done") checkoutState = reply.value
        })
    )

  const cart = Effect.fnUntraced(function* (candidate: Candidate) {
    const itemId = candidate.platformId ?? candidate.sku ?? ""
    wanted = {
      lines: [{ itemId, quantity: 1 }],
      ...(candidate.currency === null ? {} : { currency: candidate.currency })
    }
    const isCart = client.offers("create_cart")
    const made = valueOf(
      "cart",
      "add_to_cart_failed",
      yield* isCart ? client.createCart(wanted) : place(wanted),
      shopper
    )
    if (!isGood(made)) return { ...made, price: null } satisfies CartOutcome
    if (isCart) cartId = made.value.id
    const isReadable = client.offers(isCart ? "get_cart" : "get_checkout")
    const again = isCart ? client.getCart(made.value.id) : client.getCheckout(made.value.id)
    const read = isReadable ? valueOf("cart", "add_to_cart_failed", yield* again, shopper) : made
    if (!isGood(read)) return { ...read, price: null } satisfies CartOutcome
    return assertCart(candidate, itemId, linesOf(read.value), read.seen)
  })

  /** What a checkout says is wrong with it; undefined when nothing stands in the way. */
  const complaint = (state: UcpCheckout): StepOutcome | undefined => {
    const error = state.messages.find(({ type }) => type === "error")
    if (error === undefined || /payment|instrument|handler/i.test(`${error.code} ${error.text}`)) return undefined
    const words = `${error.code} ${error.text}`
    const meaning = meaningOf(words) ?? "checkout_form_unrecognized"
    return failed("checkout", meaning, `The checkout says: ${words}.`, snippet(words))
  }

  const checkout = Effect.gen(function* () {
    const order: UcpOrder = {
      ...wanted,
      buyer: { email: shopper.email, first_name: shopper.firstName, last_name: shopper.lastName },
      address: addressOf(shopper)
    }
    const opened = valueOf("checkout", "checkout_form_unrecognized", yield* place(order), shopper)
    if (!isGood(opened)) return { ...opened, total: null } satisfies CheckoutOutcome
    seenLast = opened.seen
    let state = opened.value
    const delivery: UcpDelivery | undefined = opened.value.deliveries[0]
    if (delivery !== undefined && client.offers("update_checkout")) {
      const chosen = valueOf("checkout", "no_shipping_option", yield* place({ ...order, delivery }), shopper)
      if (!isGood(chosen)) return { ...chosen, total: opened.value.total } satisfies CheckoutOutcome
      state = chosen.value
      seenLast = chosen.seen
    }
    const wrong = complaint(state)
    if (wrong !== undefined) return { ...wrong, total: state.total } satisfies CheckoutOutcome
    if (state.status === "requires_escalation") {
      const detail = "The checkout goes on only with a person at the shop's own page."
      const stop = blocking("checkout", "account_required", detail, snippet(state.continueUrl))
      return { status: "failed", detail, evidence: seenLast, blockers: [stop], total: state.total } as const
    }
    const shipping =
      delivery === undefined ? "no shipping had to be chosen" : `${delivery.title ?? delivery.id} is chosen`
    return checkedOut(state.total, shipping, seenLast)
  })

  const payment = Effect.sync((): PaymentOutcome => {
    if (checkoutState === undefined) return { ...unknown("There is no checkout."), methods: [] }
    const { currency, paymentHandlers } = checkoutState
    // What a checkout does not repeat, the profile has said. Where neither does, nothing is known.
    const handlers = paymentHandlers.length > 0 ? paymentHandlers : declared
    const marks = handlers.map((handler) => ({ method: handler, class: "agent", marker: handler }) as const)
    return judged({ marks, others: [], isWhole: false, currency, evidence: snippet(handlers.join(", ")) })
  })

  const cleanUp = Effect.suspend(() => {
    const checkoutId = checkoutState?.id
    const cancel = checkoutId === undefined ? Effect.void : client.cancelCheckout(checkoutId)
    const drop = cartId === undefined ? Effect.void : client.cancelCart(cartId)
    return Effect.asVoid(Effect.andThen(cancel, drop))
  })
  return { name: "ucp", cart, checkout, payment, cleanUp }
}
