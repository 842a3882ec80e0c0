import type { PageFacts } from "../page/PageFacts.ts"
import { looksLikeProduct } from "../page/ProductUrl.ts"
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
  readonly sitemap: { readonly products: ReadonlyArray<string>; readonly locations: ReadonlyArray<string> }
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
    ...linked.filter((href) => looksLikeProduct(href, platform)).toSorted()
  ]
  const possible = isShop
    ? [...sitemap.locations.toSorted(), ...linked.toSorted()].filter((href) => isDeep.test(href))
    : []
  const found = new Map<string, string>()
  for (const href of [...likely, ...possible]) {
    const url = URL.parse(href, origin)
    if (url === null || url.origin !== origin || url.pathname === "/" || isElsewhere.test(url.pathname)) continue
    url.hash = ""
    const key = url.pathname + url.search
    if (!found.has(key)) found.set(key, url.href)
    if (found.size >= most) break
  }
  return [...found.values()]
}
const most = 20

/** Two steps below the home page, or a long name of its own: what shops without a telling path use. */
const isDeep = /^https?:\/\/[^/]+\/(?:[^/?#]+\/[^/?#]{3,}|[^/?#]{8,}\.html?)\/?$/

/** Pages that are never a product. */
const isElsewhere =
  /\/(?:cart|basket|checkout|account|login|register|sign-?in|sign-?up|wishlist|search|blogs?|news|articles?|posts?|pages?|polic(?:y|ies)|about|contact|kontakt|faq|help|support|terms|privacy|legal|careers?|jobs|press|collections|categor(?:y|ies)|tags?|authors?|docs|wp-\w+|cdn|assets|static|api)(?:\/[^/]*)?\/?$|\.(?:jpe?g|png|gif|svg|webp|pdf|xml|txt|css|js|json|zip)$/i
