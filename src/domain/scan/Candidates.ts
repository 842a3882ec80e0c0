import type { PageFacts } from "../page/PageFacts.ts"
import { readPrices } from "../page/Price.ts"
import { looksLikeProduct } from "../page/ProductUrl.ts"
import { addressAt } from "./SiteAddress.ts"
import type { CatalogueItem } from "./SiteFacts.ts"

/**
 * Where pages of products may be, most certain first, each once; always in the same order for the same site, in whatever order it lists itself. What only might be one
 * counts where it is known to be a shop: elsewhere it is an article.
 */
export const productCandidates = (seen: {
  readonly origin: string
  readonly platform: string | null
  readonly home: PageFacts | undefined
  readonly catalogue: ReadonlyArray<CatalogueItem>
  readonly sitemap: {
    readonly products: ReadonlyArray<string>
    /** What a sitemap of products lists, whatever it looks like. */
    readonly listed: ReadonlyArray<string>
    readonly locations: ReadonlyArray<string>
  }
  readonly isShop: boolean
}): ReadonlyArray<string> => {
  const { catalogue, home, isShop, origin, platform, sitemap } = seen
  const linked = (home?.links ?? []).map(({ href }) => href)
  const stated = (home?.products ?? []).flatMap(({ url }) => url ?? [])
  // A site lists itself in whatever order its database gives; each list is sorted before it is cut.
  const likely = [
    ...catalogue.flatMap(({ url }) => url ?? []).toSorted(),
    ...stated.toSorted(),
    ...sitemap.products.toSorted(),
    ...linked.filter((href) => looksLikeProduct(href, platform)).toSorted(),
    ...sitemap.listed.toSorted()
  ]
  const guesses = isShop ? [...sitemap.locations.toSorted(), ...linked.toSorted()] : []
  const words = isShop ? linked.toSorted() : []
  const priced = isShop ? (home?.links ?? []).filter(({ text }) => readPrices(text.slice(0, 300)).length > 0) : []
  const possible = [
    ...priced
      .map(({ href }) => href)
      .filter(isOneWord)
      .toSorted(),
    ...inTurns(
      guesses.filter((href) => isDeep.test(href)),
      guesses.filter((href) => isDeeper.test(href))
    ),
    ...guesses.filter(isName).toSorted(longerNamesFirst),
    ...words.filter(isOneWord)
  ]
  const found = new Map<string, string>()
  for (const href of [...likely, ...possible]) {
    const url = addressAt(origin, href)
    if (url === undefined || url.pathname === "/" || isElsewhere.test(url.pathname)) continue
    const key = url.pathname + url.search
    if (!found.has(key)) found.set(key, url.href)
    if (found.size >= most) break
  }
  return [...found.values()]
}
const most = 20

/** Two steps below the home page, or a long name of its own: what shops without a telling path use. */
const isDeep = /^https?:\/\/[^/]+\/(?:[^/?#]+\/[^/?#]{3,}|[^/?#]{8,}\.html?)\/?$/

/** More steps, as systems write that name what a product is sorted into before it; what has so many may be sorted there as well. */
const isDeeper = /^https?:\/\/[^/]+\/(?:[^/?#]+\/){2,7}[^/?#]{3,}\/?$/

/** One of each by turns: neither keeps the other from being looked at. */
const inTurns = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from({ length: Math.max(one.length, other.length) }, (_, at) => [one[at], other[at]]).flatMap((pair) =>
    pair.flatMap((href) => href ?? [])
  )

/** One step with several words, as some systems name all their pages: the last that is tried. */
const isName = (href: string) => /^https?:\/\/[^/]+\/[^/?#][^/?#-]*-[^/?#]+\/?$/.test(href) && !isService.test(href)
const isService =
  /\/(?:about|contact|my|our|how|why|who|gift|shipping|delivery|payment|privacy|cookie|terms|returns?|refunds?|orders?|track|size|stores?|customer|log|sign|forgot|create|thank|meet)-[^/]*\/?$|-(?:policy|policies|us|you|list|conditions|service|map|guide|returns?|password|account|program|locator|arrivals|sellers|cards?)(?:\.\w+)?\/?$/i

/** One step of one word: the very last, of which most are pages about the shop. A link that says a price is most often a product's. */
const isWord = /^https?:\/\/[^/]+\/[^/?#.-]{3,}(?:\.(?:html?|php))?\/?$/
const isOneWord = (href: string) => isWord.test(href) && !isServiceWord.test(href)
const isServiceWord =
  /\/(?:shop|store|winkel|sklep|home|start|index|impressum|imprint|agb|datenschutz|versand|shipping|delivery|returns?|retouren|levering|verzending|dostawa|privacy|privacybeleid|voorwaarden|regulamin|cookies?|contacto?|contatti|newsletter|sitemap|service|services|team|history|story|jobs|press|presse|sale|new|kassa|kasse|winkelwagen|warenkorb|panier|koszyk|carrito|carrello|login|logout|inloggen|konto|account|compte|cuenta|profile|orders?|galerie|gallery|video|events?)(?:\.\w+)?\/?$/i

/** What things are sorted into has short names, and the things themselves have long ones. */
const longerNamesFirst = (a: string, b: string) => hyphens(b) - hyphens(a) || (a < b ? -1 : a > b ? 1 : 0)
const hyphens = (href: string) => href.split("-").length

/** Pages that are never a product. */
const isElsewhere =
  /\/(?:cart|basket|checkout|account|login|register|sign-?in|sign-?up|wishlist|search|blogs?|news|articles?|posts?|pages?|polic(?:y|ies)|about|contact|kontakt|faq|help|support|terms|privacy|legal|careers?|jobs|press|collections|categor(?:y|ies)|brands?|tags?|authors?|docs|wp-\w+|cdn|assets|static|api)(?:\/[^/]*)?\/?$|\/product-(?:category|tag)(?:\/|$)|^\/(?:catalogsearch|catalog\/product_compare|customer|sales\/guest|search\/term)\/|^\/(?:shop|store|products?)\/?$|\.(?:jpe?g|png|gif|svg|webp|pdf|xml|txt|css|js|json|zip)$/i
