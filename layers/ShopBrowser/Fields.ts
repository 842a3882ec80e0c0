import { Effect } from "effect"
import type { Locator } from "playwright-core"
import { tokenOf } from "#domain/page/CheckoutFields.ts"
import { namesNationalId } from "#domain/NationalId.ts"
import { isSalutation } from "#domain/Salutation.ts"
import { any } from "#domain/WordPatterns.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import { ask, longestName } from "./Chromium.ts"
import { roleName } from "./RoleName.ts"
import type { Tab } from "./Tab.ts"

/** What a checkout asks of a shopper. `other` is left alone. */
export type Meaning =
  | "email"
  | "firstName"
  | "lastName"
  | "fullName"
  | "phone"
  | "line1"
  | "city"
  | "region"
  | "postalCode"
  | "country"
  /** How a name is read in Japan, where most checkouts ask for it. */
  | "kana"
  /** The number of an identity card, or of a tax that everybody pays. */
  | "nationalId"
  /** A list of how somebody is addressed. */
  | "salutation"
  | "other"

/** By the autofill token, whatever section stands before it. */
const tokens: Readonly<Record<string, Meaning>> = {
  email: "email",
  "given-name": "firstName",
  "family-name": "lastName",
  name: "fullName",
  tel: "phone",
  "tel-national": "phone",
  "street-address": "line1",
  "address-line1": "line1",
  "address-level2": "city",
  "address-level1": "region",
  "postal-code": "postalCode",
  country: "country",
  "country-name": "country"
}

/** By name, id or label, the first that fits. What must not be filled comes first. */
const words: ReadonlyArray<readonly [Meaning, RegExp]> = [
  ["kana", /フリガナ|ふりがな|[（(](?:カナ|かな)[)）]|\bkana\b|furigana/iu],
  [
    "other",
    /search|coupon|promo|voucher|discount|gift|card|cvc|cvv|expir|passw|note|comment|company|firma|vat|tax|quantity|qty|newsletter|(?:address|street)[_\s.:-]*(?:line)?[_\s.:-]*[23](?!\d)|apartment|suite|captcha|login|user|title|prefix|fax|(?<!first.{0,12})middle[_\s.-]*(?:name|initial)/i
  ],
  ["email", /e-?mail|correo/i],
  [
    "firstName",
    /first[_\s.-]*name|given|vorname|prénom|prenom|\bnombre\b|\bnome\b|voornaam|förnamn|fornavn|etunimi|imię/i
  ],
  [
    "lastName",
    /last[_\s.-]*name|sur[_\s.-]*name|family|nachname|nom de famille|apellido|cognome|sobrenome|achternaam|efternamn|etternavn|sukunimi|nazwisko/i
  ],
  [
    "fullName",
    /full[_\s.-]*name|your name|recipient|^\W*name\W*$|(?:contact|shipping|billing|customer)[_\s.-]*name|nom complet|nombre completo/i
  ],
  ["phone", /phone|mobile|\btel\b|telefon|téléphone|teléfono|telefono|telefone|puhelin/i],
  [
    "postalCode",
    /post(?:al)?[_\s.-]*code|\bzip|\bplz\b|postleitzahl|code postal|código postal|\bcap\b|\bcep\b|postnummer|kod pocztowy|postinumero/i
  ],
  [
    "city",
    /\bcity|town|suburb|locality|\bort\b|stadt|ville|ciudad|città|cidade|plaats|woonplaats|\bstad\b|\bby\b|miasto|kaupunki/i
  ],
  ["country", /country|\bland\b|pays|país|paese|kraj/i],
  ["region", /province|\bstate\b|region|county|bundesland|provincia|estado|prefecture/i],
  [
    "line1",
    /address|street|straße|strasse|adresse|dirección|direccion|indirizzo|endereço|\badres|\bulica|\bgata|osoite/i
  ]
]

const byWords = (text: string): Meaning | undefined => words.find(([, pattern]) => pattern.test(text))?.[0]

/** What a field is for: by its autofill token, else by its name and id, else by its label. */
export const meaningOf = (field: {
  readonly autocomplete: string | null
  readonly name: string
  readonly label: string
  readonly type?: string | null
}): Meaning => {
  const token =
    (field.autocomplete ?? "")
      .toLowerCase()
      .split(/\s+/)
      .findLast((part) => part !== "webauthn") ?? ""
  const known = tokens[token]
  if (known !== undefined) return known
  if (/^cc-|password|one-time-code/.test(token)) return "other"
  // `shippingAddress.full_name` is a name in an address, and `street[0]` the first line of a street.
  const parts = field.name.split(/[.[\]]/).filter((part) => part !== "")
  const [before = "", end = ""] = [parts.at(-2), parts.at(-1)]
  const last = /^\d$/.test(end) && before !== "" ? `${before} ${Number(end) + 1}` : end
  // As Magento calls it, which asks for it before anything else.
  if (field.type?.toLowerCase() === "email" && /^(?:user|login)(?:[_-]?(?:name|id))?$/i.test(last)) return "email"
  const named = byWords(last.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_-]+/g, " "))
  return named ?? byWords(field.label) ?? tokens[tokenOf(field.label) ?? ""] ?? "other"
}

/** A field of a form that can be seen, and what it is for. */
export interface Field {
  readonly control: Locator
  readonly kind: "text" | "list" | "menu"
  readonly meaning: Meaning
  readonly label: string
  readonly isRequired: boolean
  readonly isEmpty: boolean
}

const mostFields = 40
const shown = ':visible:not([aria-hidden="true"])'
const editable = ["input", "select", "textarea", "button[role=combobox]"].map((kind) => kind + shown).join(", ")
const skipped = new Set([
  "hidden",
  "submit",
  "button",
  "radio",
  "checkbox",
  "image",
  "reset",
  "file",
  "search",
  "password"
])

const read = Effect.fnUntraced(function* (control: Locator) {
  const tag = yield* ask(() =>
    control.evaluate((element: { readonly tagName: string }) => element.tagName.toLowerCase())
  )
  const attributes = ["type", "name", "id", "autocomplete", "required", "aria-required", "placeholder", "role"]
  const [type, name, id, autocomplete, required, ariaRequired, shown, role] = yield* ask(() =>
    Promise.all(attributes.map((attribute) => control.getAttribute(attribute)))
  ).pipe(Effect.map((values) => values.map((value) => value?.slice(0, longestName))))
  const isMenu = tag !== "select" && tag !== "input" && tag !== "textarea" && role === "combobox"
  if (!isMenu && skipped.has((type ?? "").toLowerCase())) return undefined
  const label = (yield* roleName(control)) ?? ""
  const value = isMenu ? "" : yield* ask(() => control.inputValue())
  const isRequired = (required ?? null) !== null || ariaRequired === "true" || /(?:^|\s)\*(?:\s|$)|\*\s*$/.test(label)
  const names = [name, id, label].join(" ")
  const field: Field = {
    control,
    kind: isMenu ? "menu" : tag === "select" ? "list" : "text",
    meaning:
      tag === "select" && isSalutation(names)
        ? "salutation"
        : isRequired && namesNationalId(names)
          ? "nationalId"
          : meaningOf({
              autocomplete: autocomplete ?? null,
              name: name ?? id ?? "",
              label: label || (shown ?? ""),
              type: type ?? null
            }),
    label,
    isRequired,
    isEmpty: value.trim() === ""
  }
  return field
})

/** The fields that can be seen and written to, in the order of the page. */
export const fieldsOn = Effect.fnUntraced(function* (tab: Tab) {
  const all = tab.page.locator(editable)
  const count = Math.min(yield* ask(() => all.count()), mostFields)
  const fields: Array<Field> = []
  for (let index = 0; index < count; index++) {
    const control = all.nth(index)
    if (!(yield* ask(() => control.isEnabled()))) continue
    const field = yield* read(control)
    if (field !== undefined) fields.push(field)
  }
  return fields
})

const answers = (shopper: TestShopper, { label, meaning }: Field): ReadonlyArray<string> => {
  switch (meaning) {
    case "fullName":
      return [`${shopper.firstName} ${shopper.lastName}`]
    case "country":
      return [
        shopper.country,
        ...(shopper.countryLocal === undefined ? [] : [shopper.countryLocal]),
        shopper.countryName
      ]
    case "region":
      return [shopper.region, shopper.regionName]
    case "kana":
      return [/[ぁ-ゖ]/u.test(label) ? "てすと" : "テスト"]
    case "other":
      return []
    case "salutation":
      return ["Mx", "Mx."]
    case "nationalId":
      return shopper.nationalId === undefined ? [] : [shopper.nationalId]
    default:
      return [shopper[meaning]]
  }
}

/** Of a list the option that is meant, by its value or its words; an address needs a region, so else the first one. */
const inList = Effect.fnUntraced(function* (field: Field, wanted: ReadonlyArray<string>) {
  const options = field.control.locator("option:not([disabled])")
  const [values, texts] = yield* ask(() =>
    Promise.all([
      options.evaluateAll((all: ReadonlyArray<{ readonly value: string }>) => all.map(({ value }) => value)),
      options.allTextContents()
    ])
  )
  const low = wanted.map((text) => text.toLowerCase())
  const meant = values.findIndex(
    (value, index) => low.includes(value.toLowerCase()) || low.includes((texts[index] ?? "").trim().toLowerCase())
  )
  const value = values[meant] ?? values.find((any) => any !== "")
  if (value === undefined) return false
  // What is chosen already is not chosen anew: by that some pages empty what depends on it.
  if ((yield* ask(() => field.control.inputValue())) !== value) yield* ask(() => field.control.selectOption(value))
  return true
})

/** What a list offers, by value and by words. */
export const offeredIn = ({ control, kind }: Field) =>
  kind === "list"
    ? ask(() =>
        control
          .locator("option:not([disabled])")
          .evaluateAll((all: ReadonlyArray<{ readonly value: string; readonly textContent: string | null }>) =>
            all.slice(0, 400).flatMap(({ textContent, value }) => [value, textContent ?? ""])
          )
      )
    : Effect.succeed([])

/** A menu that is drawn by scripts: opened, then the option of that name, else the first. */
const inMenu = Effect.fnUntraced(function* (tab: Tab, field: Field, wanted: ReadonlyArray<string>) {
  yield* ask(() => field.control.click())
  const options = tab.page.getByRole("option", { disabled: false })
  yield* Effect.ignore(ask(() => options.first().waitFor({ timeout: 1_500 })))
  const names = (yield* ask(() => options.allInnerTexts())).map((name) => name.trim().toLowerCase())
  const low = wanted.map((text) => text.toLowerCase())
  const exact = names.findIndex((name) => low.includes(name))
  const begins = names.findIndex((name) => low.some((text) => text.length > 2 && name.startsWith(text)))
  const at = exact >= 0 ? exact : Math.max(0, begins)
  if (names[at] !== undefined) {
    yield* ask(() => options.nth(at).click())
    return true
  }
  yield* ask(() => tab.page.keyboard.press("Escape"))
  return false
})

/** Writes what is known of the shopper into a field. Nothing is ever sent by a key. */
export const fill = Effect.fnUntraced(function* (tab: Tab, field: Field, shopper: TestShopper) {
  const wanted = answers(shopper, field)
  const [first] = wanted
  if (first === undefined) return false
  if (field.kind === "list") return yield* inList(field, wanted)
  if (field.kind === "menu") {
    // One that does not open is a field that was not written, and no more.
    return yield* Effect.catchIf(
      inMenu(tab, field, wanted),
      ({ reason }) => reason === "Slow",
      () => Effect.succeed(false)
    )
  }
  const text = field.meaning === "country" || field.meaning === "region" ? (wanted.at(-1) ?? first) : first
  yield* ask(() => field.control.fill(text))
  yield* ask(() => field.control.blur())
  return true
})

/** What says that a field takes digits and nothing else, as many shops want telephone numbers, who do not say so before. */
export const wantsDigits = any(
  "numeric\\s+characters|(?:only|just)\\s+(?:contain\\s+|enter\\s+|use\\s+)?(?:numbers|digits)|(?:numbers|digits)\\s+only|must\\s+be\\s+(?:numeric|a\\s+number)",
  "nur\\s+(?:aus\\s+)?(?:zahlen|ziffern)|(?:uniquement|que)\\s+(?:des\\s+)?chiffres|s[oó]lo\\s+(?:se\\s+permiten\\s+)?(?:números|dígitos|numeri|cifre)|apenas\\s+números|alleen\\s+cijfers"
)

/** The same shopper, with a telephone number of digits alone. */
export const inDigits = (shopper: TestShopper): TestShopper => ({ ...shopper, phone: shopper.phone.replace(/\D/g, "") })
