import type { PageControl } from "./PageFacts.ts"
import { isQuantity } from "./Quantity.ts"

/** The tokens of HTML's autofill that a checkout asks for. */
const autofillTokens = [
  "email",
  "name",
  "given-name",
  "family-name",
  "organization",
  "street-address",
  "address-line1",
  "address-line2",
  "postal-code",
  "address-level2",
  "address-level1",
  "country",
  "tel",
  "cc-name",
  "cc-number",
  "cc-exp",
  "cc-exp-month",
  "cc-exp-year",
  "cc-csc"
] as const
export type AutofillToken = (typeof autofillTokens)[number]

const known: ReadonlySet<string> = new Set(autofillTokens)
const isToken = (word: string): word is AutofillToken => known.has(word)

/** `country-name` and the like mean the same to who fills a form. */
const aliases: Readonly<Record<string, AutofillToken>> = {
  "country-name": "country",
  "tel-national": "tel",
  "tel-local": "tel",
  "address-level3": "address-level2"
}

/** What a name, an id or a label says, in the order in which it is asked: the special before the general. */
const words: ReadonlyArray<readonly [token: AutofillToken, name: RegExp, label: RegExp]> = [
  ["email", /e-?mail/i, /e-?mail|correo|courriel|メール|邮箱|電子郵件|이메일|почт/i],
  [
    "cc-number",
    /(?:card|cc)[-_ ]?(?:number|num|no)\b|cardnumber/i,
    /card number|kartennummer|numéro de (?:la )?carte|número de (?:la )?tarjeta|número do cartão|numero (?:della )?carta|kaartnummer|numer karty/i
  ],
  ["cc-exp-month", /exp.{0,12}month/i, /expir\w* month/i],
  ["cc-exp-year", /exp.{0,12}year/i, /expir\w* year/i],
  [
    "cc-exp",
    /(?:card|cc)[-_ ]?exp|expir/i,
    /expir|gültig bis|ablaufdatum|caducidad|vencimiento|validade|scadenza|vervaldatum/i
  ],
  [
    "cc-csc",
    /\b(?:cvc|cvv|csc)\d?\b|security[-_ ]?code|card.?(?:cvc|cvv)/i,
    /\b(?:cvc|cvv|csc)2?\b|security code|prüfnummer|cryptogramme/i
  ],
  ["cc-name", /(?:card|cc)[-_ ]?(?:holder|name)/i, /name on card|card ?holder|karteninhaber|titulaire|titular/i],
  [
    "tel",
    /phone|\btel\b|telephone|mobile|telefon|telefono/i,
    /phone|mobile|telefon|téléphone|teléfono|telefone|telefoon|puhelin|電話|电话|전화|телефон/i
  ],
  [
    "postal-code",
    /post(?:al)?[-_ ]?code|postcode|\bzip\b|zip[-_ ]?code|\bplz\b|codigo_?postal|\bcep\b|\bpostnr\b|postnummer/i,
    /post(?:al)?[ -]?code|\bzip\b|postleitzahl|\bplz\b|code postal|código postal|\bcep\b|\bcap\b|postnummer|postinumero|kod pocztowy|psč|irányítószám|郵便番号|邮编|邮政编码|우편번호|индекс/i
  ],
  [
    "country",
    /country|land\b|pays\b|pais\b|(?:^|[_-])country(?:$|[_-])/i,
    /\bcountry\b|^land\b|\bpays\b|\bpaís\b|\bpaese\b|\bkraj\b|\bzem[eě]\b|ország|国|國|국가|страна|\bmaa\b/i
  ],
  [
    "address-level1",
    /\bstate\b|province|region|county|bundesland|(?:address|billing|shipping)_state/i,
    /\bstate\b|province|\bregion\b|county|bundesland|provincia|\bestado\b|都道府県|省|область/i
  ],
  [
    "address-level2",
    /\bcity\b|town|locality|\bort\b|\bstadt\b|\bville\b|ciudad|cidade/i,
    /\bcity\b|\btown\b|suburb|\bort\b|\bstadt\b|\bville\b|ciudad|poblaci[oó]n|cidade|\bcitt[àa]\b|\bplaats\b|woonplaats|\bstad\b|\bby\b|\bpoststed\b|miasto|miejscowość|\bměsto\b|\bmesto\b|市区町村|城市|도시|город/i
  ],
  [
    "address-line2",
    /(?:address|addr|street)[-_ ]?(?:line)?[-_ ]?2|apartment|\bsuite\b|street\[1\]/i,
    /apartment|\bsuite\b|address line 2|adresszusatz|complément|complemento|piso/i
  ],
  [
    "address-line1",
    /(?:address|addr|street)[-_ ]?(?:line)?[-_ ]?1|street\[0\]|street[-_ ]?address|^(?:\w+[-_])?(?:street|address|strasse|rue|calle|via)$/i,
    /street|address(?! line 2)|straße|strasse|adresse|dirección|direccion|endereço|\bcalle\b|\brua\b|indirizzo|\bvia\b|\bstraat\b|\bgata\b|osoite|\bulica\b|\badres\b|住所|番地|丁目|地址|주소|адрес|улица/i
  ],
  [
    "organization",
    /company|organi[sz]ation|firma\b|empresa|societe/i,
    /company|organi[sz]ation|\bfirma\b|entreprise|société|empresa|azienda|bedrijf/i
  ],
  [
    "given-name",
    /first[-_ ]?name|given[-_ ]?name|fname|vorname|prenom|firstname/i,
    /first name|given name|forename|vorname|prénom|^nombre$|primeiro nome|^nome$|voornaam|förnamn|fornavn|etunimi|^imi[ęe]$|\bjméno\b|^名$|имя/i
  ],
  [
    "family-name",
    /last[-_ ]?name|family[-_ ]?name|surname|lname|nachname|lastname/i,
    /last name|family name|surname|nachname|^nom(?: de famille)?$|apellidos?|sobrenome|cognome|achternaam|efternamn|etternavn|efternavn|sukunimi|nazwisko|příjmení|priezvisko|^姓$|фамилия/i
  ],
  [
    "name",
    /^(?:\w+[-_])?(?:full[-_ ]?)?name$|recipient/i,
    /(?<!\b(?:middle|user) )\bname\b|nombre(?: completo)?|nome completo|nom complet|氏名|お名前|姓名|이름|imię i nazwisko/i
  ]
]

const skipped: ReadonlySet<string> = new Set([
  "hidden",
  "submit",
  "button",
  "reset",
  "image",
  "checkbox",
  "radio",
  "search",
  "password",
  "file"
])

const byAutocomplete = (control: PageControl): AutofillToken | undefined => {
  const word = (control.autocomplete ?? "").split(/\s+/).findLast((one) => one !== "" && one !== "webauthn") ?? ""
  return isToken(word) ? word : aliases[word]
}
const byName = (control: PageControl): AutofillToken | undefined => {
  const said = [control.name, control.id].flatMap((name) =>
    name === null ? [] : [name.slice(0, 200).replace(/([a-z])([A-Z])/g, "$1_$2")]
  )
  const plain = said.flatMap((name) => [name, name.replace(/^.*[[.:_-](?=\w+\]?$)/, "").replace(/\]$/, "")])
  return words.find(([, name]) => plain.some((one) => name.test(one.replace(/_/g, " ")) || name.test(one)))?.[0]
}
/** In Japan both parts of a name are often called the name, and which it is stands behind. */
const namePart = /[（(]\s{0,2}(?:(姓|氏)|名)\s{0,2}[)）]/u

/** What a label asks for, by its words. */
export const tokenOf = (label: string): AutofillToken | undefined => {
  const part = namePart.exec(label)
  if (part !== null) return part[1] === undefined ? "given-name" : "family-name"
  const said = label.replace(/\s*(?:\*|\(.*\)|:)\s*$/, "").trim()
  return said === "" ? undefined : words.find(([, , label]) => label.test(said))?.[0]
}

/** What a control asks for: by its autofill token, else by its name or id, else by its label. Undefined for anything else. */
export const fieldOf = (control: PageControl): AutofillToken | undefined => {
  // BigCommerce asks how many by a field of telephone numbers, for the keys that it brings up.
  if (skipped.has(control.type) || (control.type === "tel" && isQuantity(control))) return undefined
  return (
    byAutocomplete(control) ??
    (control.type === "email" ? "email" : control.type === "tel" ? "tel" : undefined) ??
    byName(control) ??
    tokenOf(control.label ?? "")
  )
}

/** The fields of a checkout among controls; the first for each token. */
export const checkoutFields = (controls: ReadonlyArray<PageControl>): ReadonlyMap<AutofillToken, PageControl> => {
  const fields = new Map<AutofillToken, PageControl>()
  for (const control of controls.slice(0, 1_000)) {
    const token = control.disabled ? undefined : fieldOf(control)
    if (token !== undefined && !fields.has(token)) fields.set(token, control)
  }
  return fields
}
