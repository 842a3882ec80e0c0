import { Effect } from "effect"
import type { Locator } from "playwright-core"
import { isOfCheckout, leadsAside, leadsToAccount } from "#domain/AsideForm.ts"
import { asksForPerson, asksWhereTo, isForGuests } from "#domain/FormConduct.ts"
import { fieldOf } from "#domain/page/CheckoutFields.ts"
import type { PageFacts, PageForm } from "#domain/page/PageFacts.ts"
import { ask } from "./Chromium.ts"
import { readComposed } from "./Composed.ts"
import { type Field, fieldsOn } from "./Fields.ts"
import type { Look } from "./Look.ts"
import type { Tab } from "./Tab.ts"

/** Where a control stands: its form, or what stands in for one, as the page's forms are read. */
export interface Place {
  readonly form: PageForm
  /** It stands in no form, and not beside the page's matter. */
  readonly isLoose: boolean
  /** A password is asked for in it, where it can be seen. */
  readonly asksPassword: boolean
  /** Nobody goes on without that password. */
  readonly needsPassword: boolean
}

/** As much of an element as is asked here. */
interface Element {
  readonly tagName: string
  readonly innerHTML: string
  readonly textContent: string | null
  readonly parentElement: Element | null
  readonly assignedSlot?: Element | null
  readonly shadowRoot?: Element | null
  readonly host?: Element
  readonly form?: Element | null
  readonly required?: boolean
  readonly children: Iterable<Element>
  readonly ownerDocument: { readonly documentElement: Element }
  assignedElements?(): Iterable<Element>
  checkVisibility(): boolean
  getRootNode(): Element
  matches(selector: string): boolean
}

const longestSource = 300_000

const beside = "dialog, [role=dialog], [role=alertdialog], [aria-modal=true], aside, header, footer, nav"

/**
 * Runs in the page, and reads it as it is drawn, shadow roots included. `at` is the place of the form among those that are read from the
 * page's source, hidden ones and apologies included; of another one `around` is what it is.
 */
const readPlace = (control: Element, beside: string) => {
  const outerOf = (one: Element): Element | null =>
    one.assignedSlot ?? one.parentElement ?? one.getRootNode().host ?? null
  const around = (start: Element | null, selector: string) => {
    for (let box = start; box !== null; box = outerOf(box)) if (box.matches(selector)) return box
    return null
  }
  const allIn = (one: Element): ReadonlyArray<Element> => {
    const given = one.tagName === "SLOT" ? [...(one.assignedElements?.() ?? [])] : []
    const held = given.length > 0 ? given : [...(one.shadowRoot ?? one).children]
    return held.flatMap((inner) => [inner, ...allIn(inner)])
  }
  const form = control.form ?? around(control, "form")
  const holder = form ?? around(control, beside)
  const passwords = (holder === null ? [] : allIn(holder)).filter(
    (one) => one.matches("input[type=password]") && one.checkVisibility()
  )
  const asked = { asksPassword: passwords.length > 0, needsPassword: passwords.some(({ required }) => required) }
  const place = (at: number, of: "form" | "beside" | null) => ({ ...asked, at, of })
  if (form === null) return place(-1, holder === null ? null : "beside")
  // One form in another is not read as a form of its own.
  if (around(outerOf(form), "form") !== null) return place(-1, "form")
  let at = 0
  for (const element of allIn(control.ownerDocument.documentElement)) {
    if (element === form) return place(at, "form")
    if (element.tagName === "FORM") at++
    if (element.tagName !== "TEMPLATE" && element.tagName !== "NOSCRIPT") continue
    const inner = element.tagName === "TEMPLATE" ? element.innerHTML : (element.textContent ?? "")
    at += (inner.match(/<form[\s>]/gi) ?? []).length
  }
  return place(-1, "form")
}

/** What stands in no form, and not beside the page's matter: a page without forms is a form itself. */
const looseOf = (facts: PageFacts): PageForm => ({
  action: facts.url,
  hasAction: false,
  method: "POST",
  enctype: "application/x-www-form-urlencoded",
  id: null,
  role: null,
  words: "",
  isBeside: false,
  controls: facts.controls
})

/** Where a control stands on a page as it was seen. */
export const placeOf = Effect.fnUntraced(function* (tab: Tab, seen: Look, control: Locator) {
  const { at, of, ...asked } = yield* ask(() => control.evaluate(readPlace, beside))
  const known = at < 0 ? undefined : seen.facts.forms[at]
  const reading = { what: "html", around: of === "form" ? "form" : beside, inForm: of === "beside" } as const
  const isRead = known === undefined && of !== null
  const html = isRead ? (yield* ask(() => control.evaluate(readComposed, reading))).slice(0, longestSource) : ""
  const read = html === "" ? undefined : yield* Effect.option(tab.pages.page(html, seen.url))
  const own = read?._tag === "Some" ? read.value.forms[0] : undefined
  const form = known ?? own
  const place: Place = { ...asked, form: form ?? looseOf(seen.facts), isLoose: form === undefined }
  return place
})

/** A login of those who have an account asks for a password, and neither what one is called nor where one lives. */
const isForMembers = ({ asksPassword, form }: Place): boolean =>
  asksPassword && !asksWhereTo(form) && !form.controls.some((control) => /name$/.test(fieldOf(control) ?? ""))

/**
 * Whether the fields of a place are none of a purchase: letters, lists, questions, and logins of those who have an account. What only may
 * make an account is filled, as some checkouts ask for the address of one's mail in a form of its own.
 */
const isLeftAlone = (place: Place, { facts }: Look): boolean => {
  const { form } = place
  return isForMembers(place) || (leadsAside(form, "", undefined, facts) && !leadsToAccount(form, ""))
}

/** Whether a page may hold fields that are to be left alone, by its source alone. */
const mayHoldOthers = ({ facts }: Look): boolean =>
  asksForPerson(looseOf(facts)) ||
  facts.forms.some(
    (form) => form.controls.some(({ type }) => type === "password") || leadsAside(form, "", undefined, facts)
  )

/**
 * The fields that belong to the checkout. Where nothing on the page is to be left alone, none has to be asked where it stands; beside a
 * form for guests what may make an account is none of theirs.
 */
export const ownFields = Effect.fnUntraced(function* (tab: Tab, seen: Look) {
  const fields = yield* fieldsOn(tab)
  if (!mayHoldOthers(seen)) return fields
  const own: Array<readonly [field: Field, form: PageForm]> = []
  for (const field of fields) {
    const place = yield* placeOf(tab, seen, field.control)
    if (!isLeftAlone(place, seen)) own.push([field, place.form])
  }
  const hasGuests = own.some(([, form]) => isForGuests(form))
  return own.flatMap(([field, form]) => (hasGuests && leadsToAccount(form, "") && !asksWhereTo(form) ? [] : [field]))
})

/** Whether a place makes an account, and nobody goes on without one: it asks what one is called, and its password must not be empty. */
export const makesAccount = ({ form, needsPassword }: Place): boolean =>
  needsPassword && form.controls.some((control) => /name$/.test(fieldOf(control) ?? ""))

/** Why a button of this place is not pressed to go on; undefined when it may be. */
export const whyAside = (place: Place, names: ReadonlyArray<string>, { facts }: Look): string | undefined => {
  const { form, needsPassword } = place
  const [name = "the way on"] = names
  const button = form.controls.find(({ label, type }) => type !== "hidden" && names.includes(label ?? ""))
  const isAside = names.some((one) => leadsAside(form, one, button, facts))
  if (needsPassword || isForMembers(place) || (isAside && leadsToAccount(form, name)))
    return `"${name}" belongs to a form that signs in or makes an account; a test does not send it.`
  if (isAside || (form.isBeside && asksForPerson(form) && !asksWhereTo(form)))
    return `"${name}" belongs to a form that is no step of the checkout; a test does not send it.`
  if (asksForPerson(form) && !asksWhereTo(form) && !isOfCheckout(form, name, button, facts.url))
    return `Nothing says that the form of "${name}" is one of the checkout; a test does not send it.`
  return undefined
}
