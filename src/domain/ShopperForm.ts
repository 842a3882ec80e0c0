import { type AutofillToken, fieldOf } from "./page/CheckoutFields.ts"
import type { PageControl, PageForm } from "./page/PageFacts.ts"
import { shopperAmong, type TestShopper } from "./TestShopper.ts"

/** What a field of a checkout asks for, besides what autofill has a token for. */
export type FieldRole = AutofillToken | "shipping" | "terms"

const shippingWords =
  /shipping[-_ ]?(?:method|option|rate)|delivery[-_ ]?(?:method|option)|versandart|mode[-_ ]de[-_ ]livraison/i
const termsWords = /\bterms|\bagb\b|conditions|privacy|datenschutz|consent/i

/** Buttons and what no person sees. */
const silent: ReadonlySet<string> = new Set(["hidden", "submit", "button", "reset", "image"])
export const isField = (control: PageControl): boolean =>
  !silent.has(control.type) && control.tag !== "button" && !control.disabled

/** What a field asks for; undefined when nothing says so. */
export const roleOf = (control: PageControl): FieldRole | undefined => {
  const names = `${control.name ?? ""} ${control.id ?? ""}`
  if (shippingWords.test(names)) return "shipping"
  if (control.type === "checkbox" && termsWords.test(`${names} ${control.label ?? ""}`)) return "terms"
  return fieldOf(control)
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
    default:
      return undefined
  }
}

const placeholder = /^(?:-|—|–|please|choose|select|pick|bitte|w[äa]hlen|choisi|elig|seleccion|scegli|kies)/i

/** The option for a shopper, or else the first that may be chosen and is no invitation to choose. */
const optionFor = (control: PageControl, role: FieldRole | undefined, shopper: TestShopper): string | undefined => {
  const open = control.options.filter(
    ({ disabled, text, value }) => !disabled && value !== "" && !placeholder.test(text)
  )
  const wanted =
    role === "country"
      ? [shopper.country, shopper.countryName, shopper.countryLocal ?? ""]
      : role === "address-level1"
        ? [shopper.region, `${shopper.country}-${shopper.region}`, shopper.regionName]
        : []
  const fits = open.find(({ text, value }) =>
    wanted.some((word) => [value, text].some((one) => one.toLowerCase() === word.toLowerCase()))
  )
  return (fits ?? open.find(({ selected }) => selected) ?? open[0])?.value
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
}

/** The radio button of each group that is sent: the checked one, or else the first that is not disabled. */
const radiosOf = (form: PageForm): ReadonlySet<PageControl> => {
  const groups = new Map<string, PageControl>()
  for (const control of form.controls) {
    if (control.type !== "radio" || control.name === null || control.disabled) continue
    const known = groups.get(control.name)
    if (known === undefined || (control.checked && !known.checked)) groups.set(control.name, control)
  }
  return new Set(groups.values())
}

const quantity = /^(?:quantity|qty|menge|amount|anzahl|cantidad|quantit[eé])$/i

/** What the form's lists of countries hold, by value and by words. */
const countriesIn = (form: PageForm): ReadonlyArray<string> =>
  form.controls
    .filter((control) => control.tag === "select" && !control.disabled && roleOf(control) === "country")
    .flatMap(({ options }) => options.flatMap(({ disabled, text, value }) => (disabled ? [] : [text, value])))

/** Fills a form for a shopper as a browser would send it, with this button. Payment and passwords stay empty. */
export const fill = (form: PageForm, button: PageControl | undefined, planned: TestShopper): FilledForm => {
  const shopper = shopperAmong(planned, countriesIn(form))
  const values: Array<readonly [string, string]> = []
  const roles = new Set<FieldRole>()
  const unrecognised: Array<PageControl> = []
  const nameless: Array<PageControl> = []
  const exhausted: Array<PageControl> = []
  const radios = radiosOf(form)
  for (const control of form.controls) {
    if (control.disabled) continue
    if (control.type === "hidden") {
      if (control.name !== null) values.push([control.name, control.value ?? ""])
      continue
    }
    if (control === button && control.name !== null) values.push([control.name, control.value ?? ""])
    if (!isField(control)) continue
    const role = roleOf(control)
    if (role !== undefined) roles.add(role)
    if (control.label === null && control.type !== "radio") nameless.push(control)
    const value = valueFor(control, role, shopper, radios)
    if (value === undefined && control.tag === "select") exhausted.push(control)
    const isAsking = control.type !== "checkbox" && control.type !== "radio" && control.tag !== "select"
    if (isAsking && role === undefined && !quantity.test(control.name ?? "")) unrecognised.push(control)
    if (value !== undefined && control.name !== null) values.push([control.name, value])
  }
  return { values, roles, unrecognised, nameless, exhausted }
}

const valueFor = (
  control: PageControl,
  role: FieldRole | undefined,
  shopper: TestShopper,
  radios: ReadonlySet<PageControl>
): string | undefined => {
  if (control.type === "radio") return radios.has(control) ? (control.value ?? "on") : undefined
  if (control.type === "checkbox") {
    return control.checked || (role === "terms" && control.required) ? (control.value ?? "on") : undefined
  }
  if (control.tag === "select") return optionFor(control, role, shopper)
  if (quantity.test(control.name ?? "")) return "1"
  return textFor(role, shopper) ?? control.value ?? ""
}

/** A form's body as `application/x-www-form-urlencoded`. */
export const encoded = (values: FilledForm["values"]): string =>
  new URLSearchParams(values.map(([name, value]): [string, string] => [name, value])).toString()
