import { Effect } from "effect"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import { productCandidates } from "#domain/scan/Candidates.ts"
import { isProductPage } from "#domain/scan/Operation.ts"
import { isGood, type PageSeen, pageFor } from "./ApiRail.ts"
import type { Errand } from "./Errand.ts"
import type { SiteAnswer } from "../SiteVisits.ts"
import type { SitemapSeen } from "./Sitemaps.ts"
import { turnedAway } from "./TurnedAway.ts"

/** How many pages are looked at to find one product, where no address tells which is one. */
const maxLooked = 8
/** And how many of them have to be products to choose from. */
const enough = 3

/** Pages that may be products' by where they are, most likely first. */
export const guesses = (
  origin: string,
  home: PageFacts,
  { listed, locations }: Pick<SitemapSeen, "listed" | "locations">
): ReadonlyArray<URL> => {
  const sitemap = { products: [], listed, locations }
  const found = productCandidates({ origin, platform: null, home, catalogue: [], sitemap, isShop: true })
  return found.map((href) => new URL(href))
}

/**
 * Pages of products in a shop whose addresses do not say so, such as `/blue-shirt.html`: found by looking at pages. `refused` where
 * none of them could be seen.
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
  let seenAny = false
  const missing: Array<SiteAnswer> = []
  for (const candidate of candidates.filter(allows).slice(0, maxLooked)) {
    const seen = yield* pageFor("discovery", errand, candidate)
    // Who turns us away here is not asked again.
    if (!isGood(seen)) {
      if (seen.status === "unknown") continue
      break
    }
    const { status, url } = seen.answer
    if (status >= 200 && status < 300 && url.origin === origin && isProductPage(seen.facts)) found.push(url)
    if (status >= 400) missing.push(seen.answer)
    else if (!isProductPage(seen.facts)) seenAny = true
    if (found.length >= enough) break
  }
  return { found, refused: seenAny ? undefined : turnedAway("discovery", missing) }
})
