import type { PageControl } from "./page/PageFacts.ts"

/**
 * The number of an identity card, or of a tax that everybody pays, where shops ask everybody for it, by country (ISO 3166): DNI, codice
 * fiscale and CPF as specimens have them, with the digits that check them, and the RFC that Mexico keeps for anybody.
 */
export const specimens: Readonly<Record<string, string>> = {
  ES: "99999999R",
  IT: "RSSMRA80A01H501U",
  BR: "111.444.777-35",
  MX: "XAXX010101000"
}

const words =
  /\b(?:dni|nif|cpf|rfc)\b|c[oó]dice[- ]?fiscal|identification number|national id(?:entity)?\b|identity (?:card )?number|n[uú]mero de (?:identificaci[oó]n|documento)/i

/** Whether a field's name or label is that of such a number. */
export const namesNationalId = (text: string): boolean => words.test(text.slice(0, 300).replace(/[_[\]]/g, " "))

/** Whether a field wants such a number. One that may stay empty does not. */
export const asksNationalId = ({ id, label, name, required, type }: PageControl): boolean =>
  required && type !== "checkbox" && type !== "radio" && namesNationalId([name, id, label].join(" "))
