import { Effect } from "effect"
import { refusesGuests } from "#domain/GuestWords.ts"
import { accountWall } from "#domain/page/Accounts.ts"
import { openingOf } from "#domain/page/Document.ts"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import { isPriceSaid } from "#domain/ProductChoice.ts"
import type { Blocker, BlockerId, Step } from "#domain/ShoppingTest.ts"
import type { NoAnswer, SiteAnswer, SiteRequest } from "../SiteVisits.ts"
import type { Errand, JsonAnswer } from "./Errand.ts"
import { evidenceOf, failed, inTrouble, passed, refusedBy, snippet, unanswered, unknown, warning } from "./Outcomes.ts"
import type { Candidate, CartOutcome, CheckoutOutcome, StepOutcome } from "./Rail.ts"

/** A line of a cart as an interface reads it back. */
export interface CartLine {
  readonly id: string
  readonly quantity: number
  readonly price: string | null
}

/** What the rails over platforms' interfaces have in common. */
export const jsonPost = (url: string | URL, body: unknown, headers: SiteRequest["headers"] = []): SiteRequest => ({
  method: "POST",
  url,
  headers: [["Content-Type", "application/json"], ...headers],
  body: JSON.stringify(body)
})

/** An answer that is good for its value; else why it is not. `refusal` names the blocker when the interface said no. */
export const valueOf = <A>(
  step: Step,
  refusal: BlockerId,
  said: JsonAnswer<A> | NoAnswer
): { readonly value: A; readonly answer: SiteAnswer } | StepOutcome => {
  if ("_tag" in said) return unanswered(step, said)
  const { answer, value } = said
  const refused = refusedBy(step, answer)
  if (refused !== undefined) return refused
  if (value !== undefined && answer.status >= 200 && answer.status < 300) return { value, answer }
  const path = answer.url.pathname
  if (answer.status === 401 || (answer.status === 403 && refusal === "account_required")) {
    return failed(step, "account_required", `${path} asks who we are.`, evidenceOf(answer))
  }
  if (answer.status >= 400 && refusesGuests.test(openingOf(answer.document, 2_000))) {
    return failed(step, "account_required", `${path} sells to nobody without an account.`, evidenceOf(answer))
  }
  const detail =
    value === undefined && answer.status < 300 ? "with something else than it documents" : "and did not do it"
  return failed(step, refusal, `${path} answered ${answer.status} ${detail}.`, evidenceOf(answer))
}

/** Whether `valueOf` gave a value. */
export const isGood = <A>(good: A | StepOutcome): good is A =>
  !(typeof good === "object" && good !== null && "blockers" in good)

/** The cart as it was read back against what was put in: one line, that item, quantity 1; another price is a warning. */
export const assertCart = (
  candidate: Candidate,
  wanted: string,
  lines: ReadonlyArray<CartLine>,
  evidence: string | null,
  warnings: ReadonlyArray<Blocker> = []
): CartOutcome => {
  const line = lines.find(({ id }) => id === wanted)
  if (lines.length === 0) {
    const detail = "The shop took the item and its cart is empty when it is read back."
    return { ...failed("cart", "add_to_cart_failed", detail, evidence, warnings), price: null }
  }
  if (line === undefined || lines.length > 1 || line.quantity !== 1) {
    const detail = `The cart does not hold this item once: ${lines.length} lines, quantity ${line?.quantity ?? 0}.`
    return { ...failed("cart", "add_to_cart_failed", detail, evidence, warnings), price: null }
  }
  const changed: ReadonlyArray<Blocker> =
    isPriceSaid(line.price, candidate) === false
      ? [warning("cart", "price_changed_in_cart", `Stated ${candidate.price}, in the cart ${line.price}.`, evidence)]
      : []
  const detail = `The cart holds "${candidate.name}" once${line.price === null ? "" : ` at ${line.price}`}.`
  return { ...passed(detail, evidence, [...warnings, ...changed]), price: line.price }
}

/** A page of the shop, read. */
export interface PageSeen {
  readonly answer: SiteAnswer
  readonly facts: PageFacts
}

/** An answer as a page. One that takes more to read than we give it says nothing about the shop; `isCut` says of one that it goes on. */
export const pageIn = (errand: Errand, answer: SiteAnswer): Effect.Effect<PageSeen | StepOutcome> =>
  Effect.match(errand.pages.page(answer.document, answer.url), {
    onSuccess: (facts): PageSeen | StepOutcome => ({
      answer,
      facts: answer.isTruncated ? { ...facts, isCut: true } : facts
    }),
    onFailure: ({ message }) => unknown(`${answer.url.pathname} could not be read. ${message}`, evidenceOf(answer))
  })

/** A page that a step needs, or why it cannot be worked with. A server in trouble says nothing about how its shop is otherwise. */
export const pageFor = (
  step: Step,
  errand: Errand,
  url: string | URL,
  options: Parameters<Errand["look"]>[1] = {}
): Effect.Effect<PageSeen | StepOutcome> =>
  Effect.flatMap(errand.look(url, options), (outcome) => {
    const refused = refusedBy(step, outcome)
    if (refused !== undefined) return Effect.succeed(refused)
    if (outcome._tag === "NoAnswer") return Effect.succeed(unanswered(step, outcome))
    return outcome.status >= 500 ? Effect.succeed(inTrouble(outcome)) : pageIn(errand, outcome)
  })

/** What stands between a buyer and a page of the checkout: a login, or a captcha to solve. */
export const wallOf = (step: Step, { answer, facts }: PageSeen): StepOutcome | undefined => {
  const captcha = facts.captchas.find(({ visible }) => visible)
  if (captcha !== undefined) {
    const detail = `${answer.url.pathname} asks to solve a captcha of ${captcha.vendor}.`
    return failed(step, "captcha_required", detail, snippet(captcha.marker))
  }
  const account = facts.walls.find(({ kind }) => kind === "account")?.marker ?? accountWall(facts, answer.url)
  if (answer.status === 401 || account !== undefined) {
    const detail = `${answer.redirects[0]?.from.pathname ?? answer.url.pathname} leads to a login, and no way around it is offered.`
    return failed(step, "account_required", detail, snippet(account ?? `${answer.status} ${answer.url.href}`))
  }
  return undefined
}

/**
 * The checkout's page behind an interface that did everything else: whether a guest may see it. A page that is not there says nothing,
 * as interfaces are there for shops that have their checkout elsewhere.
 */
export const lookAtCheckout = (errand: Errand, path: string): Effect.Effect<PageSeen | StepOutcome | undefined> =>
  Effect.map(pageFor("checkout", errand, path), (seen) => {
    if (!isGood(seen)) return seen.status === "unknown" ? undefined : seen
    const wall = wallOf("checkout", seen)
    if (wall !== undefined) return wall
    return seen.answer.status >= 200 && seen.answer.status < 300 ? seen : undefined
  })

/** A checkout that went through: address taken, shipping known, a total. */
export const checkedOut = (
  total: string | null,
  shipping: string,
  evidence: string | null,
  warnings: ReadonlyArray<Blocker> = []
): CheckoutOutcome => {
  const late: ReadonlyArray<Blocker> =
    total === null
      ? [warning("checkout", "total_unknown_before_payment", "The total is not stated before the payment.", evidence)]
      : []
  const sum = total === null ? "No total is stated" : `The total is ${total}`
  return { ...passed(`As a guest, ${shipping}. ${sum}.`, evidence, [...warnings, ...late]), total }
}
