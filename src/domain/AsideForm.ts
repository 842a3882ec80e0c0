import { isAside, isAsideAddress, isExtra, isNothing, isOfAccounts, isOfLetters } from "./AsideWords.ts"
import { isOfGuests } from "./GuestWords.ts"
import { platformOf } from "./NextStep.ts"
import { fieldOf } from "./page/CheckoutFields.ts"
import type { PageControl, PageFacts, PageForm } from "./page/PageFacts.ts"

const address: ReadonlySet<string | undefined> = new Set(["street-address", "address-line1", "postal-code"])
const person: ReadonlySet<string | undefined> = new Set(["email", "name", "given-name", "family-name", "tel"])

const asks = (form: PageForm, what: ReadonlySet<string | undefined>): boolean =>
  form.controls.some((control) => !control.disabled && what.has(fieldOf(control)))

/** Whether a form asks where somebody lives, as a checkout does and what stands beside it does not. */
const asksAddress = (form: PageForm): boolean => asks(form, address)

const signingUp =
  /^(?:create[-_]?(?:an?[-_]?)?account|register|is[-_]?register|news-?letter|subscribe|is[-_]?subscribed|opt[-_]?in|marketing[-_\w]*|accepts[-_]?marketing|donation[-_\w]*|donate)$/i

/** Whether a form sends unseen that somebody signs up or gives something. */
const signsUp = ({ controls }: PageForm): boolean =>
  controls.some(
    ({ disabled, name, type, value }) =>
      type === "hidden" &&
      !disabled &&
      signingUp.test((name ?? "").replace(/^.*[[.](?=\w+\]?$)|\]$/g, "")) &&
      !isNothing({ text: "", value: value ?? "" })
  )

const actionOf = (form: PageForm, button: PageControl | undefined): URL | null =>
  URL.parse(button?.formAction ?? form.action)

/**
 * Whether a form is no step of buying: letters, accounts, lists, questions. By where it goes, by its button, by what it sends unseen, and
 * where it asks only who somebody is, by what stands around it.
 */
export const leadsAside = (
  form: PageForm,
  label: string,
  button?: PageControl,
  page?: Pick<PageFacts, "url" | "steps">
): boolean => {
  if (page !== undefined && platformOf(page, form) !== undefined) return false
  const url = actionOf(form, button)
  if ((url !== null && isAsideAddress(url)) || signsUp(form)) return true
  if (isOfGuests(label)) return false
  if (isAside(label)) return true
  if (asksAddress(form) || !asks(form, person)) return false
  return isOfGuests(form.words) ? isOfLetters(form.words) : isAside(form.words)
}

/** The part of such forms that only signs in or makes an account: the shop may want one, or may not. */
export const leadsToAccount = (form: PageForm, label: string): boolean =>
  !form.isBeside && !isOfLetters(`${label} ${form.words}`) && isOfAccounts(`${label} ${form.words} ${form.action}`)

const ofCheckout =
  /check-?out|kasse|caisse|commande|onepage|order|cart|basket|bag\b|warenkorb|panier|carrito|carrinho|carrello|pedido|compra|cassa|ordine|bestel|afreken|koszyk|zam[oó]w|ko[sš][ií]k|objedn|sepet|sipari|заказ|корзин|kassa|kassen|purchase|\bbuy|guest|gast|shipping|delivery|address|billing|customer|contact-?(?:info|detail)|\bsteps?\b|etape|paso\b|schritt|invit/i

/**
 * Whether a form that only asks who somebody is says that it is the checkout's own: it goes to the checkout or back to the page, and does
 * not stand beside what the page is about.
 */
export const isOfCheckout = (form: PageForm, label: string, button: PageControl | undefined, page: string): boolean => {
  if (isOfGuests(label)) return true
  const url = actionOf(form, button)
  const isOwn = url !== null && url.pathname === URL.parse(page)?.pathname
  return !form.isBeside && url !== null && (isOwn || ofCheckout.test(url.pathname + url.search))
}

/** Whether a control would buy, give or sign up for something beside the purchase, by its own words. */
export const isExtraControl = ({ id, label, name, type }: PageControl): boolean =>
  isExtra([name ?? "", id ?? "", type === "radio" ? "" : (label ?? "")].join(" "))
