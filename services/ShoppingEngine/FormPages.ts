import { addToCart } from "#domain/page/AddToCart.ts"
import type { PageControl, PageFacts, PageForm } from "#domain/page/PageFacts.ts"
import { totalIn } from "#domain/page/Total.ts"
import { actionOf, type FormPurpose, maySendOrder, maySubmit } from "#domain/FormConduct.ts"
import { checkoutBehind, checkoutWords, isCart, isCheckoutPath, shipsToMany } from "#domain/CartWords.ts"
import { decodedPath } from "#domain/Deeds.ts"
import { guestLabel, isAfterwards } from "#domain/GuestWords.ts"
import { encoded, type FilledForm } from "#domain/ShopperForm.ts"
import type { SiteRequest } from "../SiteVisits.ts"
import type { PageSeen } from "./ApiRail.ts"
import type { Candidate } from "./Rail.ts"

/** A form and the button that would send it. */
export interface Pressable {
  readonly form: PageForm
  readonly button: PageControl | undefined
  readonly label: string
}

const isSubmit = ({ disabled, type }: PageControl): boolean => !disabled && (type === "submit" || type === "image")

/** What a button says: its words, or else its name. */
export const labelOf = (button: PageControl): string => button.label ?? button.name ?? button.id ?? ""

/** Forms that add a product to the cart and may be submitted, in the page's order, with the button that does it. */
const addingForms = (facts: PageFacts): ReadonlyArray<Pressable> =>
  facts.forms.flatMap((form) => {
    const found = addToCart({ forms: [form], controls: [], links: [] })
    if (found === undefined || found.isDisabled) return []
    const label = found.control === null ? "" : labelOf(found.control)
    const button = found.control ?? undefined
    return maySubmit(form, label, "add_to_cart", button, facts) ? [{ form, button, label }] : []
  })

/** The form that adds this product: one that knows its id, or else the first below its heading whose button says "add", or else "buy". */
export const addingForm = (seen: PageSeen, candidate: Candidate): Pressable | undefined => {
  const all = addingForms(seen.facts)
  const below = all.filter(({ form }) => form.isAboveHeading !== true)
  const forms = below.length > 0 ? below : all
  const knows = (pressable: Pressable) =>
    [candidate.platformId, candidate.sku].some(
      (id) => id !== null && pressable.form.controls.some(({ value }) => value === id)
    )
  return all.find(knows) ?? forms.find(({ label }) => !/buy/i.test(label)) ?? forms[0]
}

/** Other forms that may be submitted for a purpose, in the page's order. */
export const formsFor = (facts: PageFacts, purpose: Exclude<FormPurpose, "add_to_cart">): ReadonlyArray<Pressable> =>
  facts.forms.flatMap((form) => {
    const button = form.controls.find(
      (control) => isSubmit(control) && maySubmit(form, labelOf(control), purpose, control, facts)
    )
    return button === undefined ? [] : [{ form, button, label: labelOf(button) }]
  })

/** The button of the first such form that is not sent because that may be to order. */
export const heldBack = (
  facts: PageFacts,
  isMeant: (form: PageForm, button: PageControl) => boolean
): PageControl | undefined =>
  facts.forms
    .filter(({ role }) => role !== "search")
    .flatMap((form) =>
      form.controls.filter(
        (control) =>
          isSubmit(control) && isMeant(form, control) && maySendOrder(form, labelOf(control), "go_on", control, facts)
      )
    )[0]

/** A filled form as a request. */
export const requestFor = ({ button, form }: Pressable, { values }: FilledForm, page: URL): SiteRequest => {
  const body = encoded(values)
  const referer = ["Referer", page.href] as const
  if (form.method === "GET") {
    const url = new URL(actionOf(form, button))
    url.search = body
    return { method: "GET", url, headers: [referer] }
  }
  return {
    method: "POST",
    url: actionOf(form, button),
    headers: [["Content-Type", "application/x-www-form-urlencoded"], ["Origin", page.origin], referer],
    body
  }
}

const sameSite = (href: string, page: URL): URL | undefined => {
  const url = URL.parse(href)
  return url !== null && url.host === page.host && !isWithin(url, page) ? url : undefined
}
/** A place of the page itself, such as the "#" of a button that opens a small cart. */
const isWithin = (url: URL, page: URL): boolean => url.href.includes("#") && bareOf(url) === bareOf(page)
const bareOf = ({ href }: URL): string => href.split("#", 1)[0] ?? href

/** The first link of this site by its words or its path. */
const linkTo = (facts: PageFacts, words: RegExp, isThere: (url: URL) => boolean): URL | undefined => {
  const page = new URL(facts.url)
  for (const test of [
    (link: PageFacts["links"][number], url: URL) => isThere(url) && words.test(link.text),
    (_: PageFacts["links"][number], url: URL) => isThere(url),
    (link: PageFacts["links"][number]) => words.test(link.text)
  ]) {
    for (const link of facts.links) {
      const url = sameSite(link.href, page)
      if (url !== undefined && test(link, url) && !shipsToMany(link.text, url)) return url
    }
  }
  return undefined
}

const cartWords =
  /^\W*(?:(?:view|my|your|shopping|show) )*(?:cart|bag|basket|trolley|warenkorb|einkaufswagen|panier|carrito|cesta|carrello|carrinho|winkelwagen|winkelmand(?:je)?|varukorg(?:en)?|kundvagn(?:en)?|(?:indkøbs|handle)?kurv(?:en)?|ostoskori|(?:twój )?koszyk|(?:nákupní )?košík|sepetim|корзина|カート|购物车|購物車|장바구니)(?!\p{L})/iu
/** Where a page says that the cart is. */
export const cartLink = (facts: PageFacts): URL | undefined => linkTo(facts, cartWords, isCartPath)
export const isCartPath = (url: URL): boolean => isCart({ pathname: decodedPath(url), search: url.search })

/** Where the cart's page leads to the checkout; undefined when nothing on it says so. */
export const checkoutLink = (facts: PageFacts): URL | undefined =>
  linkTo(
    // Where the cart itself has such an address, a small cart over every page links to it by the same words.
    { ...facts, links: facts.links.filter(({ href }) => leadsOn(href, new URL(facts.url))) },
    checkoutWords,
    (url) => isCheckoutPath(decodedPath(url))
  ) ?? checkoutBehind(facts)

export const guestLink = (facts: PageFacts): URL | undefined =>
  linkTo(
    { ...facts, links: facts.links.filter(({ href, text }) => !isAfterwards(`${text} ${URL.parse(href)?.pathname}`)) },
    guestLabel,
    (url) => /\/guest(?:\/|$)/i.test(decodedPath(url))
  )

/** How often a text stands in a page's text, whatever the case. */
export const occurrences = (facts: PageFacts, text: string): number =>
  facts.visibleText.toLowerCase().split(text.toLowerCase().replace(/\s+/g, " ").trim()).length - 1

/** The total that a page states. */
export const totalOn = (facts: PageFacts): string | null => totalIn(facts.visibleText)

/** Whether a link of a page leads on to something else of the same shop; what closes a banner leads to the page itself. */
export const leadsOn = (href: string, page: URL): boolean => {
  const url = URL.parse(href)
  return url !== null && url.host === page.host && url.pathname + url.search !== page.pathname + page.search
}
