import { Effect } from "effect"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import { paymentOffer } from "#domain/page/PaymentOffer.ts"
import { asksToPay, isOfShop, mayTakeOrder } from "#domain/FormConduct.ts"
import { fulfilmentOf } from "#domain/Fulfilment.ts"
import { type Fulfilment, isEnoughToOrder, listsLaterStep } from "#domain/NextStep.ts"
import { orderTaken } from "#domain/OrderTaken.ts"
import { alwaysOrders } from "#domain/OrderingWords.ts"
import { fill, type FilledForm, isField } from "#domain/ShopperForm.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import { isGood, pageIn, type PageSeen, pageFor, wallOf } from "./ApiRail.ts"
import type { Errand } from "./Errand.ts"
import {
  checkoutLink,
  formsFor,
  guestLink,
  heldBack,
  labelOf,
  type Pressable,
  requestFor,
  totalOn
} from "./FormPages.ts"
import {
  cameBack,
  drawnByScripts,
  guestUnsent,
  hasAddressRoles,
  isNewsletter,
  noShipping,
  stuckAt,
  unrecognised
} from "./FormEnds.ts"
import {
  failed,
  heldBackAt,
  orderTakenAt,
  passed,
  refusedBy,
  snippet,
  unanswered,
  unknown,
  unwantedIn,
  warning
} from "./Outcomes.ts"
import { begun, type Bought, ended, type Journey, noteLabels, type Walked } from "./Journey.ts"

/** How many pages a checkout may have before the payment. */
const maxPages = 6

/** The page itself lets choose how to pay; many load a provider's script everywhere, also where an order has been taken. */
const offersToPay = (facts: PageFacts): boolean => facts.forms.some(asksToPay) || paymentOffer(facts).isStated
const isPaying = (facts: PageFacts): boolean => offersToPay(facts) || paymentOffer(facts).methods.length > 0

/** A page's form for contact, address or shipping, with what it would send. */
const nextForm = (seen: PageSeen, shopper: TestShopper): { pressable: Pressable; filled: FilledForm } | undefined => {
  const forms = formsFor(seen.facts, "go_on").map((pressable) => ({
    pressable,
    filled: fill(pressable.form, pressable.button, shopper)
  }))
  return forms.find(({ filled }) => hasAddressRoles(filled) || filled.roles.has("shipping")) ?? forms[0]
}

/** A form that asks for the address or for how to ship. */
const isStep = (form: ReturnType<typeof nextForm>): form is Exclude<typeof form, undefined> =>
  form !== undefined && (hasAddressRoles(form.filled) || form.filled.roles.has("shipping"))

/** What the checkout has asked for and taken. What is downloaded is sold to whoever has an email, without an address. */
const takenOf = ({ given }: Journey): string => {
  const hasAddress = [...given].some((role) => /address|postal|country/.test(role))
  const hasShipping = given.has("shipping")
  if (hasAddress) return hasShipping ? "address and shipping were" : "the address was"
  return hasShipping ? "shipping was" : "who one is was"
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
  const how = journey.hasAddress ? `${takenOf(journey)} taken` : "one page asks for everything; nothing was sent"
  const detail = `As a guest, ${how}. ${total === null ? "No total is stated" : `The total is ${total}`}.`
  const evidence = snippet(total === null ? seen.facts.visibleText : `Total ${total} at ${seen.answer.url.pathname}`)
  return ended(passed(detail, evidence), { ...journey, total }, seen)
}

type Way =
  | { readonly coming: ReturnType<Errand["look"]>; readonly given: ReadonlyArray<string> }
  | { readonly held: string }

/** The way on for guests, once; undefined when there is none. */
const aroundLogin = (
  errand: Errand,
  seen: PageSeen,
  shopper: TestShopper,
  journey: Journey,
  goods: Fulfilment
): Way | undefined => {
  const filled = formsFor(seen.facts, "guest").map((form) => ({
    ...form,
    filled: fill(form.form, form.button, shopper)
  }))
  const mayTake = ({ filled: { roles }, form, label }: (typeof filled)[number]) =>
    mayTakeOrder([...journey.given, ...roles], label, seen.facts, form, goods)
  const form = filled.find((one) => !mayTake(one))
  const link = guestLink(seen.facts)
  if (journey.filled.has("guest")) return undefined
  if (form === undefined && link === undefined) return filled[0] && { held: filled[0].label }
  journey.filled.add("guest")
  if (form !== undefined)
    return {
      coming: errand.submitJudged(requestFor(form, form.filled, seen.answer.url)),
      given: [...form.filled.roles]
    }
  return link && { coming: errand.look(link, { from: seen.answer.url }), given: [] }
}

/** What a form asks for and where: steps of a checkout often share an address, and differ in their fields. */
const stepOf = ({ form }: Pressable): string => {
  const asked = form.controls.filter(isField).map(({ name }) => name ?? "")
  return [form.action, ...new Set(asked)].join(" ")
}

const paysNow = /\bpay\b|bezahl|payer|pagar|paga\b|betal|zapła|zaplat|öde|оплат|支払|支付|付款|결제/iu

/**
 * Whether a page shows that no order was taken yet: it asks for more, offers to pay, refuses, or has a button that orders. One that only
 * asks to pay may be that of an order that waits for its money, unless the page before said that one pays next.
 */
const isBeforeOrder = ({ facts }: PageSeen, form: ReturnType<typeof nextForm>, { isPaidNext }: Journey): boolean =>
  isStep(form) ||
  offersToPay(facts) ||
  noShipping.test(facts.visibleText) ||
  heldBack(
    facts,
    (_, button) =>
      alwaysOrders(labelOf(button)) && (isPaidNext || !paysNow.test(labelOf(button))) && !isNewsletter(labelOf(button))
  ) !== undefined

/** What is done on a page: something that leads to another, or the end of the walk. */
type Move = { readonly coming: ReturnType<Errand["look"]>; readonly sent?: FilledForm } | Walked

const around = (way: Way, journey: Journey): Move => {
  if ("held" in way) return ended(heldBackAt(way.held), journey)
  for (const role of way.given) journey.given.add(role)
  return { coming: way.coming }
}

/** What to do on a page of the checkout. `last` is the form that led to it. */
const moveOn = (
  errand: Errand,
  seen: PageSeen,
  shopper: TestShopper,
  journey: Journey,
  last: FilledForm | undefined
): Move => {
  journey.texts.push(seen.facts.visibleText)
  const goods = fulfilmentOf(journey.thing, journey.texts)
  const wall = wallOf("checkout", seen)
  if (wall !== undefined) {
    const isAccount = wall.blockers.some(({ id }) => id === "account_required")
    const way = isAccount ? aroundLogin(errand, seen, shopper, journey, goods) : undefined
    if (way !== undefined) return around(way, journey)
    return ended((isAccount ? guestUnsent(seen) : undefined) ?? wall, journey)
  }
  journey.total = totalOn(seen.facts) ?? journey.total
  const form = nextForm(seen, shopper)
  const key = form === undefined ? "" : stepOf(form.pressable)
  const isFar = !isOfShop(seen.answer.url, errand.reached().href)
  if (!isFar && isBeforeOrder(seen, form, journey)) journey.isOpen = false
  if (last !== undefined && form !== undefined && journey.filled.has(key)) return ended(cameBack(seen, last), journey)
  if (!isStep(form)) {
    if (isPaying(seen.facts)) return arrived(seen, journey, shopper)
    const way = aroundLogin(errand, seen, shopper, journey, goods)
    return way === undefined ? ended(stuckAt(seen, journey), journey) : around(way, journey)
  }
  const { filled, pressable } = form
  const given = [...journey.given, ...filled.roles]
  if (mayTakeOrder(given, pressable.label, seen.facts, pressable.form, goods))
    return ended(heldBackAt(pressable.label), journey)
  if (filled.unwanted.length > 0) return ended(unwantedIn(filled), journey)
  const drawn = drawnByScripts(seen, filled, shopper)
  if (drawn !== undefined) return ended(drawn, journey)
  for (const role of filled.roles) journey.given.add(role)
  journey.filled.add(key)
  journey.hasAddress ||= hasAddressRoles(filled)
  journey.hasSent = true
  journey.isOpen = isEnoughToOrder(given, goods)
  journey.isPaidNext = listsLaterStep(seen.facts)
  noteLabels(filled, journey)
  return { coming: errand.submitJudged(requestFor(pressable, filled, seen.answer.url)), sent: filled }
}

/** Goes from the cart to the payment by the checkout's own forms, and stops there. */
export const walk = Effect.fnUntraced(function* (
  errand: Errand,
  shopper: TestShopper,
  cart: PageSeen | undefined,
  thing: Bought
) {
  const journey = begun(thing)
  if (cart === undefined) return ended(unknown("There is no cart."), journey)
  journey.texts.push(cart.facts.visibleText)
  let before = cart.facts.visibleText
  const link = checkoutLink(cart.facts)
  const entry = link ?? new URL("/checkout", cart.facts.url)
  let next = yield* pageFor("checkout", errand, entry, { from: cart.answer.url })
  if (link === undefined && isGood(next) && next.answer.status >= 400) {
    const guessed = `Nothing in the cart was recognized as the way to the checkout, and ${entry.pathname} answers ${next.answer.status}.`
    return ended(unknown(guessed, snippet(cart.facts.visibleText)), journey)
  }
  let sent: FilledForm | undefined
  for (let page = 0; page < maxPages; page++) {
    if (!isGood(next)) return ended(next, journey)
    const seen: PageSeen = next
    const text = seen.facts.visibleText
    const leadsOn = !journey.isOpen || isBeforeOrder(seen, nextForm(seen, shopper), journey)
    const taken = page === 0 ? undefined : orderTaken(before, text, { leadsOn })
    if (taken !== undefined) return ended(orderTakenAt("checkout", taken, shopper), journey)
    before = text
    const move = moveOn(errand, seen, shopper, journey, sent)
    if (!("coming" in move)) return move
    sent = move.sent ?? sent
    const outcome = yield* move.coming
    const refused = refusedBy("checkout", outcome)
    if (refused !== undefined) return ended(refused, journey)
    next = outcome._tag === "NoAnswer" ? unanswered("checkout", outcome) : yield* pageIn(errand, outcome)
  }
  return ended(unknown(`The checkout has more than ${maxPages} pages.`), journey)
})
