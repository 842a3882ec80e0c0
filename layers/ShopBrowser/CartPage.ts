import { Effect } from "effect"
import type { Locator } from "playwright-core"
import { chargedIn } from "#domain/CartLine.ts"
import { isCart, saysEmpty } from "#domain/CartWords.ts"
import { readPrices } from "#domain/page/Price.ts"
import { snippet } from "#services/ShoppingEngine/Outcomes.ts"
import type { Candidate } from "#services/ShoppingEngine/Rail.ts"
import { ask, shownText } from "./Chromium.ts"
import { isLogin, type Look, look } from "./Look.ts"
import { allowed, cart } from "./Names.ts"
import { find } from "./Press.ts"
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
  /** A login came in place of the cart. */
  readonly isLogin: boolean
}

/** How many boxes around an item are looked at, from the innermost, and how much of each. */
const mostRows = 40
const longestRow = 2_000

/** What a cart may call the item: its name, its name without the variant, its SKU. */
const callings = ({ name, sku }: Candidate): ReadonlyArray<string> => {
  const bare = name.split(/\s[-–—|]\s/)[0] ?? name
  return [...new Set([name, bare, sku ?? ""])].filter((text) => text.trim().length >= 3)
}

/** What lines of carts are drawn as; where none of it is, what a plain page has. */
const lines = [
  "li:visible, tr:visible, article:visible, section:visible, fieldset:visible, div:visible",
  "p:visible, dl:visible, dd:visible, form:visible, main:visible, body:visible"
]

/** Whether a row has what only the row of a cart has: a quantity to change, or a way to take it out. */
const isOfCart = Effect.fnUntraced(function* (row: Locator) {
  const changes = row.locator(
    "input[type=number]:visible, input[name*=q]:visible, select:visible, [role=spinbutton]:visible"
  )
  return (yield* ask(() => changes.count())) > 0 || (yield* find(row, "remove")) !== undefined
})

/** The line around a box of it, where there is one. */
const aroundLine = "xpath=ancestor::*[self::tr or self::li or self::article][1]"
const isInCart = Effect.fnUntraced(function* (row: Locator) {
  return (yield* isOfCart(row)) || (yield* isOfCart(row.locator(aroundLine)))
})

/** As much of an element as is asked here. */
interface Holding {
  contains(other: unknown): boolean
}
const holds = (row: Locator, other: Locator) =>
  ask(() => other.elementHandle().then((inner) => row.evaluate((one: Holding, within) => one.contains(within), inner)))

/** How often the item is looked for on a page: in the cart, and among what is recommended or was seen last. */
const mostApart = 4

const lineOf = Effect.fnUntraced(function* (tab: Tab, candidate: Candidate) {
  for (const [calling, boxes] of lines.flatMap((boxes) => callings(candidate).map((one) => [one, boxes] as const))) {
    const rows = tab.page.locator(boxes).filter({ hasText: calling })
    const count = yield* ask(() => rows.count())
    const apart: Array<{ readonly row: Locator; readonly text: string }> = []
    // The innermost comes last. A name without a price beside it may be a heading or a message.
    for (let index = count - 1; index >= Math.max(0, count - mostRows) && apart.length < mostApart; index--) {
      const row = rows.nth(index)
      const inner = apart.at(-1)?.row
      if (inner !== undefined && (yield* holds(row, inner))) continue
      const text = (yield* ask(() => shownText(row))).slice(0, longestRow)
      if (readPrices(text).length === 0) continue
      apart.push({ row, text })
      if (yield* isInCart(row)) return { row, text }
    }
    if (apart[0] !== undefined) return apart[0]
  }
  return undefined
})

/** Reads a page as a cart. An empty one may show the item too: among what was seen last, or what others bought. */
const readCart = Effect.fnUntraced(function* (tab: Tab, candidate: Candidate, status: number) {
  const seen = yield* look(tab)
  const isSaid = saysEmpty(seen.text, seen.facts) !== undefined
  const found = yield* lineOf(tab, candidate)
  const line = found !== undefined && (!isSaid || (yield* isOfCart(found.row))) ? found.text : undefined
  const read: CartSeen = {
    look: seen,
    status,
    line: line === undefined ? undefined : (snippet(line) ?? undefined),
    price: line === undefined ? null : chargedIn(line, candidate),
    isEmpty: line === undefined && isSaid,
    isLogin: line === undefined && isLogin(seen)
  }
  return read
})

const sameSite = (url: URL, home: URL) =>
  url.protocol === home.protocol && url.hostname.endsWith(home.hostname.replace(/^www\./, ""))

/** What changes a cart when it is opened. */
const acts = /add|remov|delet|clear|empt|updat|logout|apply|coupon|voucher|ajout|vider|supprim|vaciar|leeren/i

/** Where this page says the cart is, or is the cart itself, as many shops lead to it whoever adds something; then where carts usually are. */
const addresses = (seen: Look): ReadonlyArray<URL> => {
  const own = isCart(seen.url) ? [seen.url] : []
  const linked = seen.facts.links
    .filter(({ text }) => !allowed.addToCart.test(text) && !acts.test(text))
    .flatMap(({ href, text }) => {
      const url = URL.parse(href)
      return url !== null && (cart.test(text) || isCart(url)) ? [url] : []
    })
    .concat(own)
    .filter((url) => sameSite(url, seen.url) && !acts.test(url.pathname + url.search))
    .map((url) => new URL(url.pathname + url.search, url))
  const known = usual.map((path) => new URL(path, seen.url))
  const unique = new Map(linked.map((url) => [url.href, url]))
  const first = [...unique.values()].slice(0, mostLinks)
  return [...first, ...known.filter(({ href }) => !first.some((url) => url.href === href))]
}

/** Finds the cart's own page and reads it; undefined when there is none. `from` is a page of the shop. */
export const openCart = Effect.fnUntraced(function* (tab: Tab, from: Look, candidate: Candidate) {
  let other: CartSeen | undefined
  for (const url of addresses(from)) {
    const status = yield* tab.goTo(url)
    if (status >= 400) continue
    const seen = yield* readCart(tab, candidate, status)
    if (seen.line !== undefined) return seen
    if (seen.isEmpty || seen.isLogin) other ??= seen
  }
  return other
})
