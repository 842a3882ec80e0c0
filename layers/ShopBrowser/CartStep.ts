import { Effect } from "effect"
import { isPriceSaid } from "#domain/ProductChoice.ts"
import { buyingAtOnce, orderingForm, subscribing } from "#domain/FormConduct.ts"
import { orderTaken } from "#domain/OrderTaken.ts"
import { addToCart as adding } from "#domain/page/AddToCart.ts"
import { isQuantity } from "#domain/page/Quantity.ts"
import type { Blocker, BlockerId } from "#domain/ShoppingTest.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import { textWanted } from "#domain/ShopperForm.ts"
import { soldAsSubscription } from "#domain/VisitorWords.ts"
import {
  failed,
  orderTakenAt,
  ownWords,
  passed,
  snippet,
  subscriptionAlone,
  unknown,
  warning
} from "#services/ShoppingEngine/Outcomes.ts"
import type { Candidate, CartOutcome, StepOutcome } from "#services/ShoppingEngine/Rail.ts"
import { findAdding, findWaiting } from "./Adding.ts"
import { untick } from "./Boxes.ts"
import { type CartSeen, openCart } from "./CartPage.ts"
import { choose, type Eagerness } from "./Choices.ts"
import { ask } from "./Chromium.ts"
import { pressThrough, putAway } from "./Covers.ts"
import { captcha, isLogin, type Look, look, refusal } from "./Look.ts"
import { allowed, choiceWanted, languages, soldOut } from "./Names.ts"
import { namesOf } from "./Press.ts"
import { atLeastOne } from "./Quantity.ts"
import type { Tab } from "./Tab.ts"

/** The cart's own address, once it was seen. */
export interface CartDone {
  readonly outcome: CartOutcome
  readonly page: URL | undefined
  /** What was put into it, and what the pages said of it. */
  readonly told: { readonly thing: string; readonly pages: ReadonlyArray<string> }
}

/** What stays ticked is sent with everything else, so nothing is sent. */
export const tickedStill = (label: string): StepOutcome =>
  unknown(`"${label}" is ticked and stays ticked, and a test asks for nothing beside the purchase.`, snippet(label))

const priced = (outcome: StepOutcome, price: string | null = null): CartOutcome => ({ ...outcome, price })

const none = (outcome: StepOutcome): CartDone => ({
  outcome: priced(outcome),
  page: undefined,
  told: { thing: "", pages: [] }
})

/** What a page says of a press that put nothing into the cart. */
const whyNot = (before: Look, after: Look, chosen: ReadonlyArray<string>, made: string): StepOutcome => {
  const wall = captcha("cart", after)
  if (wall !== undefined) return wall
  if (isLogin(after)) {
    return failed("cart", "account_required", "Adding to the cart leads to a login.", snippet(after.url.href))
  }
  // Only what the press made the page say: a list may be called "Choose a size" all the time.
  const known = new Set(before.text.split("\n"))
  const said = after.text
    .split("\n")
    .filter((line) => !known.has(line))
    .join("\n")
  const again = soldAsSubscription(said)
  if (again !== undefined) return subscriptionAlone(again)
  const asked = choiceWanted.exec(said)
  const beside = (match: RegExpExecArray) => snippet(said.slice(Math.max(0, match.index - 60), match.index + 160))
  if (asked !== null) {
    const detail =
      chosen.length === 0
        ? "The page asks for a choice, and has none that can be found by role and name."
        : `The page asks for a choice after ${chosen.join(", ")} was chosen.`
    return failed("cart", "variant_required", detail, beside(asked))
  }
  const gone = soldOut.exec(said)
  const id: BlockerId = gone === null ? "add_to_cart_failed" : "out_of_stock"
  const what =
    gone === null
      ? "The control was pressed and the cart is empty when it is read back."
      : "The page says that none is left."
  return failed("cart", id, what, gone === null ? snippet(made) : beside(gone))
}

/** What shows what it holds only when somebody opens it. */
const closed = "dialog:not([open]), [role=dialog], [aria-modal=true], [popover], details:not([open])"

/** In Korea buttons that add to the cart are often called as the cart is. */
const cartAlone = /^\P{L}*장바구니\P{L}*$/u

const noControl = (seen: Look, isClosed: boolean): StepOutcome => {
  const gone = soldOut.exec(seen.text)
  if (gone !== null) return failed("cart", "out_of_stock", "The page says that none is left.", snippet(gone[0]))
  const language = seen.facts.lang?.slice(0, 2).toLowerCase()
  // What we cannot read says nothing about the shop.
  if (language !== undefined && !languages.has(language)) {
    return unknown(`The page is in a language (${language}) whose controls are not known here.`)
  }
  const [named] = [...seen.facts.controls, ...seen.facts.forms.flatMap(({ controls }) => controls)]
    .map(({ label, value }) => label ?? value ?? "")
    .concat(seen.facts.links.map(({ text }) => text))
    .filter((name) => cartAlone.test(name))
  if (named !== undefined)
    return unknown(`"${named}" may add to the cart or open it, and a test does not press it.`, snippet(named))
  const atOnce = buyingAtOnce(seen.facts)
  if (atOnce !== undefined)
    return unknown(`The page only offers to buy at once, by "${atOnce}", and a test orders nothing.`, snippet(atOnce))
  const again = subscribing(seen.facts)
  if (again !== undefined)
    return unknown(
      `The page only offers a subscription, by "${again}", and a test subscribes to nothing.`,
      snippet(again)
    )
  if (isClosed)
    return unknown(
      "What adds to the cart is in a part of the page that has to be opened first, which a test does not do."
    )
  const detail = "With its scripts run, the page has no button or link that is named for adding to the cart."
  return failed("cart", "add_to_cart_failed", detail, snippet(seen.text))
}

/** How many a product's page adds at once, by its own field, which a test leaves as it is. */
const addedAtOnce = ({ facts }: Look): number => {
  const fields = [...(adding(facts)?.form?.controls ?? []), ...facts.controls].filter(
    (control) => control.tag === "input" && !control.disabled && isQuantity(control)
  )
  const [value] = fields.flatMap(({ value }) => (/^[1-9]\d{0,3}$/.test(value ?? "") ? [Number(value)] : []))
  return value ?? 1
}

const inCart = (candidate: Candidate, seen: CartSeen, chosen: ReadonlyArray<string>, quantity: number): CartOutcome => {
  const { line = "", price } = seen
  const warnings: Array<Blocker> = []
  if (isPriceSaid(price, candidate, quantity) === false)
    warnings.push(warning("cart", "price_changed_in_cart", `Stated ${candidate.price}, in the cart ${price}.`, line))
  if (quantity > 1) {
    const detail = `The product's page puts ${quantity} into the cart at once.`
    warnings.push(warning("cart", "minimum_order", detail, line))
  }
  const choice = chosen.length === 0 ? "" : `, chosen: ${chosen.join(", ")}`
  return priced(passed(`The cart's page shows "${candidate.name}"${choice}.`, line, warnings), price)
}

/** How an attempt ended, how many groups of options it left alone that may have been a choice, and whether its press did nothing at all. */
interface Attempt {
  readonly done: CartDone
  readonly left: number
  readonly isIdle: boolean
  /** What the product's form needs and only a buyer knows. */
  readonly wanted?: string | undefined
}

/** How far an attempt goes, and whether the page's scripts get time first to take over what the server drew. */
interface Manner {
  readonly eagerness: Eagerness
  readonly isPatient: boolean
}

/** What a page says that may stand for what was not chosen. */
const mayWantChoice: ReadonlySet<BlockerId> = new Set(["variant_required", "add_to_cart_failed"])

const attempt = Effect.fnUntraced(function* (
  tab: Tab,
  candidate: Candidate,
  url: URL,
  shopper: TestShopper,
  { eagerness, isPatient }: Manner
) {
  const ended = (outcome: StepOutcome, left = 0, isIdle = false): Attempt => ({ done: none(outcome), left, isIdle })
  const status = yield* tab.goTo(url)
  const before = yield* look(tab)
  const refused = refusal("cart", status, before)
  if (refused !== undefined) return ended(refused)
  if (status >= 400)
    return ended(unknown(`The product's page answered the browser with ${status}.`, snippet(before.text)))
  // Many pages hold a small login beside what they sell.
  if (isLogin(before) && adding(before.facts) === undefined) {
    return ended(failed("cart", "account_required", "The product's page leads to a login.", snippet(before.url.href)))
  }
  // Many shops load the page anew once they have an answer.
  if (yield* putAway(tab.page)) yield* tab.quiet
  if (isPatient) yield* Effect.andThen(tab.rest, tab.rest)
  const button = (yield* findAdding(tab)) ?? (yield* findWaiting(tab))
  if (button === undefined) {
    const adding = tab.page.locator(closed).getByRole("button", { name: allowed.addToCart, includeHidden: true })
    const isClosed = (yield* ask(() => adding.count())) > 0
    return ended(captcha("cart", before) ?? noControl(before, isClosed))
  }
  const { chosen, left } = yield* choose(tab, button.control, candidate, eagerness)
  yield* atLeastOne(tab.page, button.control)
  const extra = yield* untick(tab)
  if (extra !== undefined) return ended(tickedStill(extra))
  // A choice may have drawn the page anew.
  const ready = yield* findAdding(tab)
  if (ready?.enabled !== true) {
    const seen = yield* look(tab)
    const gone = soldOut.exec(seen.text)
    const id = gone === null ? "variant_required" : "out_of_stock"
    const [asking = "a choice"] = ready === undefined ? yield* namesOf(button.control) : []
    const what =
      ready === undefined
        ? `The page says "${asking}" where it would add to the cart, and goes on saying it${chosen.length === 0 ? "" : ` after ${chosen.join(", ")} was chosen`}.`
        : "The control that adds to the cart stays disabled."
    return ended(failed("cart", id, what, snippet(gone?.[0] ?? seen.text)), left)
  }
  if (orderingForm(before.facts, yield* namesOf(ready.control), "add_to_cart") !== undefined)
    return ended(unknown("To press the control that adds to the cart may be to order, so a test does not."))
  const madeBefore = tab.writes().length
  const stoppedBefore = tab.ordersStopped()
  if (!(yield* pressThrough(tab.page, ready.control))) return ended(unknown("The control may not be pressed."))
  yield* tab.quiet
  if (tab.ordersStopped() > stoppedBefore && tab.writes().length === madeBefore)
    return ended(unknown("What the control sends may be an order, so it was stopped."))
  const after = yield* look(tab)
  const taken = orderTaken(before.text, after.text, { leadsOn: true })
  if (taken !== undefined) return ended(orderTakenAt("cart", taken, shopper))
  const made = tab
    .writes()
    .slice(madeBefore)
    .map(({ method, status: answered, url }) => `${method} ${url.pathname} ${answered}`)
  const seen = yield* openCart(tab, after, candidate)
  if (seen === undefined)
    return ended(
      unknown("No page of the shop shows the product beside its price, or an empty cart.", snippet(made.join(", ")))
    )
  if (seen.isLogin)
    return ended(failed("cart", "account_required", "The cart's page leads to a login.", snippet(seen.look.url.href)))
  const isIdle = made.length === 0 && after.text === before.text
  if (seen.line === undefined) {
    const form = adding(before.facts)?.form
    return {
      ...ended(whyNot(before, after, chosen, made.join(", ")), left, isIdle),
      wanted: form == null ? undefined : textWanted(form)
    }
  }
  const told = { thing: candidate.name, pages: [before.text, seen.look.text] }
  const done: CartDone = { outcome: inCart(candidate, seen, chosen, addedAtOnce(before)), page: seen.look.url, told }
  return { done, left, isIdle }
})

/** An attempt that put nothing into the cart, of which the page's own form or what we closed may be the reason. */
const unblamed = (tab: Tab, { done, isIdle, wanted }: Attempt): CartDone => {
  if (done.outcome.status !== "failed" || !done.outcome.blockers.some(({ id }) => mayWantChoice.has(id))) return done
  if (wanted !== undefined) return none(ownWords(wanted))
  if (!isIdle || tab.socketsClosed() === 0) return done
  return none(
    unknown(
      "What the control does may go over a connection of the page's own (WebSocket), which a test does not open.",
      done.outcome.evidence
    )
  )
}

/**
 * Loads the product's page, chooses, adds, and reads the cart back from its own page. A press that did nothing may have come before the
 * page's scripts, and is made once more. What only may be a choice of the product is chosen when nothing was added without it.
 */
export const addToCart = Effect.fnUntraced(function* (tab: Tab, candidate: Candidate, shopper: TestShopper) {
  const { url } = candidate
  if (url === undefined) return none(unknown("The product has no page to be opened."))
  const first = yield* attempt(tab, candidate, url, shopper, { eagerness: "plainly", isPatient: false })
  // Of what was not chosen a page may say as well that none is left.
  const isWanting = first.done.outcome.blockers.some(
    ({ id }) => mayWantChoice.has(id) || (id === "out_of_stock" && first.left > 0)
  )
  if (!isWanting) return first.done
  const eagerness = first.left === 0 ? "plainly" : "maybe"
  const last =
    first.left === 0 && !first.isIdle
      ? first
      : yield* attempt(tab, candidate, url, shopper, { eagerness, isPatient: first.isIdle })
  return unblamed(tab, last)
})
