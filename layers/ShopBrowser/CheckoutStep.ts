import { Effect } from "effect"
import type { Locator } from "playwright-core"
import { totalIn } from "#domain/page/Total.ts"
import { asksToPay, mayTakeOrder, orderingForm } from "#domain/FormConduct.ts"
import { isEnoughToOrder } from "#domain/NextStep.ts"
import { type OrderTaken, orderTaken } from "#domain/OrderTaken.ts"
import { shopperFor } from "#domain/TestShopper.ts"
import type { Blocker } from "#domain/ShoppingTest.ts"
import {
  failed,
  heldBackAt,
  orderTakenAt,
  orderUncertain,
  passed,
  snippet,
  unknown,
  warning
} from "#services/ShoppingEngine/Outcomes.ts"
import type { CheckoutOutcome, StepOutcome } from "#services/ShoppingEngine/Rail.ts"
import { complaints, type Field, fieldsOn, fill, type Meaning } from "./Fields.ts"
import { captcha, isLogin, type Look, look, refusal } from "./Look.ts"
import { allowed } from "./Names.ts"
import { offered } from "./PaymentStep.ts"
import { find, namesOf, press } from "./Press.ts"
import * as Shipping from "./Shipping.ts"
import type { Tab } from "./Tab.ts"

const totalled = (outcome: StepOutcome, total: string | null = null): CheckoutOutcome => ({ ...outcome, total })

/** Checkouts that are pages of their own, when no link leads to one. */
const usual = ["/checkout", "/checkouts", "/kasse"]
const linksThere = (seen: Look) =>
  seen.facts.links
    .filter(({ text }) => allowed.toCheckout.test(text))
    .flatMap(({ href }) => URL.parse(href) ?? [])
    .filter(({ protocol }) => protocol === "http:" || protocol === "https:")
    .slice(0, 1)

const isCheckout = (seen: Look, cart: URL) =>
  seen.url.pathname !== cart.pathname && !/\/(?:cart|basket|bag)\/?$/.test(seen.url.pathname)

/** Presses what may be pressed by its name, unless to send the form around it may be to order. */
const pressSafely = Effect.fnUntraced(function* (seen: Look, control: Locator, purpose: "toCheckout" | "asGuest") {
  const form = orderingForm(seen.facts, yield* namesOf(control), "guest")
  return form === undefined && (yield* press(control, purpose))
})

/** Goes to the checkout: by a link, then by a button of that name, then by where it usually is. */
const enter = Effect.fnUntraced(function* (tab: Tab, cart: URL) {
  const status = yield* tab.goTo(cart)
  const before = yield* look(tab)
  for (const url of linksThere(before)) {
    const answered = yield* tab.goTo(url, before.url)
    const seen = yield* look(tab)
    if (isCheckout(seen, cart)) return { status: answered, seen }
  }
  const button = linksThere(before).length > 0 ? undefined : yield* find(tab.page, "toCheckout")
  if (button?.enabled === true && (yield* pressSafely(before, button.control, "toCheckout"))) {
    yield* tab.quiet
    const seen = yield* look(tab)
    if (isCheckout(seen, cart)) return { status, seen }
  }
  for (const path of usual) {
    const answered = yield* tab.goTo(new URL(path, cart))
    const seen = yield* look(tab)
    if (answered < 400 && isCheckout(seen, cart)) return { status: answered, seen }
  }
  return undefined
})

/** Past a login that offers a way around itself. */
const asGuest = Effect.fnUntraced(function* (tab: Tab, seen: Look) {
  const way = yield* find(tab.page, "asGuest")
  if (way?.enabled === true && (yield* pressSafely(seen, way.control, "asGuest"))) {
    yield* tab.quiet
    return yield* look(tab)
  }
  return seen
})

/** What was done on the pages of a checkout. */
interface Progress {
  readonly filled: Set<Meaning>
  /** What is asked for in a list that has nothing to choose. */
  readonly impossible: Set<Meaning>
  unlabelled: number
  readonly unrecognised: Set<string>
  complaint: string | null
  /** A control that was not pressed, or whose form was stopped, as that may be to order. */
  held: string | null
  taken: OrderTaken | null
}

/** Whether what was sent last is enough for an order, and neither a later step nor a confirmation was seen since. */
export interface Doubt {
  isOpen: boolean
}

const fillAll = Effect.fnUntraced(function* (tab: Tab, currency: string | null, progress: Progress) {
  const shopper = shopperFor(currency)
  const write = Effect.fnUntraced(function* (field: Field) {
    if (field.label === "") progress.unlabelled++
    if (field.meaning === "other") {
      if (field.isRequired && field.isEmpty) progress.unrecognised.add(field.label || "a field without a label")
      return
    }
    if (!field.isEmpty && field.kind === "text") return void progress.filled.add(field.meaning)
    const isDone = yield* fill(tab, field, shopper)
    const list = isDone ? progress.filled : progress.impossible
    list.add(field.meaning)
  })
  // What depends on the country is drawn anew when that is chosen, so it comes first.
  const countries = (yield* fieldsOn(tab)).filter(({ meaning }) => meaning === "country").slice(0, 1)
  for (const field of countries) {
    yield* write(field)
    yield* tab.quiet
  }
  const firstOf = new Set<Meaning>(["country"])
  for (const field of yield* fieldsOn(tab)) {
    // A second address on the page is the one for the bill.
    if (field.meaning !== "other" && firstOf.has(field.meaning)) continue
    firstOf.add(field.meaning)
    yield* write(field)
  }
  yield* tab.quiet
})

/** How many pages or stages a checkout may have. */
const mostStages = 5

/** The form in which a button of one of these names stands. */
const formAround = ({ facts }: Look, names: ReadonlyArray<string>) =>
  facts.forms.find(({ controls }) =>
    controls.some(({ label, type }) => type !== "hidden" && names.includes(label ?? ""))
  )

/** Why a control that goes on is not pressed; null when it may be. */
const whyHeld = (seen: Look, names: ReadonlyArray<string>, { filled }: Progress): string | null => {
  const form = formAround(seen, names)
  const isHeld =
    orderingForm(seen.facts, names, "go_on") !== undefined ||
    names.every((name) => mayTakeOrder(filled, name, seen.facts, form))
  return isHeld ? (names[0] ?? "the way on") : null
}

/** Whether a page offers a way to pay, a way to ship, or a way on. */
const leadsOn = Effect.fnUntraced(function* (tab: Tab, seen: Look) {
  const { choices, none } = yield* offered(tab, seen)
  if (choices.length > 0 || none !== undefined || captcha("checkout", seen) !== undefined) return true
  return (yield* find(tab.page, "goOn"))?.enabled === true
})

/** Goes on, and looks at what became of it. False when the walk is over. */
const goOn = Effect.fnUntraced(function* (tab: Tab, seen: Look, control: Locator, progress: Progress, doubt: Doubt) {
  const [name = "the way on"] = yield* namesOf(control)
  doubt.isOpen = isEnoughToOrder(progress.filled)
  if (!(yield* press(control, "goOn"))) {
    doubt.isOpen = false
    return false
  }
  yield* tab.quiet
  if (tab.page.url().startsWith("chrome-error:")) {
    progress.held = name
    doubt.isOpen = false
    return false
  }
  const after = yield* look(tab)
  progress.complaint = yield* complaints(tab)
  const isFurther = progress.complaint !== null || (yield* leadsOn(tab, after))
  progress.taken = orderTaken(seen.text, after.text, { leadsOn: !doubt.isOpen || isFurther }) ?? null
  if (isFurther && after.url.host === seen.url.host) doubt.isOpen = false
  return progress.complaint === null && progress.taken === null
})

const walk = Effect.fnUntraced(function* (tab: Tab, currency: string | null, doubt: Doubt) {
  const progress: Progress = {
    filled: new Set(),
    impossible: new Set(),
    unlabelled: 0,
    unrecognised: new Set(),
    complaint: null,
    held: null,
    taken: null
  }
  let shipping: Shipping.Shipping = { options: [], none: undefined }
  for (let stage = 0; stage < mostStages; stage++) {
    yield* fillAll(tab, currency, progress)
    const here = yield* Shipping.choose(tab)
    if (here.options.length > 0 || here.none !== undefined) shipping = here
    yield* tab.quiet
    const seen = yield* look(tab)
    const { choices, none } = yield* offered(tab, seen)
    if (captcha("checkout", seen) !== undefined || choices.length > 0 || none !== undefined) break
    const on = yield* find(tab.page, "goOn")
    if (on?.enabled !== true) break
    const names = yield* namesOf(on.control)
    const form = orderingForm(seen.facts, names, "go_on")
    // A form that asks how to pay is what was looked for.
    if (form !== undefined && asksToPay(form)) break
    progress.held = whyHeld(seen, names, progress)
    if (progress.held !== null || !(yield* goOn(tab, seen, on.control, progress, doubt))) break
  }
  return { progress, shipping, doubt, shopper: shopperFor(currency), seen: yield* look(tab) }
})

const addressParts: ReadonlyArray<Meaning> = [
  "line1",
  "city",
  "postalCode",
  "country",
  "email",
  "fullName",
  "firstName"
]

const verdict = ({
  doubt,
  progress,
  seen,
  shipping,
  shopper
}: Effect.Success<ReturnType<typeof walk>>): CheckoutOutcome => {
  const { complaint, filled, impossible, unlabelled, unrecognised } = progress
  const wall = captcha("checkout", seen)
  if (progress.taken === null && wall !== undefined) return totalled(wall)
  if (progress.taken !== null) return totalled(orderTakenAt("checkout", progress.taken, shopper))
  if (doubt.isOpen) {
    const uncertain = orderUncertain("checkout", snippet(seen.text))
    return totalled(unknown("What became of the address that was sent is not known.", snippet(seen.text), [uncertain]))
  }
  if (progress.held !== null) return totalled(heldBackAt(progress.held, seen.text))
  const known = addressParts.filter((part) => filled.has(part))
  const page = snippet(seen.text)
  if (known.length === 0) {
    const detail = "No field of the checkout says by autofill token, name or label what belongs into it."
    return totalled(failed("checkout", "checkout_form_unrecognized", detail, page))
  }
  if (complaint !== null) {
    const missing = unrecognised.size === 0 ? "" : ` Not recognised: ${[...unrecognised].join(", ")}.`
    const id = unrecognised.size === 0 ? "address_rejected" : "checkout_form_unrecognized"
    return totalled(failed("checkout", id, `The checkout does not take what was written.${missing}`, complaint))
  }
  const total = totalIn(seen.text)
  const warnings: Array<Blocker> = []
  if (unlabelled > 0) {
    warnings.push(
      warning("checkout", "labels_missing", `${unlabelled} fields of the checkout have no accessible name.`, page)
    )
  }
  const nowhere = impossible.has("country") && !filled.has("country")
  if (shipping.options.length === 0 && (shipping.none !== undefined || nowhere)) {
    const detail = nowhere
      ? "The list of countries to ship to is empty, so no address can be given."
      : "The checkout offers no way of shipping to a valid address in the country of its currency."
    return totalled(
      failed("checkout", "no_shipping_option", detail, snippet(shipping.none ?? seen.text), warnings),
      total
    )
  }
  if (total === null) {
    const detail = "No total is stated before the payment."
    warnings.push(warning("checkout", "total_unknown_before_payment", detail, page))
  }
  const offered =
    shipping.options.length === 0
      ? "nothing asked about shipping"
      : `shipping: ${shipping.options.slice(0, 5).join("; ")}`
  const sum = total === null ? "" : ` The total is ${total}.`
  return totalled(passed(`As a guest, written: ${[...filled].join(", ")}; ${offered}.${sum}`, page, warnings), total)
}

/** Goes through the checkout as a guest up to where it asks how to pay. */
export const checkOut = Effect.fnUntraced(function* (tab: Tab, cart: URL, currency: string | null, doubt: Doubt) {
  const entered = yield* enter(tab, cart)
  if (entered === undefined) {
    return totalled(
      unknown("No link, button or usual address leads from the cart to a checkout.", snippet(tab.page.url()))
    )
  }
  const refused = refusal("checkout", entered.status, entered.seen)
  if (refused !== undefined) return totalled(refused)
  const seen = yield* asGuest(tab, entered.seen)
  const wall = captcha("checkout", seen)
  if (wall !== undefined) return totalled(wall)
  if (isLogin(seen)) {
    const detail = "The checkout leads to a login, and offers no way around it."
    return totalled(failed("checkout", "account_required", detail, snippet(`${seen.url.href} ${seen.text}`)))
  }
  return verdict(yield* walk(tab, currency, doubt))
})
