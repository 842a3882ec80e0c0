import { isOrderingField, isWayToPay, namesPaying, paysOnDelivery, takesOrders } from "./Deeds.ts"
import { addToCart } from "./page/AddToCart.ts"
import { fieldOf } from "./page/CheckoutFields.ts"
import type { PageControl, PageFacts, PageForm } from "./page/PageFacts.ts"
import { roleOf } from "./ShopperForm.ts"

/** Words of buttons that order or pay, in the languages of most shops. */
const ordering = new RegExp(
  [
    "\\b(?:place|submit|complete|confirm|finish|finali[sz]e|send|review)\\b.*\\b(?:order|purchase|payment)\\b|\\border\\s+(?:now|with)\\b|^\\s*(?:order|pay|purchase|confirm|complete|submit)\\s*$|\\bpay\\b(?!ment)|\\bpurchase\\b|\\bsubscribe\\b|\\bcheckout with\\b|\\bbuy with\\b",
    "one[- ]?click|(?:в|за) (?:1|один) клик",
    "kostenpflichtig|zahlungspflichtig|jetzt (?:kaufen|bestellen|bezahlen)|bestellung|bestellen|bezahlen|kauf abschlie",
    "commander|payer|(?:valider|passer|finaliser|confirmer) (?:la |ma |l['’])?(?:commande|achat)",
    "realizar (?:el )?pedido|finalizar|confirmar|pagar|comprar ahora|comprar agora|(?:hacer|enviar) (?:el )?pedido",
    "(?:effettua|invia|conferma|completa|concludi) (?:l['’] ?|il )?(?:ordine|acquisto|pagamento)|paga\\b|acquista ora|^\\s*ordina\\s*$",
    "afrekenen|betaal|betalen|bestelling|^\\s*(?:nu )?bestel\\b",
    "(?<!\\p{L})(?:slutför|genomför|gennemfør|fullfør|bekräfta|bekræft|bekreft|beställ|bestil|bestill|betala|vahvista|tilaa|maksa)(?!\\p{L})",
    "zamawiam|zamów|zamówienie|zapłać|kupuj|objednat|zaplatit|megrendel|sipariş|satın al|(?<!\\p{L})öde(?!\\p{L})",
    "заказать|оплатить|(?:оформить|подтвердить|отправить) заказ|замовити|注文(?:を確定|する)|购买并支付|提交订单|提交訂單|결제|주문"
  ].join("|"),
  "iu"
)

/** Whether a button of this name may place an order or pay. The browser rail must not press it either. */
export const mayOrder = (label: string): boolean => ordering.test(label)

/** What a way on may not lead to. A button that adds to the cart may say most of it. */
const orderingOn =
  /\b(?:orders?|purchase|buy|place|confirm|complete|submit)\b|bestell|kauf|abschlie(?:ß|ss)|abschluss|pedido|compra|finaliz|commande|acheter|achat|passer|(?<!\p{L})ordin[eai]|acquist|bestel|kopen|köp|køb|kjøp|zam[oó]w|(?<!\p{L})kup|objedn|заказ|купить|注文|購入|订单|訂單|구매/iu

const goesOn =
  /^(?:continue|next|save|proceed|go|update|calculate|estimate|apply|use|deliver|ship|weiter|fortfahren|continuer|suivant|continuar|siguiente|avanti|continua|verder|volgende|próximo)\b/i
const guest =
  /\bguest\b|without (?:an )?(?:account|regist)|als gast|gastbestellung|invité|sans compte|invitado|sin cuenta|ospite|convidado|zonder account/i
const emptying = /\b(?:empty|clear|remove|delete)\b|^\s*[x×]\s*$|leeren|entfernen|vider|supprimer|vaciar|eliminar/i

/** For what a test submits a form. */
export type FormPurpose = "add_to_cart" | "guest" | "go_on" | "empty_cart"
const words = { guest, go_on: goesOn, empty_cart: emptying } as const

/** Whether the form, or the words of its button, say that it does this. */
export const serves = (form: PageForm, label: string, purpose: FormPurpose): boolean =>
  purpose === "add_to_cart"
    ? addToCart({ forms: [form], controls: [], links: [] }) !== undefined
    : words[purpose].test(label)

const paymentField = /card|cvc|cvv|iban|account[-_]?number|payment|expir/i
const buttons: ReadonlySet<string> = new Set(["submit", "button", "reset", "image"])
const choosing: ReadonlySet<string> = new Set(["radio", "select", "hidden"])

/** Whether a radio button, a list or what is sent unseen chooses how to pay, by its names or by what it offers. */
const choosesPayment = ({ id, label, name, options, type, value }: PageControl): boolean =>
  choosing.has(type) &&
  (namesPaying(`${name ?? ""} ${id ?? ""}`)
    ? // An empty field waits for a script, and an address is no choice.
      type !== "hidden" || ((value ?? "") !== "" && !URL.canParse(value ?? ""))
    : [value ?? "", ...(type === "hidden" ? [] : [label ?? ""])].some(isWayToPay) ||
      (type !== "hidden" && namesPaying(label ?? "")) ||
      options.some((option) => isWayToPay(option.value) || isWayToPay(option.text)))

const isPayment = (control: PageControl): boolean => {
  const { autocomplete, id, name, type } = control
  if (buttons.has(type)) return false
  const names = `${name ?? ""} ${id ?? ""}`
  return (
    (type !== "hidden" && (/^cc-/.test(autocomplete ?? "") || paymentField.test(names) || namesPaying(names))) ||
    choosesPayment(control)
  )
}

/** Whether a form asks how to pay, or says it. Such a form is read, never sent. */
export const asksToPay = (form: PageForm): boolean => form.controls.some(isPayment)

const chosen: ReadonlySet<string> = new Set(["hidden", "radio", "checkbox", "select", ...buttons])
const personal: ReadonlySet<string | undefined> = new Set([
  "email",
  "name",
  "given-name",
  "family-name",
  "tel",
  "street-address",
  "address-line1"
])
const personalName = /whats-?app|viber|telegram|(?<!\p{L})(?:fio|фио)(?!\p{L})/iu

/** Whether a form asks who somebody is or where. What only adds to a cart does not; what does may order. */
export const asksForPerson = (form: PageForm): boolean =>
  form.controls.some(
    (control) =>
      !chosen.has(control.type) &&
      !control.disabled &&
      (personal.has(fieldOf(control)) || personalName.test([control.name, control.id, control.label].join(" ")))
  )

const whereTo: ReadonlySet<string | undefined> = new Set(["street-address", "address-line1", "postal-code", "tel"])

/** Whether a form asks where to ship to or whom to call, without which nobody can order. */
export const asksWhereTo = (form: PageForm): boolean =>
  form.controls.some((control) => !control.disabled && whereTo.has(fieldOf(control)))

const asksPassword = (form: PageForm): boolean => form.controls.some(({ type }) => type === "password")

/** Whether what a form sends unseen, or its pressed button sends, says that it orders. */
const sendsOrder = (form: PageForm, button: PageControl | undefined): boolean =>
  form.controls.some(
    (control) =>
      (control.type === "hidden" || control === button) && isOrderingField(control.name ?? "", control.value ?? "")
  )

/** Where a form goes when this button is pressed. */
export const actionOf = (form: PageForm, button: PageControl | undefined): string => button?.formAction ?? form.action

const goesToOrder = (address: string): boolean => {
  const url = URL.parse(address)
  return url === null || takesOrders(url)
}

const saleTerms =
  /\bagb\b|widerruf|\bterms\b|conditions (?:of sale|générales)|\bcgv\b|t[ée]rminos|condiciones|condizioni|voorwaarden|regulamin|оферт/i

/** Whether a form asks for what is agreed to when something is bought. */
const asksToAgree = (form: PageForm): boolean =>
  form.controls.some(
    ({ id, label, name, type }) =>
      type === "checkbox" && saleTerms.test([name, id, label].join(" ").replace(/[_-]/g, " "))
  )

const folded = (label: string): string => label.replace(/\s+/g, " ").trim()
const isContinue = /^(?:continue|proceed|go) to (?:payment|shipping|delivery)(?: method)?s?$/i

/**
 * Whether what a form sends with this button may be an order: by the button's words, a choice of how to pay, a field that orders, or
 * the address. Of what adds to a cart, also by asking for a person; of what goes on, by a button that has anything to do with orders, or by
 * asking to agree to the terms of a sale.
 */
export const maySendOrder = (form: PageForm, label: string, purpose: FormPurpose, button?: PageControl): boolean => {
  const said = folded(label)
  const leadsToOrder = purpose === "go_on" || (purpose === "guest" && asksWhereTo(form))
  return (
    (!isContinue.test(said) && (mayOrder(said) || (leadsToOrder && orderingOn.test(said)))) ||
    asksToPay(form) ||
    (purpose === "add_to_cart" && asksForPerson(form)) ||
    (leadsToOrder && asksWhereTo(form) && asksToAgree(form)) ||
    sendsOrder(form, button) ||
    goesToOrder(actionOf(form, button))
  )
}

/**
 * Whether a test may submit this form with this button: the button's words name the purpose, nothing says that it orders, and the form
 * holds no password. "Continue to payment" passes, "Pay" does not.
 */
export const maySubmit = (form: PageForm, label: string, purpose: FormPurpose, button?: PageControl): boolean =>
  serves(form, folded(label), purpose) && !maySendOrder(form, label, purpose, button) && !asksPassword(form)

const nextStep =
  /(?:\bto|zu[rm]?|vers|à la|\bal?|naar)\s.*(?:payment|shipping|delivery|zahlung|versand|lieferung|paiement|livraison|pago|env[ií]o|pagamento|spedizione|betaling|verzending)/iu

/** Whether a button says that it leads to the next step, and so is no order. */
export const namesNextStep = (label: string): boolean => nextStep.test(folded(label))

/**
 * Whether a page says that one pays on delivery and the form asks where that is, or how: then sending it may be all that an order takes,
 * unless its button names the next step.
 */
export const mayBeWholeOrder = (
  form: PageForm,
  label: string,
  { visibleText }: Pick<PageFacts, "visibleText">
): boolean =>
  paysOnDelivery(visibleText) &&
  !namesNextStep(label) &&
  (asksWhereTo(form) || form.controls.some((control) => roleOf(control) === "shipping"))

/** The form of a page in which a browser presses a button of one of these names, if sending that form may order. */
export const orderingForm = (
  { forms }: Pick<PageFacts, "forms">,
  names: ReadonlyArray<string>,
  purpose: FormPurpose
): PageForm | undefined => {
  const pressed = new Set(names.map((name) => folded(name).toLowerCase()))
  return forms.find((form) =>
    form.controls.some(
      (control) =>
        buttons.has(control.type) &&
        pressed.has(folded(control.label ?? "").toLowerCase()) &&
        maySendOrder(form, control.label ?? "", purpose, control)
    )
  )
}
