import { asksForPerson, asksToPay, asksWhereTo, isElsewhere, serves } from "#domain/FormConduct.ts"
import { isOfLetters } from "#domain/AsideWords.ts"
import { fieldOf } from "#domain/page/CheckoutFields.ts"
import { type FilledForm, isField, roleOf } from "#domain/ShopperForm.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import type { PageSeen } from "./ApiRail.ts"
import { heldBack, isCartPath, labelOf } from "./FormPages.ts"
import type { Journey } from "./Journey.ts"
import { failed, heldBackAt, inTrouble, snippet, unknown } from "./Outcomes.ts"
import type { StepOutcome } from "./Rail.ts"

export const noShipping =
  /no (?:shipping|delivery) (?:options?|methods?|rates?)[^.]{0,60}(?:available|found)?|(?:cannot|can't|do not|don't) (?:ship|deliver) to[^.]{0,60}|no shipping available|keine versandart/i
const alertText =
  /(?:could not|couldn't|cannot|unable to|is not|isn't|not a|please enter a|invalid|ungültig)[^.]{0,40}(?:address|verif|valid|zip|post(?:al )?code|deliver)[^.]{0,60}/i

export const hasAddressRoles = ({ roles }: FilledForm): boolean =>
  (["email", "tel", "postal-code", "street-address", "address-line1"] as const).some((role) => roles.has(role))

/** Fields that nobody can name: too many of them, or nothing that a checkout must ask for. */
export const unrecognised = (seen: PageSeen): StepOutcome | undefined => {
  const fields = seen.facts.forms.flatMap((form) => (form.role === "search" ? [] : form.controls.filter(isField)))
  const asking = fields.filter(({ tag, type }) => tag === "input" && !/search|radio|checkbox|number/.test(type))
  if (asking.length === 0) return undefined
  const named = asking.filter((field) => roleOf(field) !== undefined || /^cc-/.test(field.autocomplete ?? ""))
  if (named.length > 0) return undefined
  const names = asking.slice(0, 8).map((field) => field.name ?? field.id ?? "?")
  const detail = `None of the ${asking.length} fields of the checkout says what it asks for: ${names.join(", ")}.`
  return failed("checkout", "checkout_form_unrecognized", detail, snippet(names.join(", ")))
}

/** Newsletters have nothing to do with a checkout. */
export const isNewsletter = (label: string): boolean =>
  isOfLetters(label) || /subscri|newsletter|abonn|suscri|iscriv|inschrij/i.test(label)

const waysOn = ["go_on", "guest"] as const

/** Ours to refuse: a form that only asks who somebody is, and may sign that one in or up. Whether it leads on is not known. */
const doubtful = ({ facts }: PageSeen): StepOutcome | undefined => {
  const [button] = facts.forms.flatMap((form) =>
    form.controls.filter(
      (control) =>
        control.type === "submit" &&
        !control.disabled &&
        !form.isBeside &&
        asksForPerson(form) &&
        !form.controls.some(({ type }) => type === "password") &&
        !isNewsletter(`${labelOf(control)} ${form.words}`) &&
        waysOn.some(
          (purpose) =>
            serves(form, labelOf(control), purpose) && isElsewhere(form, labelOf(control), purpose, control, facts)
        )
    )
  )
  if (button === undefined) return undefined
  const detail = `The form of "${labelOf(button)}" may sign in, make an account or ask for something else than the checkout; a test does not send it.`
  return unknown(detail, snippet(labelOf(button)))
}

/** A form that makes an account: nobody gets on without one where its password is needed, and else it is ours to refuse. */
const registering = ({ facts }: PageSeen): StepOutcome | undefined => {
  const form = facts.forms.find(
    (one) =>
      !one.isBeside &&
      one.controls.some(({ disabled, type }) => type === "password" && !disabled) &&
      one.controls.some((control) => /name$/.test(fieldOf(control) ?? ""))
  )
  if (form === undefined) return undefined
  const button = form.controls.find((control) => control.type === "submit" && !control.disabled)
  const label = button === undefined ? "the checkout" : labelOf(button)
  return form.controls.some(({ required, type }) => type === "password" && required)
    ? failed(
        "checkout",
        "account_required",
        `The form of "${label}" needs a password of a new account.`,
        snippet(label)
      )
    : unknown(`The form of "${label}" may make an account; a test does not send it.`, snippet(label))
}

/** Ours to refuse: a form that may be the order itself. It says nothing about the shop. */
const unsent = ({ facts }: PageSeen, { hasAddress }: Pick<Journey, "hasAddress">): StepOutcome | undefined => {
  const held = heldBack(
    facts,
    (form, button) =>
      !form.controls.some(({ type }) => type === "password") &&
      !isNewsletter(labelOf(button)) &&
      (asksWhereTo(form) ||
        (!form.isBeside &&
          (hasAddress || serves(form, labelOf(button), "go_on") || serves(form, labelOf(button), "guest"))))
  )
  // A button whose words nobody here knows is not pressed either.
  const other = facts.forms
    .filter((form) => asksWhereTo(form) && !asksToPay(form) && !form.controls.some(({ type }) => type === "password"))
    .flatMap(({ controls }) => controls.filter(({ disabled, type }) => type === "submit" && !disabled))[0]
  const button = held ?? other
  return button === undefined ? undefined : heldBackAt(labelOf(button))
}

/** The same of a way for guests. */
export const guestUnsent = ({ facts }: PageSeen): StepOutcome | undefined => {
  const held = heldBack(facts, (form, button) => serves(form, labelOf(button), "guest"))
  // A button whose words nobody here knows is not pressed either.
  const other = facts.forms
    .filter((form) => asksWhereTo(form) && !asksToPay(form) && !form.controls.some(({ type }) => type === "password"))
    .flatMap(({ controls }) => controls.filter(({ disabled, type }) => type === "submit" && !disabled))[0]
  const button = held ?? other
  return button === undefined ? undefined : heldBackAt(labelOf(button))
}

/** Why a page leads nowhere. */
export const stuckAt = (seen: PageSeen, journey: Journey): StepOutcome => {
  const { answer, facts } = seen
  const text = snippet(facts.visibleText)
  const refused = noShipping.exec(facts.visibleText)?.[0]
  if (refused !== undefined)
    return failed("checkout", "no_shipping_option", `The checkout says: ${refused}.`, snippet(refused))
  const refusedByUs = unsent(seen, journey)
  if (refusedByUs !== undefined) return refusedByUs
  const doubted = doubtful(seen) ?? registering(seen)
  if (doubted !== undefined) return doubted
  if (answer.status >= 500) return inTrouble(answer)
  if (facts.isCut) return unknown(`${answer.url.pathname} is longer than we read, and shows no form up to there.`, text)
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

/** Where no address is one without its state, which most forms ask for in a list. */
const withStates: ReadonlySet<string> = new Set(["US", "CA", "AU", "MX", "BR", "AR", "IN", "JP", "CN", "IT"])

/** A form whose list of states is empty until a script fills it for the country: sent as it is, it only comes back. */
export const drawnByScripts = (
  { facts }: PageSeen,
  { exhausted }: FilledForm,
  { country }: TestShopper
): StepOutcome | undefined => {
  const list = exhausted.find(
    (control) => roleOf(control) === "address-level1" && control.options.every(({ value }) => value === "")
  )
  if (list === undefined || facts.scripts.length === 0 || !withStates.has(country)) return undefined
  const detail = `Only a script fills the list "${labelOf(list)}".`
  return failed("checkout", "javascript_wall", detail, snippet(labelOf(list)))
}

/** A form that came back: what it says is wrong. */
export const cameBack = (seen: PageSeen, filled: FilledForm): StepOutcome => {
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
  if (filled.left.length > 0) {
    const names = filled.left.map(labelOf).join(", ")
    return unknown(
      `The form comes back, and a test chose nothing of what the shop does not require: ${names}.`,
      snippet(text)
    )
  }
  const silent = "The form with a valid address comes back, and the page does not say why"
  return seen.facts.scripts.length > 0
    ? failed("checkout", "javascript_wall", `${silent}; its scripts may do what a form does not.`, snippet(text))
    : failed("checkout", "address_rejected", `${silent}.`, snippet(text))
}
