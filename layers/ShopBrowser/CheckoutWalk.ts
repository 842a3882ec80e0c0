import { Effect } from "effect"
import type { Locator } from "playwright-core"
import { reviewLink } from "#domain/Deeds.ts"
import { asksToPay, maySendOrder, mayTakeOrder } from "#domain/FormConduct.ts"
import { fulfilmentOf } from "#domain/Fulfilment.ts"
import { isAtPayment, isEnoughToOrder, isStepFurther, listsLaterStep, namesReviewNext } from "#domain/NextStep.ts"
import type { PageFacts } from "#domain/page/PageFacts.ts"
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
import { placeOf } from "./Places.ts"
import { namesOf, ordersById } from "./Press.ts"
import { begun, type Progress } from "./Progress.ts"
import * as Shipping from "./Shipping.ts"
import type { Tab } from "./Tab.ts"
import { wayOn } from "./WayOn.ts"

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
    isOpen,
    steps: page.steps
  }
})

/** Whether the way on said that a look at the order comes next, and the page has the button that orders: nothing is ordered yet. */
const isReview = Effect.fnUntraced(function* (tab: Tab, before: Look, names: ReadonlyArray<string>, after: Look) {
  if (!names.some(namesReviewNext) && !listsLaterStep(before.facts)) return false
  const shown = yield* shownOf(tab, after)
  return after.url.host === before.url.host && shown !== undefined && hasOrderButton(shown)
})

/** Whether a page offers a way to pay, a way on, or a way to ship that was not there before. */
const leadsOn = Effect.fnUntraced(function* (tab: Tab, before: Look, seen: Look) {
  const { choices, none } = yield* offered(tab, seen)
  if (choices.length > 0 || none !== undefined || captcha("checkout", seen) !== undefined) return true
  if ((yield* wayOn(tab, seen)).control !== undefined || reviewLink(seen.facts.links, seen.url) !== undefined)
    return true
  return yield* Shipping.offersMore(tab, before.text)
})

/** Whether a page is at a later step than before, by all that it holds or by what of it can be seen, as `steps` were. */
const isFurtherOn = Effect.fnUntraced(function* (tab: Tab, seen: Look, steps: PageFacts["steps"], after: Look) {
  if (isStepFurther(seen.facts, after.facts)) return true
  if (steps.length === 0) return false
  const shown = yield* shownOf(tab, after)
  return shown !== undefined && isStepFurther({ steps }, shown)
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

/** Before a press: how many boxes were raised and how much was sent, and the steps in sight. */
interface Before {
  readonly alerts: number
  readonly writes: number
  readonly steps: PageFacts["steps"]
}

/** Looks at what became of a press, until that is another step, a refusal, a confirmation, or an order that was stopped. */
const lookAfter = Effect.fnUntraced(function* (
  tab: Tab,
  seen: Look,
  names: ReadonlyArray<string>,
  { alerts, steps, writes }: Before,
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
      (yield* isFurtherOn(tab, seen, steps, after)) ||
      (yield* leadsOn(tab, seen, after)) ||
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
const goOn = Effect.fnUntraced(function* (
  tab: Tab,
  seen: Look,
  control: Locator,
  { doubt, progress, steps }: { readonly doubt: Doubt; readonly progress: Progress; readonly steps: PageFacts["steps"] }
) {
  const names = yield* namesOf(control)
  const [name = "the way on"] = names
  const sentBefore = tab.writes().length
  const before: Before = { alerts: tab.alerts().length, writes: sentBefore, steps }
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
    let way = yield* wayOn(tab, seen)
    // The shop may have to take what was just chosen first.
    const mayOpen = () => way.isWaiting && here.options.length > 0 && progress.waits < mostWaits
    for (let waited = 0; waited < 3 && mayOpen(); waited++) {
      progress.waits++
      yield* tab.rest
      seen = yield* look(tab)
      way = yield* wayOn(tab, seen)
    }
    const { account, aside, control } = way
    progress.aside = aside ?? null
    progress.account = account ?? null
    if (control === undefined) {
      const review = reviewLink(seen.facts.links, seen.url)
      if (review === undefined || stage >= mostStages) {
        // Ways to pay whose names are not known may be there.
        const shown = pressed.size > 0 ? yield* shownOf(tab, seen) : undefined
        progress.hasArrived = shown !== undefined && isAtPayment(shown)
        break
      }
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
    const { held, isOpen, isPayment, steps } = yield* whyHeld(tab, seen, control, progress, told)
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
    const after = yield* goOn(tab, seen, control, { doubt, progress, steps })
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
