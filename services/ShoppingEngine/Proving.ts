import { Effect } from "effect"
import { offeredBy } from "#domain/ProductOffered.ts"
import { beyond, guesses, maxBeyond } from "#domain/scan/Listed.ts"
import { isProductPage } from "#domain/scan/Operation.ts"
import { isGood, type PageSeen, pageFor } from "./ApiRail.ts"
import { categoriesOf } from "#domain/scan/Categories.ts"
import type { Errand } from "./Errand.ts"
import type { SiteAnswer } from "../SiteVisits.ts"
import type { SitemapSeen } from "./Sitemaps.ts"
import { turnedAway } from "./TurnedAway.ts"

/** How many pages are looked at to find one product, where no address tells which is one. */
const maxLooked = 10
/** After how many that are not there the shop's own lists are looked at: a sitemap may be older than what is sold. */
const gone = 3
/** And how many products there have to be to choose from. */
const enough = 3

/** Takes the next that may be looked at. */
const nextOf = (queue: Array<URL>, allows: (url: URL) => boolean): URL | undefined => {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) if (allows(next)) return next
  return undefined
}

/**
 * Pages of products in a shop whose addresses do not say so, such as `/blue-shirt.html`: found by looking at pages, and at what those list.
 * `refused` where none of them could be seen.
 */
export const proven = Effect.fnUntraced(function* (
  errand: Errand,
  home: PageSeen,
  { listed, locations }: Pick<SitemapSeen, "listed" | "locations">,
  allows: (url: URL) => boolean
) {
  const origin = home.answer.url.origin
  const candidates = guesses(origin, home.facts, { listed, locations })
  const found: Array<URL> = []
  const names = new Set<string>()
  let seenAny = false
  const missing: Array<SiteAnswer> = []
  const queue = [...candidates]
  const known = new Set(queue.map(({ href }) => href))
  const looked = new Set<string>()
  const isOpen = (url: URL) => !looked.has(url.href) && allows(url)
  while (looked.size < maxLooked) {
    const candidate = nextOf(queue, isOpen)
    if (candidate === undefined) break
    looked.add(candidate.href)
    const seen = yield* pageFor("discovery", errand, candidate)
    // Who turns us away here is not asked again.
    if (!isGood(seen)) {
      if (seen.status === "unknown") continue
      break
    }
    const { status, url } = seen.answer
    const isThere = status >= 200 && status < 300 && url.origin === origin
    if (isThere && isProductPage(seen.facts)) {
      found.push(url)
      const offered = offeredBy(url, seen.facts)
      // One product may have several addresses, and what is sold out cannot be chosen.
      if (offered?.isAvailable !== false) names.add(offered?.candidate.name ?? url.href)
    }
    if (status >= 400) {
      missing.push(seen.answer)
      const isStale = missing.length === gone && found.length === 0 && !seenAny
      if (isStale) queue.unshift(...categoriesOf(home.facts, home.answer.url).slice(0, maxBeyond))
    } else if (!isProductPage(seen.facts)) seenAny = true
    if (names.size >= enough) break
    if (!isThere || isProductPage(seen.facts)) continue
    const listed = beyond(origin, seen.facts, home.facts).filter(({ href }) => !known.has(href))
    for (const { href } of listed) known.add(href)
    queue.unshift(...listed)
  }
  return { found, refused: seenAny ? undefined : turnedAway("discovery", missing) }
})
