import { methodNamed } from "./Payments.ts"

/** What a last look at an order calls how it is paid: one way. Of several, footers tell. */
const heading =
  /^\W*(?:(?:your\s+|chosen\s+|selected\s+)?payment(?!\s+(?:methods|options|types|partners|providers))(?:\s+(?:information|method|details|type))?|zahlungs(?:art|weise|methode|mittel|informationen|information)|(?:mode|méthode|moyen|informations?)\s+de\s+paiement|(?:forma|método|medio)\s+de\s+pago|(?:metodo|modalità)\s+di\s+pagamento|(?:forma|método)\s+de\s+pagamento|betaal(?:wijze|methode|gegevens)|betal(?:ings|nings)(?:metode?|måde|måte|sätt))(?=$|[^\p{L}]|edit|change|bearbeiten|ändern|modifier|editar|modifica|wijzig|redig|ändra)/iu
const longest = 60

/** The ways to pay that a page states below such a heading, or behind it in its line, where there is nothing left to choose. */
export const statedOn = (text: string): ReadonlyArray<string> => {
  const lines = text
    .slice(0, 50_000)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
  return lines.flatMap((line, at) => {
    const said = heading.exec(line)?.[0]
    if (said === undefined || line.length > said.length + longest) return []
    const below = [line.slice(said.length), ...lines.slice(at + 1, at + 3)]
    return below.filter((one) => one.length <= longest && methodNamed(one) !== undefined).slice(0, 1)
  })
}
