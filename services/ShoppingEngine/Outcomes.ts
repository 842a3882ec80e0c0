import { openingOf } from "#domain/page/Document.ts"
import type { Blocker, BlockerId, Step } from "#domain/ShoppingTest.ts"
import type { FilledForm } from "#domain/ShopperForm.ts"
import type { OrderTaken } from "#domain/OrderTaken.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import type { NoAnswer, SiteAnswer, SiteOutcome } from "../SiteVisits.ts"
import type { StepOutcome } from "./Rail.ts"

/** At most 300 characters of a text, its spaces folded. */
export const snippet = (text: string | null | undefined): string | null => {
  // Letters without a meaning are signs of the shop's own font.
  const folded = (text ?? "")
    .slice(0, 2_000)
    .replace(/[\s\p{Co}]+/gu, " ")
    .trim()
  return folded === "" ? null : folded.slice(0, 300).toWellFormed()
}

/** What an answer said, for a report. */
export const evidenceOf = (answer: SiteAnswer): string | null =>
  snippet(`${answer.status} ${answer.url.href} ${openingOf(answer.document, 1200).slice(0, 300)}`)

export const blocking = (step: Step, id: BlockerId, detail: string, evidence: string | null = null): Blocker => ({
  id,
  severity: "blocking",
  step,
  detail,
  evidence
})
export const warning = (step: Step, id: BlockerId, detail: string, evidence: string | null = null): Blocker => ({
  id,
  severity: "warning",
  step,
  detail,
  evidence
})

export const passed = (
  detail: string,
  evidence: string | null,
  blockers: ReadonlyArray<Blocker> = []
): StepOutcome & { readonly status: "passed" } => ({ status: "passed", detail, evidence, blockers })

/** A step that stops at one blocker, after the warnings that came before it. */
export const failed = (
  step: Step,
  id: BlockerId,
  detail: string,
  evidence: string | null = null,
  warnings: ReadonlyArray<Blocker> = []
): StepOutcome & { readonly status: "failed" } => ({
  status: "failed",
  detail,
  evidence,
  blockers: [...warnings, blocking(step, id, detail, evidence)]
})

export const unknown = (
  detail: string,
  evidence: string | null = null,
  blockers: ReadonlyArray<Blocker> = []
): StepOutcome & { readonly status: "unknown" } => ({ status: "unknown", detail, evidence, blockers })

/** Ours to refuse, where nothing shows that another step comes before the order. It says nothing about the shop. */
export const heldBackAt = (label: string, evidence: string = label): StepOutcome =>
  unknown(`The page may take the order itself when "${label}" is pressed; a test does not send it.`, snippet(evidence))

/** Ours to refuse: whatever is chosen would buy, give or sign up for something beside the purchase. */
export const unwantedIn = ({ unwanted }: Pick<FilledForm, "unwanted">): StepOutcome => {
  const names = unwanted.map(({ id, label, name }) => label ?? name ?? id ?? "a choice").join(", ")
  return unknown(
    `Whatever is chosen of "${names}" takes more than the purchase; a test chooses none of it.`,
    snippet(names)
  )
}

/** The shop took for an order what a test sent: an accident of ours, which the shop has to know of. */
export const orderTakenAt = (
  step: Step,
  { reference, said }: OrderTaken,
  { email, firstName, lastName }: Pick<TestShopper, "email" | "firstName" | "lastName">
): StepOutcome => {
  const which = reference === undefined ? "" : `, reference ${reference}`
  const detail = `The shop took what the test sent as an order or a booking. Please cancel it: it is in the name of ${firstName} ${lastName}, ${email}${which}.`
  return failed(step, "order_taken", detail, snippet(said))
}

/** After what may have been enough for an order neither a later step nor a confirmation was seen. */
export const orderUncertain = (step: Step, evidence: string | null): Blocker =>
  warning(
    step,
    "order_uncertain",
    "After the shopper's name and address were sent, the shop showed neither another step nor a confirmation: look whether it took an order.",
    evidence
  )

/** A page that its server could not give just now, even when it was asked again. */
export const inTrouble = (answer: SiteAnswer): StepOutcome =>
  unknown(`${answer.url.pathname} answers ${answer.status}, so that it could not be looked at.`, evidenceOf(answer))

/** What a challenge is called at a step: before the cart it keeps agents out, from there on it asks for a person. */
const challengedAt = (step: Step): BlockerId =>
  step === "discovery" || step === "selection" ? "bot_challenge" : "captcha_required"

/** Where a site may lead that nobody of ours goes. */
const targets: Readonly<Record<string, string>> = {
  OwnHost: "an address of the scanner itself",
  AddressNotPublic: "an address that is not public",
  PortNotAllowed: "a port that is not one of the web's",
  SchemeNotAllowed: "an address that is not one of the web's"
}

/** A step whose request got no answer. What we did not ask, by our own limits, is unknown. */
export const unanswered = (step: Step, { detail, reason }: NoAnswer): StepOutcome => {
  switch (reason) {
    case "budget":
    case "deadline":
    case "bad_request":
      return unknown(`Our own limit ended the test here: ${detail}`)
    case "challenged":
      return failed(step, challengedAt(step), `The site asks whether we are a program: ${detail}`)
    case "rate_limited":
      return failed(step, "rate_limited", `The site asks us to slow down: ${detail}`)
    case "robots":
      return failed(step, "robots_disallowed", `robots.txt disallows what a buyer needs: ${detail}`)
    case "forbidden_address":
      return failed(
        step,
        "site_unreachable",
        `The site leads to ${targets[detail] ?? "an address that a test may not visit"}.`
      )
    default:
      return failed(step, "site_unreachable", `No answer (${reason}): ${detail}`)
  }
}

/** Why an answer cannot be worked with, whatever was asked; undefined when it may be. */
export const refusedBy = (step: Step, outcome: SiteOutcome): StepOutcome | undefined => {
  if (outcome._tag === "NoAnswer") return unanswered(step, outcome)
  const { challenge, headers, status } = outcome
  const seen = evidenceOf(outcome)
  if (challenge !== undefined) {
    const detail = `${challenge.vendor} asks whether we are a program (${challenge.marker}).`
    return failed(step, challengedAt(step), detail, seen)
  }
  if (status === 429) return failed(step, "rate_limited", "The site answers 429: too many requests.", seen)
  if (status === 503 && headers.has("retry-after")) {
    return failed(step, "rate_limited", "The site answers 503 and asks us to come back later.", seen)
  }
  if (status === 451) return failed(step, "geo_restricted", "The site answers 451: not available where we are.", seen)
  return undefined
}

/** What is made to its buyer's own words or measures is no shop's fault: nobody told a test any. */
export const ownWords = (label: string): StepOutcome =>
  unknown(`The product asks for "${label}", which only its buyer knows, and a test makes nothing up.`, snippet(label))

/** Ours to refuse: a test subscribes to nothing. */
export const subscriptionAlone = (said: string): StepOutcome =>
  unknown(`The shop sells it by subscription alone ("${said}"), and a test subscribes to nothing.`, snippet(said))
