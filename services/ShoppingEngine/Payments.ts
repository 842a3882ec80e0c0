import { namesPaying } from "#domain/Deeds.ts"
import type { PageFacts, PaymentMark } from "#domain/page/PageFacts.ts"
import { paymentOffer } from "#domain/page/PaymentOffer.ts"
import { isProvider, methodNamed } from "#domain/page/Payments.ts"
import type { Blocker } from "#domain/ShoppingTest.ts"
import { failed, passed, snippet, unknown, warning } from "./Outcomes.ts"
import type { PaymentOutcome } from "./Rail.ts"

/** Names of methods that platforms' interfaces use and no page does. */
const platformNames: ReadonlyArray<readonly [RegExp, string, PaymentMark["class"]]> = [
  // What somebody was given before, or has at home, buys nothing for an agent. A page's "Gift wrap" pays nothing.
  [/^gift$|gift[\s_-]?(?:card|cert|voucher|code|coupon)|voucher|paysafe/i, "gift_card", "human"],
  [
    /(?:store|shop|customer|account)[ _-]?(?:credit|balance)|reward|loyalty|(?<!\p{L})points(?!\p{L})/iu,
    "store_credit",
    "human"
  ],
  [/(?:trade|net)[ _-]?credit|credit[ _-]?(?:terms|line|account)|on account/i, "invoice", "deferred"],
  [/(?<!\p{L})(?:sofort|giropay|eps|multibanco)(?!\p{L})/iu, "bank_redirect", "human"],
  [
    /^woocommerce_payments|^wcpay|authorizenet|authnet|cybersource|worldpay|(?<!\p{L})(?:eway|nmi)(?!\p{L})|sagepay|opayo|payflow/iu,
    "card",
    "agent"
  ],
  [/card(?!gate)|credit/i, "card", "agent"],
  [/^(?:free|zero)(?!\p{L})/iu, "free", "agent"],
  [/checkmo|money ?order/i, "cheque", "deferred"],
  [/standard-payment|manual|offline/i, "manual", "deferred"]
]

const plainCard = /^\W*(?:(?:pay(?:ment)?|by|with|via|bank|new|add|a|online)\W+){0,4}(?:cards?|credit)(?!\p{L})/iu

/** Whether a choice of a page, whatever its field is called, says by its words alone that it is a way to pay: a greeting card is none. */
export const saysWayToPay = (words: string): boolean => methodNamed(words) !== undefined || plainCard.test(words)

/** The methods that an interface names, classed; `others` are names that nothing here knows. */
export const classed = (
  names: ReadonlyArray<string>
): { readonly marks: ReadonlyArray<PaymentMark>; readonly others: ReadonlyArray<string> } => {
  const marks: Array<PaymentMark> = []
  const others: Array<string> = []
  for (const name of names.slice(0, 50)) {
    const words = name.slice(0, 200).replace(/_/g, " ")
    const known = methodNamed(words)
    const named = platformNames.find(([pattern]) => pattern.test(name))
    if (named !== undefined && (known === undefined || isProvider(known)))
      marks.push({ method: named[1], class: named[2], marker: name })
    else if (known !== undefined) marks.push({ method: known.method, class: known.class, marker: name })
    else others.push(name)
  }
  return { marks, others }
}

const strong: ReadonlySet<string> = new Set([
  "EUR",
  "GBP",
  "SEK",
  "NOK",
  "DKK",
  "PLN",
  "CZK",
  "HUF",
  "RON",
  "BGN",
  "ISK",
  "INR"
])
const cards: ReadonlySet<string> = new Set(["card", "stripe", "adyen", "braintree", "checkout_com", "square", "mollie"])

/** What is known of how a cart can be paid. */
export interface Offering {
  readonly marks: ReadonlyArray<PaymentMark>
  /** Methods that we cannot class. */
  readonly others: ReadonlyArray<string>
  /** The shop was asked and named every method, so an empty list means that there is none. */
  readonly isWhole: boolean
  /** Read off a page that no browser has drawn: its scripts may offer more. */
  readonly isUndrawn?: boolean
  readonly currency: string | null
  readonly evidence: string | null
}

/** Judges the ways to pay. What nobody listed is unknown. */
export const judged = ({ currency, evidence, isUndrawn, isWhole, marks, others }: Offering): PaymentOutcome => {
  const methods = marks.slice(0, 50)
  const names = [...new Set(methods.map(({ method }) => method))]
  const seen = evidence ?? snippet(names.join(", "))
  if (methods.length === 0 && others.length === 0) {
    const none = "No payment method is offered for this cart."
    if (isWhole) return { ...failed("payment", "no_payment_method", none, seen), methods }
    const when = isUndrawn ? " before a browser runs its scripts" : ""
    return { ...unknown(`The checkout does not say how it can be paid${when}.`, seen), methods }
  }
  const byAgent = methods.filter((mark) => mark.class === "agent")
  const deferred = methods.filter((mark) => mark.class === "deferred")
  if (byAgent.length === 0 && deferred.length === 0) {
    if (others.length > 0 || !isWhole) {
      const what = others.length > 0 ? `methods that we do not know: ${others.join(", ")}` : "only marks of wallets"
      return { ...unknown(`The checkout shows ${what}; whether an agent can pay is not known.`, seen), methods }
    }
    const detail = `Only methods that need a person are offered: ${names.join(", ")}.`
    return { ...failed("payment", "unsupported_payment_method", detail, seen), methods }
  }
  const warnings: Array<Blocker> = []
  if (byAgent.length === 0 && others.length === 0) {
    const how = deferred.map(({ method }) => method).join(", ")
    warnings.push(warning("payment", "only_deferred_payment", `An agent can order but not pay: ${how}.`, seen))
  } else if (byAgent.length > 0 && byAgent.every(({ method }) => cards.has(method)) && strong.has(currency ?? "")) {
    const detail = `Cards in ${currency} are mostly confirmed by their holder (3-D Secure).`
    warnings.push(warning("payment", "three_ds_likely", detail, seen))
  }
  const besides = others.length === 0 ? "" : `, and what we do not know: ${others.join(", ")}`
  return { ...passed(`Offered: ${names.join(", ")}${besides}. Nothing was submitted.`, seen, warnings), methods }
}

/** What a page lets choose by fields that are about paying, in its own words. */
const choicesOf = ({ controls, forms }: PageFacts): ReadonlyArray<string> => {
  const fields = [...controls, ...forms.flatMap((form) => form.controls)].filter(
    ({ disabled, id, name, type }) =>
      !disabled && (type === "radio" || type === "select") && namesPaying(`${name ?? ""} ${id ?? ""}`)
  )
  const said = fields.flatMap(({ label, options, type, value }) =>
    type === "radio"
      ? [label ?? value ?? ""]
      : options.filter((option) => !option.disabled && option.value !== "").map(({ text }) => text)
  )
  return (
    [...new Set(said.map((words) => (snippet(words) ?? "").slice(0, 80)))]
      // Months and years of a card are numbers, and no way to pay.
      .filter((words) => /\p{L}/u.test(words))
      .slice(0, 10)
  )
}

/** Judges a checkout's page as it came. `isWhole` when nothing but its own HTML can offer a method. */
export const judgedPage = (
  facts: PageFacts,
  { currency, isWhole }: { readonly currency: string | null; readonly isWhole: boolean }
): PaymentOutcome => {
  const { methods, none } = paymentOffer(facts)
  const evidence = snippet(none ?? methods.map(({ marker }) => marker).join(" | "))
  const isKnown = (words: string) => methods.some(({ marker }) => marker.includes(words))
  return judged({
    marks: methods,
    others: choicesOf(facts).filter((words) => !isKnown(words)),
    isWhole: none !== undefined || (isWhole && !facts.isCut),
    isUndrawn: true,
    currency,
    evidence
  })
}
