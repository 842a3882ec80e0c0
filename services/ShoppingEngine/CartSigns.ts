import type { PageFacts } from "#domain/page/PageFacts.ts"
import { wordsOf } from "#domain/ProductChoice.ts"
import type { PageSeen } from "./ApiRail.ts"
import { occurrences } from "./FormPages.ts"
import type { Candidate } from "./Rail.ts"

/** What shows that a cart holds a product: how often it is there, and what it is called there. */
export interface Sign {
  readonly count: (facts: PageFacts) => number
  readonly calling: (facts: PageFacts) => string
}

/**
 * By what a cart may show a product: its name, the heading or the SKU of its page, or a link to that page. Structured data often has a
 * longer name than the shop's own pages.
 */
export const signsOf = ({ name, sku }: Candidate, { answer, facts }: PageSeen): ReadonlyArray<Sign> => {
  const { heading } = facts
  const { host, pathname, search } = answer.url
  const linksIn = (cart: PageFacts) =>
    cart.links.filter(({ href }) => {
      const url = URL.parse(href)
      return url !== null && url.host === host && url.pathname === pathname && url.search.startsWith(search)
    })
  // A heading such as "Product", or a SKU such as "12", stands in carts for other reasons.
  const isHeading = heading !== null && wordsOf(heading).some((word) => wordsOf(name).includes(word))
  const isSku = sku !== null && ((/\p{L}/u.test(sku) && /\d/.test(sku)) || sku.length >= 6)
  const texts = [name, ...(isHeading ? [heading] : []), ...(isSku ? [sku] : [])]
  return [
    ...texts.map((text): Sign => ({ count: (cart) => occurrences(cart, text), calling: () => text })),
    ...(pathname === "/" && search === ""
      ? []
      : [
          {
            count: (cart: PageFacts) => linksIn(cart).length,
            calling: (cart: PageFacts) => linksIn(cart).find(({ text }) => text !== "")?.text ?? name
          }
        ])
  ]
}
