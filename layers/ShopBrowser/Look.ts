import { Effect, Option } from "effect"
import { isForGuests } from "#domain/FormConduct.ts"
import { guestWay } from "#domain/GuestWords.ts"
import { isGuestWithoutPassword } from "#domain/NextStep.ts"
import { guestMarks } from "#domain/page/Accounts.ts"
import { challengeOf } from "#domain/page/Challenge.ts"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import type { Step } from "#domain/ShoppingTest.ts"
import { failed, snippet } from "#services/ShoppingEngine/Outcomes.ts"
import type { StepOutcome } from "#services/ShoppingEngine/Rail.ts"
import { BrowserFailed } from "./Chromium.ts"
import { htmlOf, shownHtmlOf, textOf } from "./Drawn.ts"
import type { Tab } from "./Tab.ts"

/** A page as it stands now. */
export interface Look {
  readonly url: URL
  readonly html: string
  readonly facts: PageFacts
  /** What a person sees, line by line. */
  readonly text: string
}

export const look = Effect.fnUntraced(function* (tab: Tab) {
  const html = yield* htmlOf(tab.page)
  const text = yield* textOf(tab.page)
  const url = new URL(tab.page.url())
  const facts = yield* Effect.mapError(
    tab.pages.page(html, url),
    ({ message }) => new BrowserFailed({ reason: "Slow", message: `The page could not be read. ${message}` })
  )
  const seen: Look = { url, html, facts, text }
  return seen
})

/**
 * What a page says where it can be seen: a checkout often holds all its steps, and shows one. Undefined when it cannot be read.
 */
export const shownOf = Effect.fnUntraced(function* (tab: Tab, { url }: Look) {
  return Option.getOrUndefined(yield* Effect.option(tab.pages.page(yield* shownHtmlOf(tab.page), url)))
})

const loginPath = /\/(?:log[-_]?in|sign[-_]?in|signin|account\/(?:log|sign|auth)|customer\/account\/log|auth\/log)/i

/** Whether a page is a login that came instead of what was asked. */
export const isLogin = ({ facts, url }: Look): boolean =>
  facts.walls.some(({ kind }) => kind === "account") ||
  (!facts.forms.some((form) => isForGuests(form) || isGuestWithoutPassword(facts, form)) &&
    (loginPath.test(url.pathname) || asksPassword(facts)))

/** A password to be entered, and nowhere to write who or where one is. */
const asksPassword = (facts: PageFacts): boolean =>
  hasField(facts, /^password$/) &&
  !hasField(facts, /^(?:tel|select)$/) &&
  !guestWay.test(facts.visibleText) &&
  guestMarks(facts).length === 0

const hasField = (facts: PageFacts, type: RegExp) =>
  [...facts.controls, ...facts.forms.flatMap(({ controls }) => controls)].some((control) =>
    type.test(control.tag === "select" ? "select" : control.type)
  )

/** What stands between us and a page whatever we want of it: refused, slowed down, asked whether we are a program. */
export const refusal = (step: Step, status: number, seen: Look): StepOutcome | undefined => {
  const evidence = snippet(`${status} ${seen.url.href} ${seen.text.slice(0, 300)}`)
  const challenge = challengeOf(status, new Map(), seen.html)
  if (challenge !== undefined) {
    const what = `${challenge.vendor} asks whether we are a program (${challenge.marker}).`
    return failed(step, "captcha_required", what, evidence)
  }
  if (status === 429) return failed(step, "rate_limited", "The site answers 429: too many requests.", evidence)
  if (status === 451)
    return failed(step, "geo_restricted", "The site answers 451: not available where we are.", evidence)
  return undefined
}

/** A captcha that somebody has to solve on this page. */
export const captcha = (step: Step, { facts, url }: Look): StepOutcome | undefined => {
  const widget = facts.captchas.find(({ visible }) => visible)
  return widget === undefined
    ? undefined
    : failed(step, "captcha_required", `${url.pathname} asks to solve a captcha of ${widget.vendor}.`, widget.marker)
}
