import type { PageFacts } from "../page/PageFacts.ts"
import { productCandidates } from "./Candidates.ts"

/** How many of those are looked at that a page lists. */
export const maxBeyond = 3

/** Pages that may be products' by where they are, most likely first. */
export const guesses = (
  origin: string,
  home: PageFacts,
  { listed, locations }: { readonly listed: ReadonlyArray<string>; readonly locations: ReadonlyArray<string> }
): ReadonlyArray<URL> => {
  const sitemap = { products: [], listed, locations }
  const found = productCandidates({ origin, platform: null, home, catalogue: [], sitemap, isShop: true })
  return found.map((href) => new URL(href))
}

const pathOf = (href: string): string => URL.parse(href)?.pathname ?? href

/** Pages that may be products' and that only this page links, of those that a shop's pages link: what it lists. */
export const beyond = (origin: string, page: PageFacts, before: PageFacts): ReadonlyArray<URL> => {
  const linked = new Set(before.links.map(({ href }) => pathOf(href)))
  // A page that is only sorted or narrowed in another way has the path of one that is linked before.
  const links = page.links.filter(({ href }) => !linked.has(pathOf(href)))
  return guesses(origin, { ...page, links }, { listed: [], locations: [] }).slice(0, maxBeyond)
}
