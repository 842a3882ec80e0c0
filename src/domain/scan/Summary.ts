import type { Accessibility, StructuredData } from "../Scan.ts"
import { differenceOf } from "./Access.ts"
import { medianMillis } from "./Behaviour.ts"
import { requiresAccount } from "./Operation.ts"
import { firstOffer } from "./ProductData.ts"
import { typesOf } from "./ShopSigns.ts"
import type { SiteFacts } from "./SiteFacts.ts"
import { isAnswered, isPage, type Page } from "./Sight.ts"

/** What pages say of a product, in the site's own words; null when no page could be read. */
export const structuredData = ({ catalogue, home, products, shop, tried }: SiteFacts): StructuredData | null => {
  const pages = [...products, ...tried, home].filter(isPage)
  const [page] = products
  if (page === undefined && !isPage(home)) return null
  const stated = page?.page.products[0]
  const offer = stated === undefined ? undefined : firstOffer(stated)
  const isListed = (catalogue?.items?.length ?? 0) > 0
  return {
    product_url: page?.url ?? null,
    formats: [
      ...new Set([
        ...(page?.page.products ?? []).map(({ format }) => format),
        ...(isListed && shop.answer === "yes" ? (["platform_api"] as const) : [])
      ])
    ],
    product:
      stated === undefined
        ? null
        : {
            name: stated.name,
            price: offer?.price ?? offer?.rawPrice ?? null,
            currency: offer?.currency ?? null,
            availability: offer?.availability ?? null,
            sku: stated.sku,
            gtin: stated.gtin,
            brand: stated.brand,
            image: stated.image
          },
    types: [...new Set(pages.flatMap((sight) => typesOf(sight.page.jsonLd)))].slice(0, 50)
  }
}

/** A page that was not read to its end may have its text there. */
const worksPlainly = ({ isTruncated, page }: Page): boolean | null =>
  page.clientOnly === null ? true : isTruncated ? null : false

/** How the site meets agents. What was not seen is null. */
export const accessibility = (facts: SiteFacts, httpVersion: string | null): Accessibility => {
  const { browserHome, home, products, robots, shop, tried, wall } = facts
  const isKnown = robots.state === "rules" || robots.state === "none"
  const page = products[0] ?? [...tried, home].filter(isPage).find(({ page }) => page.clientOnly !== null)
  const readable = page ?? (shop.answer === "no" && isPage(home) ? home : undefined)
  return {
    robots_allows_agents: isKnown ? robots.blockedAtHome.length < robots.agents.length : null,
    blocked_agents: [...new Set([...robots.blockedAtHome, ...(robots.blockedAtProducts ?? [])])],
    challenge: wall?.vendor ?? null,
    differs_by_user_agent:
      isAnswered(browserHome) && home.status !== null ? differenceOf(home, browserHome) !== undefined : null,
    works_without_javascript: readable === undefined ? null : worksPlainly(readable),
    requires_account: requiresAccount(facts),
    median_ttfb_ms: medianMillis(facts),
    http_version: httpVersion
  }
}
