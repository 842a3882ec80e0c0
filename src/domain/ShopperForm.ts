import { isExtraControl } from "./AsideForm.ts"
import { isExtra, isOfLetters } from "./AsideWords.ts"
import { choose, isInvitation } from "./FormChoice.ts"
import type { FormPurpose } from "./FormConduct.ts"
import { asksNationalId } from "./NationalId.ts"
import { type AutofillToken, fieldOf } from "./page/CheckoutFields.ts"
import type { PageControl, PageForm } from "./page/PageFacts.ts"
import { isQuantity } from "./page/Quantity.ts"
import { isSalutation } from "./Salutation.ts"
import { isShipping } from "./ShippingWords.ts"
import { shopperAmong, type TestShopper } from "./TestShopper.ts"

/** What a field of a checkout asks for, besides what autofill has a token for. */
export type FieldRole = AutofillToken | "shipping" | "terms" | "national-id"

const shippingWords =
  /shipping[-_ ]?(?:method|option|rate)|delivery[-_ ]?(?:method|option)|versandart|mode[-_ ]de[-_ ]livraison/i
const termsWords =
  /\bterms|\bagb\b|conditions|privacy|datenschutz|consent|gdpr|confidentialité|t[ée]rminos|condiciones|privacidad|condizioni|voorwaarden|termos|condições|regulamin/i

/** Buttons and what no person sees. */
const silent: ReadonlySet<string> = new Set(["hidden", "submit", "button", "reset", "image"])
export const isField = (control: PageControl): boolean =>
  !silent.has(control.type) && control.tag !== "button" && !control.disabled

const namesOf = ({ id, name }: PageControl): string => `${name ?? ""} ${id ?? ""}`

/** What a field asks for; undefined when nothing says so. */
export const roleOf = (control: PageControl): FieldRole | undefined => {
  const names = namesOf(control)
  if (shippingWords.test(names)) return "shipping"
  // Many shops call the field `method` or `rate`: then what it offers tells. What is sold beside the purchase may be "Standard", too.
  if (control.type === "radio" && !isExtra(names) && isShipping(control.label ?? "", names)) return "shipping"
  if (control.type === "checkbox" && termsWords.test(`${names} ${control.label ?? ""}`)) return "terms"
  return asksNationalId(control) ? "national-id" : fieldOf(control)
}

const textFor = (role: FieldRole | undefined, shopper: TestShopper): string | undefined => {
  switch (role) {
    case "email":
      return shopper.email
    case "name":
      return `${shopper.firstName} ${shopper.lastName}`
    case "given-name":
      return shopper.firstName
    case "family-name":
      return shopper.lastName
    case "tel":
      return shopper.phone
    case "street-address":
    case "address-line1":
      return shopper.line1
    case "address-level2":
      return shopper.city
    case "address-level1":
      return shopper.regionName
    case "postal-code":
      return shopper.postalCode
    case "country":
      return shopper.countryName
    case "national-id":
      return shopper.nationalId
    default:
      return undefined
  }
}

/** What a choice sends; `unwanted` when whatever it sends takes more than the purchase. */
type Sent = { readonly control: PageControl; readonly value: string } | "nothing" | "unwanted"

/** Whether something has to be chosen although the shop does not say so. */
const mustChoose = (control: PageControl, role: FieldRole | undefined, purpose: FormPurpose): boolean => {
  const names = namesOf(control)
  return role !== undefined || isSalutation(names) || (purpose === "add_to_cart" && !isExtra(names))
}

/** The option for a shopper, by the country or the region. */
const ownOption = ({ options }: PageControl, role: FieldRole | undefined, shopper: TestShopper): string | undefined => {
  const wanted =
    role === "country"
      ? [shopper.country, shopper.countryName, shopper.countryLocal ?? ""]
      : role === "address-level1"
        ? [shopper.region, `${shopper.country}-${shopper.region}`, shopper.regionName]
        : []
  const words = new Set(wanted.map((word) => word.toLowerCase()))
  const fits = options.find(
    ({ disabled, text, value }) =>
      !disabled && value !== "" && !isInvitation({ text }) && [value, text].some((one) => words.has(one.toLowerCase()))
  )
  return fits?.value
}

/** The option for one, of a list of how many that begins with none. */
const oneAtLeast = (control: PageControl): string | undefined => {
  const { options } = control
  const shown = options.find(({ selected }) => selected) ?? options[0]
  if (!isQuantity(control) || !/^0+$/.test(shown?.value ?? "")) return undefined
  return options.find(({ disabled, value }) => !disabled && /^[1-9]\d{0,3}$/.test(value))?.value
}

/** Of a list the option for the shopper, or else what is chosen in it. */
const inList = (
  control: PageControl,
  role: FieldRole | undefined,
  shopper: TestShopper,
  purpose: FormPurpose
): Sent => {
  const { id, label, name, options, required } = control
  const own = ownOption(control, role, shopper) ?? (purpose === "add_to_cart" ? oneAtLeast(control) : undefined)
  if (own !== undefined) return { control, value: own }
  const selected = options.findIndex(({ disabled, selected }) => selected && !disabled)
  const shown = selected >= 0 ? selected : options.findIndex(({ disabled }) => !disabled)
  const must = mustChoose(control, role, purpose)
  const chosen = choose(
    options.map((option, at) => ({ ...option, isChosen: at === shown })),
    {
      name: role === undefined ? [name, id, label].join(" ") : "",
      isRequired: required,
      mustChoose: must,
      mayLeave: false
    }
  )
  if (chosen === "unwanted") return chosen
  // One that is left alone sends what it shows.
  const sent = options[chosen === "none" && !required && !must ? shown : Number(chosen)]
  return sent === undefined ? "nothing" : { control, value: sent.value }
}

/** What a form would send, and what is to be said of it. */
export interface FilledForm {
  readonly values: ReadonlyArray<readonly [name: string, value: string]>
  readonly roles: ReadonlySet<FieldRole>
  /** Fields that ask for something nobody can name. */
  readonly unrecognised: ReadonlyArray<PageControl>
  /** Fields without a name for those who do not see them. */
  readonly nameless: ReadonlyArray<PageControl>
  /** Choices of which nothing can be chosen. */
  readonly exhausted: ReadonlyArray<PageControl>
  /** Choices of which each takes something beside the purchase. Such a form is not sent. */
  readonly unwanted: ReadonlyArray<PageControl>
  /** Choices that the shop does not ask for and nobody made. */
  readonly left: ReadonlyArray<PageControl>
  /** How many of a product it orders into the cart. */
  readonly quantity: number
}

/** What each group of radio buttons sends, by its first button. */
const radiosOf = (form: PageForm, purpose: FormPurpose): ReadonlyMap<PageControl, Sent> => {
  const groups = new Map<string, Array<PageControl>>()
  for (const control of form.controls) {
    if (control.type !== "radio" || control.name === null || control.disabled) continue
    groups.set(control.name, [...(groups.get(control.name) ?? []), control])
  }
  const sent = new Map<PageControl, Sent>()
  for (const [name, radios] of groups) {
    const [first] = radios
    if (first === undefined) continue
    const role = roleOf(first)
    const chosen = choose(
      radios.map(({ checked, disabled, label, value }) => ({
        text: label ?? value ?? "on",
        value: value ?? "on",
        isChosen: checked,
        disabled
      })),
      {
        name: role === undefined ? name : "",
        isRequired: radios.some(({ required }) => required),
        mustChoose: mustChoose({ ...first, id: null }, role, purpose),
        mayLeave: true
      }
    )
    const control = radios[Number(chosen)]
    sent.set(
      first,
      control !== undefined ? { control, value: control.value ?? "on" } : chosen === "unwanted" ? chosen : "nothing"
    )
  }
  return sent
}

const countryField = /(?:^|[[._-])country(?:[_-]?(?:code|id))?\]?$/i

/** The country that a form sends unseen, where it sells to one alone and asks for no other. */
export const fixedCountry = ({ controls }: Pick<PageForm, "controls">): ReadonlyArray<string> => {
  if (controls.some((control) => isField(control) && roleOf(control) === "country")) return []
  const unseen = controls.filter(({ name, type }) => type === "hidden" && countryField.test(name ?? ""))
  return unseen.map(({ value }) => value ?? "").filter((value) => /^[A-Z]{2}$/.test(value))
}
/** What the form's lists of countries hold, by value and by words, or the one that it has. */
const countriesIn = (form: PageForm): ReadonlyArray<string> => [
  ...form.controls
    .filter((control) => control.tag === "select" && !control.disabled && roleOf(control) === "country")
    .flatMap(({ options }) => options.flatMap(({ disabled, text, value }) => (disabled ? [] : [text, value]))),
  ...fixedCountry(form)
]

/** How many a form wants at least: one, or as many as it says. */
const leastOf = ({ min, step, value }: PageControl): number => {
  const [least, by, own] = [min, step, value].map((said) => (/^\d{1,4}$/.test(said ?? "") ? Number(said) : 0))
  if (least !== undefined && least >= 1) return least
  if (by !== undefined && by > 1) return by
  return min === undefined && own !== undefined && own >= 1 ? own : 1
}

/**
 * Fills a form for a shopper as a browser would send it, with this button. Payment and passwords stay empty, and nothing is taken that a
 * shop offers beside the purchase, whether it is chosen already or not.
 */
export const fill = (
  form: PageForm,
  button: PageControl | undefined,
  planned: TestShopper,
  purpose: FormPurpose = "go_on"
): FilledForm => {
  const shopper = shopperAmong(planned, countriesIn(form))
  const values: Array<readonly [string, string]> = []
  const roles = new Set<FieldRole>()
  const unrecognised: Array<PageControl> = []
  const nameless: Array<PageControl> = []
  const exhausted: Array<PageControl> = []
  const unwanted: Array<PageControl> = []
  const left: Array<PageControl> = []
  let pieces = 1
  const radios = radiosOf(form, purpose)
  const send = (control: PageControl, sent: Sent | undefined) => {
    if (sent === "unwanted") unwanted.push(control)
    else if (sent === "nothing" && control.tag === "select") exhausted.push(control)
    else if (sent === "nothing" && !isExtraControl(control)) left.push(control)
    else if (typeof sent === "object" && control.name !== null) values.push([control.name, sent.value])
  }
  for (const control of form.controls) {
    if (control.disabled) continue
    const { name, type } = control
    if (type === "hidden") {
      if (name !== null) values.push([name, control.value ?? ""])
      continue
    }
    if (control === button && name !== null) values.push([name, control.value ?? ""])
    if (!isField(control)) continue
    const role = roleOf(control)
    if (role !== undefined) roles.add(role)
    if (control.label === null && type !== "radio" && control.isHidden !== true) nameless.push(control)
    if (type === "radio") send(control, radios.get(control))
    else if (type === "checkbox") send(control, boxOf(control))
    else if (control.tag === "select") send(control, inList(control, role, shopper, purpose))
    else {
      const saysHowMany = isQuantity(control)
      const isOwn = purpose === "add_to_cart" && saysHowMany
      if (isOwn) pieces = leastOf(control)
      else if (role === undefined && !saysHowMany) unrecognised.push(control)
      send(control, { control, value: isOwn ? String(pieces) : writtenIn(control, role, shopper) })
    }
  }
  return { values, roles, unrecognised, nameless, exhausted, unwanted, left, quantity: pieces }
}

const written: ReadonlySet<string> = new Set(["text", "textarea", "number", "date", "file", "url", "time"])

/** The first field that a product's form needs filled and of which nobody but the buyer knows with what: an engraving, a width. */
export const textWanted = ({ controls }: Pick<PageForm, "controls">): string | undefined => {
  const asked = controls.find(
    (control) =>
      (control.required || control.isRequiredByScript === true) &&
      isField(control) &&
      written.has(control.type) &&
      (control.value ?? "") === "" &&
      roleOf(control) === undefined &&
      !isQuantity(control)
  )
  return asked && (asked.label ?? asked.name ?? "a field without a name")
}

/** What is written into a field. One for letters by mail, or for an amount that is given, stays empty. */
const writtenIn = (control: PageControl, role: FieldRole | undefined, shopper: TestShopper): string => {
  const isAdded = role === undefined ? isExtraControl(control) : isOfLetters(namesOf(control))
  return isAdded ? "" : (textFor(role, shopper) ?? control.value ?? "")
}

/** Pages of the shop, as a text calls them by their names. */
const quoted = /["“„«‹][^"”“»›]{1,40}["”“»›]/g

/** Whether a box has to be ticked to buy, and what it agrees to is only the terms of the sale and how data are kept. */
export const mustAgree = (control: PageControl): boolean =>
  control.type === "checkbox" &&
  control.required &&
  roleOf(control) === "terms" &&
  !isExtraControl({ ...control, label: (control.label ?? "").slice(0, 1_000).replace(quoted, "") })

/** A box that is ticked, unless it takes more than the purchase; what has to be agreed to is. */
const boxOf = (control: PageControl): Sent | undefined => {
  const isSent = mustAgree(control) || (control.checked && !isExtraControl(control))
  return isSent ? { control, value: control.value ?? "on" } : undefined
}

/** A form's body as `application/x-www-form-urlencoded`. */
export const encoded = (values: FilledForm["values"]): string =>
  new URLSearchParams(values.map(([name, value]): [string, string] => [name, value])).toString()
