import { Effect, Option } from "effect"
import { isProductSitemap } from "#domain/page/ProductUrl.ts"
import type { Robots } from "#domain/Robots.ts"
import type { Errand } from "./Errand.ts"
import { evidenceOf } from "./Outcomes.ts"

/** How many documents are read to find products. */
const maxDocuments = 4
const maxLocations = 100

/** What the sitemaps of a shop say. */
export interface SitemapSeen {
  /** No document is a sitemap; not when we could not ask. */
  readonly isMissing: boolean
  readonly products: ReadonlyArray<string>
  /** The first of the others, where no address looks like a product's; `listed` are those in a sitemap of products. */
  readonly locations: ReadonlyArray<string>
  readonly listed: ReadonlyArray<string>
  readonly evidence: string | null
}

/** Those that name products first, then in order. */
const sorted = (addresses: ReadonlyArray<string>): ReadonlyArray<string> =>
  addresses.toSorted((a, b) => Number(isProductSitemap(b)) - Number(isProductSitemap(a)) || (a < b ? -1 : 1))

/** Reads the sitemaps that robots.txt names, or else the usual one, and what they refer to, until products are found. */
export const read = Effect.fnUntraced(function* (errand: Errand, robots: Robots, base: URL, platform: string | null) {
  const named = robots.sitemaps.slice(0, maxDocuments)
  const queue = named.length > 0 ? [...sorted(named)] : [new URL("/sitemap.xml", base).href]
  const seen = new Set<string>()
  const locations: Array<string> = []
  const listed: Array<string> = []
  let isFound = false
  let wasAsked = false
  let evidence: string | null = null
  for (let next = queue.shift(); next !== undefined && seen.size < maxDocuments; next = queue.shift()) {
    if (seen.has(next)) continue
    seen.add(next)
    const outcome = yield* errand.look(next, { accept: "application/xml,text/xml;q=0.9,*/*;q=0.5" })
    if (outcome._tag === "NoAnswer") continue
    wasAsked = true
    evidence ??= evidenceOf(outcome)
    if (outcome.status !== 200) continue
    // One that is too much to read is there.
    const read = yield* Effect.option(errand.pages.sitemap(outcome.document, platform))
    isFound ||= Option.isNone(read)
    const map = Option.getOrUndefined(read)
    if (map === undefined) continue
    isFound = true
    if (map.products.length > 0)
      return {
        isMissing: false,
        products: map.products,
        locations: [],
        listed: [],
        evidence: null
      } satisfies SitemapSeen
    const locs = map.kind === "urlset" ? map.locs.slice(0, maxLocations - locations.length) : []
    locations.push(...locs)
    if (isProductSitemap(next)) listed.push(...locs)
    if (map.kind === "index") queue.unshift(...sorted(map.locs).slice(0, maxDocuments))
  }
  return { isMissing: wasAsked && !isFound, products: [], locations, listed, evidence } satisfies SitemapSeen
})
