import { Effect } from "effect"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import { paymentOffer } from "#domain/page/PaymentOffer.ts"
import { asksToPay, asksWhereTo, mayBeWholeOrder, serves } from "#domain/FormConduct.ts"
import { fill, type FilledForm, isField, roleOf } from "#domain/ShopperForm.ts"
import type { Blocker } from "#domain/ShoppingTest.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import { isGood, pageIn, type PageSeen, pageFor, wallOf } from "./ApiRail.ts"
import type { Errand } from "./Errand.ts"
import {
  checkoutAddress,
  formsFor,
  guestLink,
  heldBack,
  isCartPath,
  labelOf,
  type Pressable,
  requestFor,
  totalOn
} from "./FormPages.ts"
import { failed, passed, refusedBy, snippet, unanswered, unknown, warning } from "./Outcomes.ts"
import type { CheckoutOutcome, StepOutcome } from "./Rail.ts"

/** How many pages a checkout may have before the payment. */
const maxPages = 6

/** What was learnt on the way. */
interface Journey {
  readonly filled: Set<string>
  readonly warnings: Array<Blocker>
  total: string | null
  hasAddress: boolean
}

/** Where the checkout led: `at` is the page of the payment, when it was reached. */
export interface Walked {
  readonly at: PageSeen | undefined
  readonly outcome: CheckoutOutcome
}

const noShipping =
  /no (?:shipping|delivery) (?:options?|methods?|rates?)[^.]{0,60}(?:available|found)?|(?:cannot|can't|do not|don't) (?:ship|deliver) to[^.]{0,60}|no shipping available|keine versandart/i
const alertText =
  /(?:could not|couldn't|cannot|unable to|is not|isn't|not a|please enter a|invalid|ungültig)[^.]{0,40}(?:address|verif|valid|zip|post(?:al )?code|deliver)[^.]{0,60}/i

const isPaying = (facts: PageFacts): boolean => {
  const { isStated, methods } = paymentOffer(facts)
  return facts.forms.some(asksToPay) || isStated || methods.length > 0
}

const ended = (outcome: StepOutcome, journey: Journey): Walked => ({
  at: undefined,
  outcome: { ...outcome, blockers: [...journey.warnings, ...outcome.blockers], total: journey.total }
})

const hasAddressRoles = ({ roles }: FilledForm): boolean =>
  (["email", "postal-code", "street-address", "address-line1"] as const).some((role) => roles.has(role))

/** A page's form for contact, address or shipping, with what it would send. */
const nextForm = (seen: PageSeen, shopper: TestShopper): { pressable: Pressable; filled: FilledForm } | undefined => {
  const forms = formsFor(seen.facts, "go_on").map((pressable) => ({
    pressable,
    filled: fill(pressable.form, pressable.button, shopper)
  }))
  return forms.find(({ filled }) => hasAddressRoles(filled) || filled.roles.has("shipping")) ?? forms[0]
}

/** Fields that nobody can name: too many of them, or nothing that a checkout must ask for. */
const unrecognised = (seen: PageSeen): StepOutcome | undefined => {
  const fields = seen.facts.forms.flatMap((form) => (form.role === "search" ? [] : form.controls.filter(isField)))
  const asking = fields.filter(({ tag, type }) => tag === "input" && !/search|radio|checkbox|number/.test(type))
  if (asking.length === 0) return undefined
  const named = asking.filter((field) => roleOf(field) !== undefined || /^cc-/.test(field.autocomplete ?? ""))
  if (named.length > 0) return undefined
  const names = asking.slice(0, 8).map((field) => field.name ?? field.id ?? "?")
  const detail = `None of the ${asking.length} fields of the checkout says what it asks for: ${names.join(", ")}.`
  return failed("checkout", "checkout_form_unrecognized", detail, snippet(names.join(", ")))
}

const noteLabels = ({ nameless }: FilledForm, journey: Journey) => {
  if (nameless.length === 0 || journey.warnings.some(({ id }) => id === "labels_missing")) return
  const names = nameless.slice(0, 8).map((field) => field.name ?? field.id ?? "?")
  const detail = `${nameless.length} fields of the checkout have no label: ${names.join(", ")}.`
  journey.warnings.push(warning("checkout", "labels_missing", detail, snippet(names.join(", "))))
}

/** The payment is in sight: the checkout is done, if what it had to ask was asked. */
const arrived = (seen: PageSeen, journey: Journey, shopper: TestShopper): Walked => {
  const refused = noShipping.exec(seen.facts.visibleText)?.[0]
  if (refused !== undefined) {
    return ended(failed("checkout", "no_shipping_option", `The checkout says: ${refused}.`, snippet(refused)), journey)
  }
  const forms = seen.facts.forms.map((form) => fill(form, undefined, shopper))
  const onPage = forms.find(hasAddressRoles)
  if (!journey.hasAddress && onPage === undefined) {
    const stuck = unrecognised(seen)
    if (stuck !== undefined) return ended(stuck, journey)
  }
  if (onPage !== undefined) noteLabels(onPage, journey)
  const total = totalOn(seen.facts) ?? journey.total
  if (total === null) {
    const detail = "The total is not stated before the payment."
    journey.warnings.push(warning("checkout", "total_unknown_before_payment", detail, snippet(seen.facts.visibleText)))
  }
  const how = journey.hasAddress ? "address and shipping were taken" : "one page asks for everything; nothing was sent"
  const detail = `As a guest, ${how}. ${total === null ? "No total is stated" : `The total is ${total}`}.`
  const evidence = snippet(total === null ? seen.facts.visibleText : `Total ${total} at ${seen.answer.url.pathname}`)
  return { at: seen, outcome: { ...passed(detail, evidence, journey.warnings), total } }
}

/** The way on for guests, once; undefined when there is none. */
const aroundLogin = (errand: Errand, seen: PageSeen, shopper: TestShopper, journey: Journey) => {
  const form = formsFor(seen.facts, "guest").find((one) => !mayBeWholeOrder(one.form, one.label, seen.facts))
  const link = guestLink(seen.facts)
  if (journey.filled.has("guest") || (form === undefined && link === undefined)) return undefined
  journey.filled.add("guest")
  if (form === undefined) return link === undefined ? undefined : errand.look(link)
  return errand.submitJudged(requestFor(form, fill(form.form, form.button, shopper), seen.answer.url))
}

const notSent = (label: string): StepOutcome =>
  unknown(`To send the form of "${label}" may be to order, so a test does not.`, snippet(label))

/** Ours to refuse: a form that asks where to ship to and may be the order itself. It says nothing about the shop. */
const unsent = ({ facts }: PageSeen): StepOutcome | undefined => {
  const held = heldBack(facts, (form) => asksWhereTo(form) && !form.controls.some(({ type }) => type === "password"))
  return held === undefined ? undefined : notSent(labelOf(held))
}

/** The same of a way for guests. */
const guestUnsent = ({ facts }: PageSeen): StepOutcome | undefined => {
  const held = heldBack(facts, (form, button) => serves(form, labelOf(button), "guest"))
  return held === undefined ? undefined : notSent(labelOf(held))
}

/** Why a page leads nowhere. */
const stuckAt = (seen: PageSeen, journey: Journey): StepOutcome => {
  const { answer, facts } = seen
  const text = snippet(facts.visibleText)
  const refused = noShipping.exec(facts.visibleText)?.[0]
  if (refused !== undefined)
    return failed("checkout", "no_shipping_option", `The checkout says: ${refused}.`, snippet(refused))
  const refusedByUs = unsent(seen)
  if (refusedByUs !== undefined) return refusedByUs
  const unnamed = unrecognised(seen)
  if (unnamed !== undefined) return unnamed
  if (facts.clientOnly !== null || facts.scripts.length > 0) {
    const detail = `${answer.url.pathname} shows its form only to scripts.`
    return failed("checkout", "javascript_wall", detail, snippet(facts.clientOnly?.marker) ?? text)
  }
  if (journey.hasAddress) return unknown(`What ${answer.url.pathname} asks for is not known.`, text)
  const where = isCartPath(answer.url) ? "sends us back to the cart" : `has no form that can be sent (${answer.status})`
  return failed("checkout", "checkout_form_unrecognized", `The checkout ${where}.`, text)
}

/** A form that came back: what it says is wrong. */
const cameBack = (seen: PageSeen, filled: FilledForm): StepOutcome => {
  const text = seen.facts.visibleText
  const refused = noShipping.exec(text)?.[0]
  if (refused !== undefined || (filled.roles.has("shipping") && !hasAddressRoles(filled))) {
    const detail = refused === undefined ? "No way of shipping is taken." : `The checkout says: ${refused}.`
    return failed("checkout", "no_shipping_option", detail, snippet(refused ?? text))
  }
  const said = alertText.exec(text)?.[0]
  if (filled.unrecognised.some(({ required }) => required)) {
    const names = filled.unrecognised.map(labelOf).join(", ")
    return failed(
      "checkout",
      "checkout_form_unrecognized",
      `Required fields are not known: ${names}.`,
      snippet(said ?? text)
    )
  }
  if (said !== undefined) return failed("checkout", "address_rejected", `The checkout says: ${said}.`, snippet(said))
  const silent = "The form with a valid address comes back, and the page does not say why"
  return seen.facts.scripts.length > 0
    ? failed("checkout", "javascript_wall", `${silent}; its scripts may do what a form does not.`, snippet(text))
    : failed("checkout", "address_rejected", `${silent}.`, snippet(text))
}

/** What a form asks for and where: steps of a checkout often share an address, and differ in their fields. */
const stepOf = ({ form }: Pressable): string => {
  const asked = form.controls.filter(isField).map(({ name }) => name ?? "")
  return [form.action, ...new Set(asked)].join(" ")
}

/** Goes from the cart to the payment by the checkout's own forms, and stops there. */
export const walk = Effect.fnUntraced(function* (errand: Errand, shopper: TestShopper, cart: PageSeen | undefined) {
  const journey: Journey = { filled: new Set(), warnings: [], total: null, hasAddress: false }
  if (cart === undefined) return ended(unknown("There is no cart."), journey)
  let next = yield* pageFor("checkout", errand, checkoutAddress(cart.facts))
  let sent: FilledForm | undefined
  for (let page = 0; page < maxPages; page++) {
    if (!isGood(next)) return ended(next, journey)
    const seen: PageSeen = next
    let coming: ReturnType<Errand["look"]> | undefined
    const wall = wallOf("checkout", seen)
    if (wall !== undefined) {
      const isAccount = wall.blockers.some(({ id }) => id === "account_required")
      const way = isAccount ? aroundLogin(errand, seen, shopper, journey) : undefined
      if (way === undefined) return ended((isAccount ? guestUnsent(seen) : undefined) ?? wall, journey)
      coming = way
    } else {
      journey.total = totalOn(seen.facts) ?? journey.total
      const form = nextForm(seen, shopper)
      const key = form === undefined ? "" : stepOf(form.pressable)
      if (sent !== undefined && form !== undefined && journey.filled.has(key))
        return ended(cameBack(seen, sent), journey)
      if (form === undefined || (!hasAddressRoles(form.filled) && !form.filled.roles.has("shipping"))) {
        if (isPaying(seen.facts)) return arrived(seen, journey, shopper)
        coming = aroundLogin(errand, seen, shopper, journey)
        if (coming === undefined) return ended(stuckAt(seen, journey), journey)
      } else {
        const { form: asking, label } = form.pressable
        if (mayBeWholeOrder(asking, label, seen.facts)) return ended(notSent(label), journey)
        journey.filled.add(key)
        journey.hasAddress ||= hasAddressRoles(form.filled)
        noteLabels(form.filled, journey)
        sent = form.filled
        coming = errand.submitJudged(requestFor(form.pressable, form.filled, seen.answer.url))
      }
    }
    const outcome = yield* coming
    const refused = refusedBy("checkout", outcome)
    if (refused !== undefined) return ended(refused, journey)
    next = outcome._tag === "NoAnswer" ? unanswered("checkout", outcome) : yield* pageIn(errand, outcome)
  }
  return ended(unknown(`The checkout has more than ${maxPages} pages.`), journey)
})
