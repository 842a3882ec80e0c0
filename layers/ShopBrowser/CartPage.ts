import { Effect } from "effect"
import { readPrices } from "#domain/page/Price.ts"
import { samePrice } from "#domain/ProductChoice.ts"
import { snippet } from "#services/ShoppingEngine/Outcomes.ts"
import type { Candidate } from "#services/ShoppingEngine/Rail.ts"
import { ask, shownText } from "./Chromium.ts"
import { type Look, look } from "./Look.ts"
import { cart, emptyCart } from "./Names.ts"
import type { Tab } from "./Tab.ts"

/** Where shops have their cart, when no link says it. */
const usual = ["/cart", "/basket", "/checkout/cart", "/bag"]
const mostLinks = 3

/** A cart as it was read back from its own page. */
export interface CartSeen {
  readonly look: Look
  readonly status: number
  /** The line that holds the item; undefined when there is none. */
  readonly line: string | undefined
  readonly price: string | null
  readonly isEmpty: boolean
}

const amount = /\p{Sc}\s?\d|\d\s?\p{Sc}|\d[.,]\d{2}(?!\d)|\b[A-Z]{3}\s?\d/u

/** What a cart may call the item: its name, its name without the variant, its SKU. */
const callings = ({ name, sku }: Candidate): ReadonlyArray<string> => {
  const bare = name.split(/\s[-–—|]\s/)[0] ?? name
  return [...new Set([name, bare, sku ?? ""])].filter((text) => text.trim().length >= 3)
}

const lineOf = Effect.fnUntraced(function* (tab: Tab, candidate: Candidate) {
  for (const calling of callings(candidate)) {
    const rows = tab.page
      .locator("li:visible, tr:visible, article:visible, section:visible, fieldset:visible, div:visible")
      .filter({ hasText: calling })
      .filter({ hasText: amount })
    if ((yield* ask(() => rows.count())) === 0) continue
    // The innermost comes last.
    return (yield* ask(() => shownText(rows.last()))).slice(0, 1_000)
  }
  return undefined
})

const priceIn = (line: string, { price }: Candidate): string | null => {
  const prices = readPrices(line).map(({ value }) => value)
  return prices.find((value) => samePrice(value, price) === true) ?? prices[0] ?? null
}

/** Reads a page as a cart. */
export const readCart = Effect.fnUntraced(function* (tab: Tab, candidate: Candidate, status: number) {
  const seen = yield* look(tab)
  const line = yield* lineOf(tab, candidate)
  const isEmpty = emptyCart.test(seen.text)
  const found: CartSeen = {
    look: seen,
    status,
    line: line === undefined || isEmpty ? undefined : (snippet(line) ?? undefined),
    price: line === undefined ? null : priceIn(line, candidate),
    isEmpty
  }
  return found
})

const sameSite = (url: URL, home: URL) =>
  url.protocol === home.protocol && url.hostname.endsWith(home.hostname.replace(/^www\./, ""))

/** Where this page says the cart is, then where carts usually are. */
const addresses = (seen: Look): ReadonlyArray<URL> => {
  const linked = seen.facts.links
    .filter(
      ({ href, text }) => cart.test(text) || /\/(?:cart|basket|bag|warenkorb|panier|carrito|carrello)\/?$/i.test(href)
    )
    .flatMap(({ href }) => URL.parse(href) ?? [])
    .filter((url) => sameSite(url, seen.url) && !/add|remove|clear|logout|[?&]/i.test(url.pathname + url.search))
  const known = usual.map((path) => new URL(path, seen.url))
  const unique = new Map([...linked.slice(0, mostLinks), ...known].map((url) => [url.origin + url.pathname, url]))
  return [...unique.values()]
}

/** Finds the cart's own page and reads it; undefined when there is none. `from` is a page of the shop. */
export const openCart = Effect.fnUntraced(function* (tab: Tab, from: Look, candidate: Candidate) {
  let empty: CartSeen | undefined
  for (const url of addresses(from)) {
    const status = yield* tab.goTo(url)
    if (status >= 400) continue
    const seen = yield* readCart(tab, candidate, status)
    if (seen.line !== undefined) return seen
    if (seen.isEmpty) empty ??= seen
  }
  return empty
})
