import { Effect } from "effect"
import type { Locator } from "playwright-core"
import { reviewLink } from "#domain/Deeds.ts"
import { asksToPay, isForGuests, maySendOrder, mayTakeOrder } from "#domain/FormConduct.ts"
import { fulfilmentOf } from "#domain/Fulfilment.ts"
import { isEnoughToOrder, isStepFurther, listsLaterStep, namesReviewNext } from "#domain/NextStep.ts"
import { totalIn } from "#domain/page/Total.ts"
import { orderTaken } from "#domain/OrderTaken.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import { any } from "#domain/WordPatterns.ts"
import { agree, untick } from "./Boxes.ts"
import type { CartDone } from "./CartStep.ts"
import { pressOn } from "./Covers.ts"
import { complaints } from "./Complaints.ts"
import { fillAll } from "./Filling.ts"
import { captcha, type Look, look, shownOf } from "./Look.ts"
import { openLists } from "./OpenCart.ts"
import { hasOrderButton, offered } from "./PaymentStep.ts"
import { makesAccount, placeOf, whyAside } from "./Places.ts"
import { find, namesOf, ordersById } from "./Press.ts"
import { begun, type Progress } from "./Progress.ts"
import * as Shipping from "./Shipping.ts"
import type { Tab } from "./Tab.ts"

/** Whether what was sent last is enough for an order, and neither a later step nor a confirmation was seen since. */
export interface Doubt {
  isOpen: boolean
}

/** Who walks, with what in the cart. */
export interface Walker {
  readonly shopper: TestShopper
  readonly told: CartDone["told"]
  readonly doubt: Doubt
}

/** How many pages or stages a checkout may have. */
const mostStages = 5

/** The way on from a page: the first control of such a name whose form is one of the checkout. */
const wayOn = Effect.fnUntraced(function* (tab: Tab, seen: Look) {
  let aside: string | undefined
  let account: string | undefined
  const search = find(tab.page, "goOn", undefined, (control, names) =>
    Effect.map(placeOf(tab, seen, control), (place) => {
      const why = whyAside(place, names, seen)
      aside ??= why
      if (makesAccount(place)) account ??= names[0]
      return why === undefined
    })
  )
  const first = yield* search
  // Some cannot be pressed before the terms are agreed to.
  const found = first?.enabled === false && (yield* agree(tab, first.control)) ? yield* search : first
  const isAccount = found === undefined && !seen.facts.forms.some(isForGuests)
  return {
    control: found?.enabled === true ? found.control : undefined,
    aside: found === undefined ? aside : undefined,
    account: isAccount ? account : undefined
  }
})

/** Why a control that goes on is not pressed; null when it may be. */
const whyHeld = Effect.fnUntraced(function* (
  tab: Tab,
  seen: Look,
  control: Locator,
  { filled }: Progress,
  { thing, pages }: Walker["told"]
) {
  const names = yield* namesOf(control)
  const { form, isLoose } = yield* placeOf(tab, seen, control)
  const button = form.controls.find(({ label, type }) => type !== "hidden" && names.includes(label ?? ""))
  const goods = fulfilmentOf(thing, [...pages, seen.text])
  const own = isLoose ? undefined : form
  const isOpen = isEnoughToOrder(filled, goods)
  const isAsking = own !== undefined && asksToPay(own)
  // A step that is not shown yet looks like the current one in the page's source.
  const shown = isOpen || isAsking ? yield* shownOf(tab, seen) : undefined
  const page = { url: seen.facts.url, steps: shown?.steps ?? seen.facts.steps }
  const isHeld =
    (yield* ordersById(control)) ||
    (own !== undefined && names.some((name) => maySendOrder(own, name, "go_on", button, page))) ||
    names.every((name) => mayTakeOrder(filled, name, page, own, goods))
  return {
    held: isHeld ? (names[0] ?? "the way on") : null,
    // A form that asks how to pay is what was looked for, if it does that in sight.
    isPayment: isAsking && shown?.forms.some(asksToPay) === true,
    isOpen
  }
})

/** Whether the way on said that a look at the order comes next, and the page has the button that orders: nothing is ordered yet. */
const isReview = Effect.fnUntraced(function* (tab: Tab, before: Look, names: ReadonlyArray<string>, after: Look) {
  if (!names.some(namesReviewNext) && !listsLaterStep(before.facts)) return false
  const shown = yield* shownOf(tab, after)
  return after.url.host === before.url.host && shown !== undefined && hasOrderButton(shown)
})

/** Whether a page offers a way to pay, a way to ship, or a way on. */
const leadsOn = Effect.fnUntraced(function* (tab: Tab, seen: Look) {
  const { choices, none } = yield* offered(tab, seen)
  if (choices.length > 0 || none !== undefined || captcha("checkout", seen) !== undefined) return true
  return (yield* wayOn(tab, seen)).control !== undefined || reviewLink(seen.facts.links, seen.url) !== undefined
})

/** Whether the shop took anything that was sent since. */
const hasTaken = (tab: Tab, sentBefore: number): boolean =>
  tab
    .writes()
    .slice(sentBefore)
    .some(({ status }) => status < 400)

/** Whether the shop took what was sent and shows the same page: that is no other step, and what became of it is not known. */
const isTakenSilently = (tab: Tab, sentBefore: number, seen: Look, after: Look): boolean =>
  after.url.href === seen.url.href && after.text === seen.text && hasTaken(tab, sentBefore)

/**
 * How often pages of one checkout are looked at again that show nothing yet: rates of carriers are often asked for seconds after the
 * address was taken. All of it has to fit into the time of a flow, or nothing is known of the checkout.
 */
const mostWaits = 6

/** Whether the page went where a test does not go: what would have ordered was stopped. */
const isStopped = (tab: Tab): boolean => tab.page.url().startsWith("chrome-error:")

/** What a box says that refuses; another may as well tell of an order. */
const refusing = any(
  "\\b(?:please|invalid|required|incorrect|error|must|cannot|can['’]t|unable|not\\s+(?:valid|available|allowed))\\b",
  "bitte|ungültig|erforderlich|pflichtfeld|fehler|veuillez|obligatoire|erreur|por\\s+favor|obligatori[oa]|errore?\\b|verplicht|ongeldig"
)

/** Looks at what became of a press, until that is another step, a refusal, a confirmation, or an order that was stopped. */
const lookAfter = Effect.fnUntraced(function* (
  tab: Tab,
  seen: Look,
  names: ReadonlyArray<string>,
  { alerts, writes }: Record<"alerts" | "writes", number>,
  progress: Progress
) {
  for (;;) {
    if (isStopped(tab)) return undefined
    const after = yield* look(tab)
    // A page that did not change says why in a box that it raised, or in what stood there before.
    const isSame = after.text === seen.text
    const box = tab.alerts()[alerts]
    const isRefusal = box !== undefined && isSame && refusing.test(box)
    const complaint = isRefusal ? box : yield* complaints(tab, isSame ? "" : seen.text)
    const isFurther =
      complaint !== null ||
      isStepFurther(seen.facts, after.facts) ||
      (yield* leadsOn(tab, after)) ||
      (yield* isReview(tab, seen, names, after))
    const isSilent = complaint === null && isTakenSilently(tab, writes, seen, after)
    const isSettled = isFurther && !isSilent
    const isOver = isSettled || orderTaken(seen.text, after.text, { leadsOn: false }) !== undefined
    if (isOver || progress.waits >= mostWaits) return { after, complaint, isFurther, isSilent }
    progress.waits++
    yield* tab.rest
  }
})

/** Goes on, and looks at what became of it. */
const goOn = Effect.fnUntraced(function* (tab: Tab, seen: Look, control: Locator, progress: Progress, doubt: Doubt) {
  const names = yield* namesOf(control)
  const [name = "the way on"] = names
  const sentBefore = tab.writes().length
  const before = { alerts: tab.alerts().length, writes: sentBefore }
  if (!(yield* pressOn(tab.page, control))) {
    doubt.isOpen = false
    return { goesOn: false, seen }
  }
  yield* tab.quiet
  const looked = yield* lookAfter(tab, seen, names, before, progress)
  if (looked === undefined) {
    progress.held = name
    // What was stopped may as well be the page that tells of an order that was taken before.
    doubt.isOpen &&= hasTaken(tab, sentBefore)
    return { goesOn: false, seen }
  }
  const { after, complaint, isFurther, isSilent } = looked
  progress.complaint = complaint
  const boxes = tab.alerts().slice(before.alerts)
  progress.taken =
    orderTaken(seen.text, [after.text, ...boxes].join("\n"), { leadsOn: !doubt.isOpen || isFurther }) ?? null
  if (isFurther && !isSilent && after.url.host === seen.url.host) doubt.isOpen = false
  return { goesOn: progress.complaint === null && progress.taken === null, seen: after }
})

/** What the shop refused of what was asked for since, as a line. */
const refusedSince = (tab: Tab, before: number): string | null => {
  const refused = tab
    .writes()
    .slice(before)
    .findLast(({ status }) => status >= 400 && status < 500)
  return refused === undefined ? null : `${refused.method} ${refused.url.pathname} answers ${refused.status}`
}

/** Fills, chooses how to ship and goes on, until the ways to pay are in sight or nothing leads further. */
export const walk = Effect.fnUntraced(function* (tab: Tab, entered: Look, { doubt, shopper, told }: Walker) {
  const progress = begun(shopper)
  let shipping: Shipping.Shipping = { options: [], none: undefined }
  const writes = tab.writes().length
  const pressed = new Set<string>()
  let answer: string | null = null
  let isUnsent = false
  let seen = entered
  for (let stage = 0; ; stage++) {
    const hasWritten = yield* fillAll(tab, seen, progress)
    if (isStopped(tab)) {
      progress.aside = "What the page sends when its fields are written may be an order, so it was stopped."
      break
    }
    let here = yield* Shipping.choose(tab)
    seen = yield* look(tab)
    // What is shipped how, and so what all of it costs, may be asked for when the address is written.
    const mayCome = progress.filled.size > 0 && here.options.length === 0
    if (mayCome && totalIn(seen.text) === null && progress.waits < mostWaits) {
      progress.waits++
      yield* tab.rest
      here = yield* Shipping.choose(tab)
      seen = yield* look(tab)
    }
    if (here.options.length > 0 || here.none !== undefined) shipping = here
    if (captcha("checkout", seen) !== undefined) break
    const { choices, none } = yield* offered(tab, seen)
    progress.hasArrived = choices.length > 0 || none !== undefined
    if (progress.hasArrived) break
    const { account, aside, control } = yield* wayOn(tab, seen)
    progress.aside = aside ?? null
    progress.account = account ?? null
    if (control === undefined) {
      const review = reviewLink(seen.facts.links, seen.url)
      if (review === undefined || stage >= mostStages) break
      yield* tab.goTo(review, seen.url)
      seen = yield* look(tab)
      continue
    }
    const [name = "the way on"] = yield* namesOf(control)
    // The same button of the same page again: it leads nowhere, unless it sent nothing while something was missing that has come since.
    const place = `${name} ${seen.url.href} ${seen.text}`
    if ((pressed.has(place) && !(hasWritten && isUnsent)) || stage >= mostStages) {
      progress.stuck = { name, answer }
      break
    }
    const { held, isOpen, isPayment } = yield* whyHeld(tab, seen, control, progress, told)
    progress.hasArrived = isPayment
    if (isPayment) break
    progress.held = held
    if (held !== null) break
    progress.ticked = (yield* untick(tab)) ?? null
    if (progress.ticked !== null) break
    yield* agree(tab, control)
    const before = tab.writes().length
    pressed.add(place)
    doubt.isOpen = isOpen
    const after = yield* goOn(tab, seen, control, progress, doubt)
    seen = after.seen
    if (!after.goesOn) break
    isUnsent = tab.writes().length === before
    answer = refusedSince(tab, before)
    const listed = yield* openLists(tab, seen)
    if (listed !== undefined) shipping = listed
  }
  const hasSent = pressed.size > 0 || tab.writes().length > writes
  return { progress, shipping, doubt, hasSent, seen }
})
