import { isOfCheckout, leadsAside } from "./AsideForm.ts"
import { guestLabel } from "./GuestWords.ts"
import {
  isOfBill,
  isOrderingField,
  isOrderingId,
  isOrderPath,
  isWayToPay,
  namesPaying,
  soundsLikeDeed
} from "./Deeds.ts"
import {
  type CheckoutPage,
  type Fulfilment,
  isEnoughToOrder,
  isGuestWithoutPassword,
  listsLaterStep,
  namesShippingNext,
  nextStepOf
} from "./NextStep.ts"
import { onward } from "./CartWords.ts"
import { alwaysOrders, buysAtOnce, leadsToOrder } from "./OrderingWords.ts"
import { addsByAddress, addToCart } from "./page/AddToCart.ts"
import { fieldOf } from "./page/CheckoutFields.ts"
import { buttonTypes } from "./page/Controls.ts"
import type { PageControl, PageFacts, PageForm } from "./page/PageFacts.ts"
import { actsAtOnce, startsSubscription } from "./VisitorWords.ts"

const goesOn = new RegExp(
  `^(?:continue|next|save|proceed|go|update|calculate|estimate|apply|use|deliver|ship|${onward})(?![\\p{L}\\d_])`,
  "iu"
)
/** What is taken off a price, or paid with, beside the way on: "Apply coupon" stands before it in many forms. */
const ofCodes =
  /coupon|promo|voucher|discount|gift|gutschein|rabatt|cup[oó]n|descuento|buono|sconto|remise|korting|kod\b|points/i
const emptying =
  /\b(?:empty|clear|remove|delete)\b|^\s*[x×✕✖]\s*$|leeren|entfernen|löschen|vider|supprimer|retirer|vaciar|eliminar|quitar|rimuovi|svuota|remover|verwijder|usuń|opróżnij|wyczyść|ta\s+bort|töm\s|fjern|tøm\s|poista|tyhjennä|odebrat|odstranit|vyprázdnit|kaldır|boşalt|удалить|очистить|削除|空にする|删除|清空|移除|삭제|비우기|إفراغ|إزالة|حذف|רוקן|הסר|מחק|خالی\s+کردن|x(?:óa|oá)|ลบ|ล้าง|हटाएं|खाली/i

const ofOthers =
  /account|konto|compte|cuenta|wish|merkzettel|address|adresse?|filter|osoit|tili|hesap|аккаунт|адрес|фильтр|アカウント|住所|账户|帳戶|地址|계정|주소|حساب|عنوان|חשבון|כתובת|آدرس|tài khoản|địa chỉ|บัญชี|ที่อยู่|खाता|पता/i

/** Whether words are those of what takes things out of a cart. */
export const isEmptying = (words: string): boolean => emptying.test(words) && !ofOthers.test(words)

/** For what a test submits a form. */
export type FormPurpose = "add_to_cart" | "guest" | "go_on" | "empty_cart"
const words = { guest: guestLabel, go_on: goesOn } as const

/** Whether the form, or the words of its button, say that it does this. */
export const serves = (form: PageForm, label: string, purpose: FormPurpose): boolean =>
  purpose === "add_to_cart"
    ? addToCart({ forms: [form], controls: [], links: [] }) !== undefined
    : purpose === "empty_cart"
      ? isEmptying(label)
      : !ofCodes.test(label) && (words[purpose].test(label) || (purpose === "go_on" && namesShippingNext(label)))

const paymentField = /card|cvc|cvv|iban|account[-_]?number|payment|expir/i
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
  if (buttonTypes.has(type) || isOfBill(name ?? "")) return false
  const names = `${name ?? ""} ${id ?? ""}`
  return (
    (type !== "hidden" && (/^cc-/.test(autocomplete ?? "") || paymentField.test(names) || namesPaying(names))) ||
    choosesPayment(control)
  )
}

/** Whether a form asks how to pay, or says it. Such a form is read, never sent. */
export const asksToPay = (form: PageForm): boolean => form.controls.some(isPayment)

const chosen: ReadonlySet<string> = new Set(["hidden", "radio", "checkbox", "select", ...buttonTypes])
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

/** Whether a form asks who one is and where to deliver, and for no password: who fills it in buys as a guest, whatever stands beside it. */
export const isForGuests = (form: PageForm): boolean =>
  asksWhereTo(form) &&
  !asksPassword(form) &&
  form.controls.some((control) => !control.disabled && fieldOf(control) === "email")

/** Whether what a form sends unseen, or its pressed button sends, says that it orders. */
const sendsOrder = (form: PageForm, button: PageControl | undefined): boolean =>
  isOrderingId(button?.id ?? "") ||
  form.controls.some(
    (control) =>
      (control.type === "hidden" || control === button) && isOrderingField(control.name ?? "", control.value ?? "")
  )

/** Where a form goes when this button is pressed. */
export const actionOf = (form: PageForm, button: PageControl | undefined): string => button?.formAction ?? form.action

/** Whether an address is of the shop whose page it is on: the same host, or one above or below it. */
export const isOfShop = (action: URL, page: string): boolean => {
  const [to, from] = [action, URL.parse(page)].map((url) => url?.host.replace(/^www\./, "") ?? "")
  return to === from || (to !== "" && from !== "" && (`${to}`.endsWith(`.${from}`) || `${from}`.endsWith(`.${to}`)))
}

const takesOut = /^(?:\/[\w-]{2,10})?\/(?:checkout|cart|basket)\/(?:line-?items?|items?)\/delete\/[\w-]{1,64}\/?$/i

/**
 * Whether an address may take an order. A checkout that sends all its steps to its own page is not told by that address alone: one that
 * asks only who somebody is, or that lists a later step, orders nothing yet.
 */
const goesToOrder = (
  form: PageForm,
  button: PageControl | undefined,
  page: CheckoutPage | undefined,
  purpose: FormPurpose
): boolean => {
  const url = URL.parse(actionOf(form, button))
  if (url === null || (page !== undefined && !isOfShop(url, page.url))) return true
  // As in Shopware, what takes a thing out of a cart is sent to an address that says so.
  if (soundsLikeDeed(url)) return !(purpose === "empty_cart" && takesOut.test(url.pathname) && !asksForPerson(form))
  if (!isOrderPath(url)) return false
  const isOwn = page !== undefined && URL.parse(page.url)?.pathname === url.pathname
  return !(isOwn && ((asksForPerson(form) && !asksWhereTo(form)) || listsLaterStep(page)))
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

/** Whether a button's words order. Those that buy at once in some shops fill a cart in others, by an address that says so. */
const saysOrder = (form: PageForm, said: string, purpose: FormPurpose, button: PageControl | undefined): boolean => {
  if (alwaysOrders(said)) return true
  if (!buysAtOnce(said)) return false
  const addsByField = form.controls.some(
    (control) => (control.type === "hidden" || control === button) && /^add[-_]?to[-_]?cart$/i.test(control.name ?? "")
  )
  return purpose !== "add_to_cart" || !(addsByField || addsByAddress(actionOf(form, button)))
}

/**
 * Whether what a form sends with this button may be an order: by the button's words, a choice of how to pay, a field that orders, or
 * the address. Of what adds to a cart, also by asking for a person; of what goes on, for guests too, by a button that has anything to do
 * with orders, or by asking to agree to the terms of a sale.
 */
export const maySendOrder = (
  form: PageForm,
  label: string,
  purpose: FormPurpose,
  button?: PageControl,
  page?: CheckoutPage
): boolean => {
  const said = folded(label)
  const goesOn = purpose === "go_on" || purpose === "guest"
  return (
    (!isContinue.test(said) && (saysOrder(form, said, purpose, button) || (goesOn && leadsToOrder(said)))) ||
    asksToPay(form) ||
    (purpose === "add_to_cart" && asksForPerson(form)) ||
    (goesOn && asksWhereTo(form) && asksToAgree(form)) ||
    sendsOrder(form, button) ||
    goesToOrder(form, button, page, purpose)
  )
}

/** Whether a form of this purpose is no step of buying, or does not say that it is one while it only asks who somebody is. */
export const isElsewhere = (
  form: PageForm,
  label: string,
  purpose: FormPurpose,
  button: PageControl | undefined,
  page: CheckoutPage | undefined
): boolean => {
  if (purpose === "add_to_cart" || purpose === "empty_cart") return false
  if (leadsAside(form, label, button, page)) return true
  return page !== undefined && asksForPerson(form) && !asksWhereTo(form) && !isOfCheckout(form, label, button, page.url)
}

/**
 * Whether a test may submit this form with this button: the button's words name the purpose, nothing says that it orders or that it is no
 * step of buying, and the form holds no password, or one that a known platform lets guests leave empty. Of a checkout's form
 * `mayTakeOrder` decides as well, which knows what was given before.
 */
export const maySubmit = (
  form: PageForm,
  label: string,
  purpose: FormPurpose,
  button?: PageControl,
  page?: CheckoutPage
): boolean =>
  serves(form, folded(label), purpose) &&
  !maySendOrder(form, label, purpose, button, page) &&
  !isElsewhere(form, folded(label), purpose, button, page) &&
  (!asksPassword(form) || (page !== undefined && isGuestWithoutPassword(page, form)))

/**
 * Whether a page may take the order when it is sent or gone on from: with this the shop knows who the shopper is and where, and nothing
 * shows that another step comes first. `given` is what it was given before.
 */
export const mayTakeOrder = (
  given: Iterable<string>,
  label: string,
  page: CheckoutPage,
  form?: Pick<PageForm, "action" | "controls">,
  goods?: Fulfilment
): boolean => isEnoughToOrder(given, goods) && nextStepOf(label, page, form) === undefined

/** A button of a page that subscribes to what it sells, where nothing fills a cart; that of letters asks who somebody is. */
export const subscribing = ({ controls, forms }: Pick<PageFacts, "controls" | "forms">): string | undefined =>
  [...forms.filter((form) => !asksForPerson(form)).flatMap((form) => form.controls), ...controls]
    .filter(({ disabled, type }) => buttonTypes.has(type) && !disabled)
    .map(({ label }) => folded(label ?? ""))
    .find((label) => startsSubscription(label))

/** A button of a page that buys at once, where nothing fills a cart. */
export const buyingAtOnce = ({ controls, forms }: Pick<PageFacts, "controls" | "forms">): string | undefined =>
  [...forms.flatMap((form) => form.controls), ...controls]
    .filter(({ disabled, type }) => buttonTypes.has(type) && !disabled)
    .map(({ label }) => folded(label ?? ""))
    .find((label) => buysAtOnce(label) || (alwaysOrders(label) && actsAtOnce(label)))

/** The form of a page in which a browser presses a button of one of these names, if sending that form may order. */
export const orderingForm = (
  { forms, steps, url }: Pick<PageFacts, "forms" | "url" | "steps">,
  names: ReadonlyArray<string>,
  purpose: FormPurpose
): PageForm | undefined => {
  const pressed = new Set(names.map((name) => folded(name).toLowerCase()))
  return forms.find((form) =>
    form.controls.some(
      (control) =>
        buttonTypes.has(control.type) &&
        pressed.has(folded(control.label ?? "").toLowerCase()) &&
        maySendOrder(form, control.label ?? "", purpose, control, { url, steps })
    )
  )
}
