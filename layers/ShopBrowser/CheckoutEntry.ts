import { Effect } from "effect"
import type { Locator } from "playwright-core"
import { isExtra } from "#domain/AsideWords.ts"
import { checkoutBehind, checkoutWords, isCheckoutPage, shipsToMany } from "#domain/CartWords.ts"
import { decodedPath, isWayToPay } from "#domain/Deeds.ts"
import { isOfShop, orderingForm } from "#domain/FormConduct.ts"
import { alwaysOrders, mayOrder } from "#domain/OrderingWords.ts"
import { codePaths } from "#domain/page/Accounts.ts"
import { fieldOf } from "#domain/page/CheckoutFields.ts"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import { ask } from "./Chromium.ts"
import { isLogin, type Look, look, shownOf } from "./Look.ts"
import { allowed, express } from "./Names.ts"
import { find, namesOf, press } from "./Press.ts"
import type { Tab } from "./Tab.ts"

/** Checkouts that are pages of their own, when no link leads to one. */
const usual = ["/checkout", "/checkouts", "/kasse"]
const mostLinks = 3

const leadsToPayment = (text: string, { hostname, pathname }: URL): boolean =>
  express.test(text) || isWayToPay(text) || express.test(pathname.replace(/[-_/]+/g, " ")) || express.test(hostname)

/** Whether a link is called the checkout, or has the address of one. */
const isToCheckout = ({ href, text }: PageFacts["links"][number], { host }: URL): boolean => {
  const url = URL.parse(href)
  return (
    allowed.toCheckout.test(text) ||
    checkoutWords.test(text) ||
    (url !== null && url.host === host && isCheckoutPage(decodedPath(url)))
  )
}

/** Links that are called the checkout, or have its address. Those of a way to pay are none of the shop's own, and the plainest name comes first. */
const linksThere = (seen: Look): ReadonlyArray<URL> => {
  const links = seen.facts.links
    .filter((link) => isToCheckout(link, seen.url))
    .flatMap(({ href, text }) => {
      const url = URL.parse(href)
      const isWeb = url?.protocol === "http:" || url?.protocol === "https:"
      const isOther = url === null || !isWeb || leadsToPayment(text, url) || shipsToMany(text, url)
      return isOther ? [] : [{ url, isPlain: !mayOrder(text) }]
    })
  const sorted = links.toSorted((one, other) => Number(other.isPlain) - Number(one.isPlain))
  return [...new Map(sorted.map(({ url }) => [url.href, url])).values()].slice(0, mostLinks)
}

const parametersOf = ({ searchParams }: URL) => new Map(searchParams)

/** Whether an address is another page than that of the cart. Shops with one path for all their pages name them in a parameter. */
export const isOtherPage = (url: URL, cart: URL): boolean => {
  if (url.pathname !== cart.pathname) return !/\/(?:cart|basket|bag)\/?$/.test(url.pathname)
  const before = parametersOf(cart)
  return [...parametersOf(url)].some(([name, value]) => {
    const known = before.get(name)
    return known === undefined ? /check-?out/i.test(value) : known !== value
  })
}

const isCheckout = ({ url }: Look, cart: URL) => isOtherPage(url, cart)

/** A login of somebody else, who is one way to pay. Hosts of shops have their customers' logins at such addresses. */
const isForeignLogin = (seen: Look, cart: URL): boolean =>
  !isOfShop(seen.url, cart.href) &&
  !codePaths.test(seen.url.pathname) &&
  (isLogin(seen) || express.test(seen.url.hostname))

/** Presses what may be pressed by its name, unless to send the form around it may be to order. */
const pressSafely = Effect.fnUntraced(function* (seen: Look, control: Locator, purpose: "toCheckout" | "asGuest") {
  const form = orderingForm(seen.facts, yield* namesOf(control), "guest")
  return form === undefined && (yield* press(control, purpose))
})

const street: ReadonlySet<string | undefined> = new Set(["street-address", "address-line1"])
const person: ReadonlySet<string | undefined> = new Set(["email", "name", "given-name"])

/** Whether a page asks in sight who somebody is and where, as none does that only has a cart and what its shipping would cost. */
const asksAddress = Effect.fnUntraced(function* (tab: Tab, seen: Look) {
  const shown = yield* shownOf(tab, seen)
  return [shown?.controls ?? [], ...(shown?.forms ?? []).map(({ controls }) => controls)].some((controls) =>
    [street, person].every((kind) => controls.some((control) => !control.disabled && kind.has(fieldOf(control))))
  )
})

/** How many passwords a page asks for in sight. */
const passwords = (tab: Tab) => ask(() => tab.page.locator("input[type=password]:visible").count())

/** Where the way to the checkout led. */
export interface Entered {
  readonly status: number
  readonly seen: Look
  /** The way to the checkout was answered with a login over the cart's page. */
  readonly isAsking: boolean
}

/**
 * Goes to the checkout: by a link, then by a button of that name. Where neither leads to another page, the cart's own may be both, and else
 * it is looked for where it usually is. `elsewhere` is the login of a way to pay that was come to instead.
 */
export const enter = Effect.fnUntraced(function* (tab: Tab, cart: URL) {
  const status = yield* tab.goTo(cart)
  const before = yield* look(tab)
  let elsewhere: Look | undefined
  const arrivedAt = (answered: number, seen: Look): Entered | undefined => {
    if (!isCheckout(seen, cart)) return undefined
    if (!isForeignLogin(seen, cart)) return { status: answered, seen, isAsking: false }
    elsewhere ??= seen
    return undefined
  }
  const links = linksThere(before).filter((url) => url.pathname + url.search !== cart.pathname + cart.search)
  for (const url of links) {
    const found = arrivedAt(yield* tab.goTo(url, before.url), yield* look(tab))
    if (found !== undefined) return { found, elsewhere }
  }
  if (links.length > 0) yield* tab.goTo(cart)
  const button = yield* find(tab.page, "toCheckout", undefined, (_, names) =>
    Effect.succeed(!names.some((name) => express.test(name)))
  )
  const asked = yield* passwords(tab)
  if (button?.enabled === true && (yield* pressSafely(before, button.control, "toCheckout"))) {
    yield* tab.quiet
    const after = yield* look(tab)
    const found = arrivedAt(status, after)
    if (found !== undefined) return { found, elsewhere }
    if (asked === 0 && !isCheckout(after, cart) && (yield* passwords(tab)) > 0)
      return { found: { status, seen: after, isAsking: true }, elsewhere }
  }
  yield* tab.quiet
  const own = yield* look(tab)
  if (!isCheckout(own, cart) && (yield* asksAddress(tab, own)))
    return { found: { status, seen: own, isAsking: false }, elsewhere }
  const behind = checkoutBehind(own.facts)
  for (const url of [...(behind === undefined ? [] : [behind]), ...usual.map((path) => new URL(path, cart))]) {
    const answered = yield* tab.goTo(url)
    const found = arrivedAt(answered, yield* look(tab))
    if (answered < 400 && found !== undefined) return { found, elsewhere }
  }
  return { found: undefined, elsewhere }
})

/** What a page calls its way on for guests where nothing of that name is pressed, as it may be to order. */
export const guestHeld = ({ facts }: Look): string | undefined =>
  [
    ...[...facts.controls, ...facts.forms.flatMap(({ controls }) => controls)]
      .filter(({ disabled, type }) => !disabled && (type === "submit" || type === "button"))
      .map(({ label }) => label ?? ""),
    ...facts.links.map(({ text }) => text)
  ].find((name) => allowed.asGuest.test(name) && mayOrder(name))

/** Past a login that offers a way around itself. */
export const asGuest = Effect.fnUntraced(function* (tab: Tab, seen: Look) {
  const way = yield* find(tab.page, "asGuest")
  if (way?.enabled === true && (yield* pressSafely(seen, way.control, "asGuest"))) {
    yield* tab.quiet
    return yield* look(tab)
  }
  // What is chosen is sent with the form, and by nothing before.
  const choice = tab.page.getByRole("radio", { name: allowed.asGuest, checked: false }).first()
  if ((yield* ask(() => choice.count())) === 0 || !(yield* ask(() => choice.isEnabled()))) return seen
  if ((yield* namesOf(choice)).some(alwaysOrders) || isExtra((yield* ask(() => choice.getAttribute("name"))) ?? ""))
    return seen
  yield* Effect.ignore(ask(() => choice.check({ timeout: 1_500 })))
  yield* tab.quiet
  return yield* look(tab)
})
