import { Effect } from "effect"
import type { Locator } from "playwright-core"
import { isOfCheckout, leadsAside, leadsToAccount } from "#domain/AsideForm.ts"
import { asksForPerson, asksWhereTo } from "#domain/FormConduct.ts"
import { fieldOf } from "#domain/page/CheckoutFields.ts"
import type { PageFacts, PageForm } from "#domain/page/PageFacts.ts"
import { ask } from "./Chromium.ts"
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
  readonly outerHTML: string
  readonly textContent: string | null
  readonly parentElement: Element | null
  readonly form?: Element | null
  readonly required?: boolean
  readonly ownerDocument: { querySelectorAll(selector: string): ArrayLike<Element> }
  closest(selector: string): Element | null
  querySelectorAll(selector: string): ArrayLike<Element>
  getAttribute(name: string): string | null
  checkVisibility(): boolean
}

/** Runs in the page. `at` is the place of the form among those that are read from the page's source, hidden ones and apologies included. */
const readPlace = (control: Element) => {
  const form = control.form ?? control.closest("form")
  const beside = control.closest(
    "dialog, [role=dialog], [role=alertdialog], [aria-modal=true], aside, header, footer, nav"
  )
  const holder = form ?? beside
  const passwords = Array.from(holder?.querySelectorAll("input[type=password]") ?? []).filter((one) =>
    one.checkVisibility()
  )
  const asked = { asksPassword: passwords.length > 0, needsPassword: passwords.some(({ required }) => required) }
  if (form === null && beside === null) return { ...asked, at: -1, html: "" }
  if (form === null) {
    const attributes = ["id", "class", "role", "aria-label", "aria-modal"].flatMap((name) => {
      const value = beside?.getAttribute(name)?.replace(/"/g, "&quot;")
      return value === undefined ? [] : [`${name}="${value}"`]
    })
    const tag = (beside?.tagName ?? "div").toLowerCase()
    const inner = (beside?.innerHTML ?? "").slice(0, 300_000)
    return { ...asked, at: -1, html: `<${tag} ${attributes.join(" ")}><form>${inner}</form></${tag}>` }
  }
  let at = 0
  for (const element of Array.from(control.ownerDocument.querySelectorAll("form, template, noscript"))) {
    if (element === form) return { ...asked, at, html: "" }
    const inner = element.tagName === "TEMPLATE" ? element.innerHTML : (element.textContent ?? "")
    at += element.tagName === "FORM" ? 1 : (inner.match(/<form[\s>]/gi) ?? []).length
  }
  return { ...asked, at: -1, html: form.outerHTML.slice(0, 300_000) }
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
  const { at, html, ...asked } = yield* ask(() => control.evaluate(readPlace))
  const known = at < 0 ? undefined : seen.facts.forms[at]
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
export const isLeftAlone = (place: Place, { facts }: Look): boolean => {
  const { form } = place
  return isForMembers(place) || (leadsAside(form, "", undefined, facts) && !leadsToAccount(form, ""))
}

/** Whether a page may hold fields that are to be left alone, by its source alone. */
export const mayHoldOthers = ({ facts }: Look): boolean =>
  asksForPerson(looseOf(facts)) ||
  facts.forms.some(
    (form) => form.controls.some(({ type }) => type === "password") || leadsAside(form, "", undefined, facts)
  )

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
