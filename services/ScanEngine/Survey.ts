import { DateTime, Effect } from "effect"
import { dateOf } from "#domain/Instant.ts"
import type { Document } from "#domain/page/Document.ts"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import { looksLikeProduct } from "#domain/page/ProductUrl.ts"
import type { MerchantCategory } from "#domain/Scan.ts"
import { isTurnedAway } from "#domain/scan/Access.ts"
import { shopOf } from "#domain/scan/ShopSigns.ts"
import { addressAt } from "#domain/scan/SiteAddress.ts"
import type { SiteFacts, SitemapFacts } from "#domain/scan/SiteFacts.ts"
import { isFine, isPage, type Sight } from "#domain/scan/Sight.ts"
import { PageReading } from "../PageReading.ts"
import type { NoAnswer, SiteAnswer, Visit } from "../SiteVisits.ts"
import { findDocuments, type SitemapSeen } from "./Finding.ts"
import { useLeftover } from "./Leftover.ts"
import { facts, look } from "./Looking.ts"
import { type Met, robotsFacts } from "./Meeting.ts"
import { calls, documents, type ProtocolFindings } from "./Protocols.ts"
import { goShopping } from "./Shopping.ts"

/** What a scan saw of a site that answered. */
export interface Surveyed {
  readonly facts: SiteFacts
  readonly protocols: ProtocolFindings
}

/**
 * Looks at everything else once the site has met us: first what is asked for whatever the site is, then the shop and the protocols
 * beside each other, and last what depends on those. Each request is asked in the same order for the same site.
 */
export const survey = Effect.fnUntraced(function* (
  whole: Visit,
  met: Met,
  { category, requests }: { readonly category: MerchantCategory | null; readonly requests: number }
) {
  const visit = isTurnedAway(met.home) ? quiet(whole, met.home) : whole
  const home = isPage(met.home) ? met.home.page : undefined
  const origin = new URL(met.home.url).origin
  const platform = met.answer && home && (yield* platformSeen(met.answer, home))
  const id = platform?.name ?? null
  const [found, declared, browser] = yield* Effect.all(
    [
      findDocuments(visit, origin, met.robots, id),
      documents(visit),
      look(visit, { url: met.home.asked, as: "browser" }, undefined, alike(met))
    ],
    { concurrency: 3 }
  )
  const early = {
    home: met.home,
    platform,
    catalogue: undefined,
    products: [],
    protocols: noProtocols,
    listed: found.sitemap.read?.productEntries ?? 0
  }
  const maybeShop = shopOf(early, category)
  const { nowhere } = found
  const surroundings = {
    visit,
    home: met.answer && home && { answer: met.answer, facts: home },
    platform: id,
    hasSoftNotFound: nowhere.some(isFine),
    isRetail: maybeShop.answer === "yes" || (maybeShop.answer === "unknown" && category !== null)
  }
  const ground = { visit, origin, home, platform: id, sitemap: found.sitemap, nowhere, shop: maybeShop }
  const [shopped, protocols] = yield* Effect.all([goShopping(ground), calls(surroundings, declared)], {
    concurrency: 2
  })
  const seen = { shopped, home, platform: platform?.name, origin, nowhere }
  const last = yield* useLeftover(
    visit,
    maybeShop.answer === "no" && shopped.products.length === 0 ? 0 : requests,
    seen
  )
  const { cart, cartApi, catalogue, checkout, sitemap } = shopped
  const { markdown, products, search, tried } = last
  const handled = { handlers: protocols.paymentHandlers, tools: protocols.ucp?.tools ?? [] }
  const shop = shopOf(
    { home: met.home, platform, catalogue, products, protocols: handled, listed: sitemap.read?.productEntries ?? 0 },
    category
  )
  // Of what was only tried, a page that nothing calls a product's says nothing about those.
  const isNamed = ({ asked }: Sight) =>
    looksLikeProduct(asked, id) ||
    (catalogue?.items ?? []).some(({ url }) => url !== undefined && addressAt(origin, url)?.href === asked)
  const facts: SiteFacts = {
    domain: visit.site.domain,
    now: yield* DateTime.nowAsDate,
    transport: met.transport,
    tlsFailure: met.tlsFailure,
    home: met.home,
    browserHome: browser.sight,
    wall: visit.challenge(),
    robots: robotsFacts(met.robots, (products[0] ?? tried.find(isNamed))?.asked),
    sitemap: sitemapFacts(sitemap, origin, products[0]?.asked),
    nowhere,
    llms: found.llms,
    platform,
    catalogue,
    shop,
    tried,
    // A page that looks like a product where nothing is sold is none.
    products: shop.answer === "no" ? [] : products,
    markdown: shop.answer === "no" ? undefined : markdown,
    cart,
    cartApi,
    checkout,
    search,
    protocols: handled
  }
  return { facts, protocols } satisfies Surveyed
})

/** Who is turned away at the door does not try the windows: only the comparison with a browser is still made. */
const quiet = (visit: Visit, { status }: Sight): Visit => ({
  ...visit,
  ask: (request) => {
    const detail = `the home page answered ${status}`
    const none: NoAnswer = { _tag: "NoAnswer", reason: "challenged", detail, ms: 0 }
    return request.as === "browser" ? visit.ask(request) : Effect.succeed(none)
  }
})

/** A page that is about as long as ours need not be read again to be compared with it. */
const alike = ({ answer, home }: Met) =>
  answer === undefined || home.page === undefined
    ? undefined
    : (html: Document, url: URL) =>
        Math.abs(html.bytes.length - answer.bytes) <= answer.bytes * 0.1 ? Effect.succeed(home.page) : facts(html, url)

const noProtocols = { handlers: [], tools: [] }

/** A mark that may belong to something embedded from elsewhere is none. */
const platformSeen = Effect.fnUntraced(function* ({ document, headers, setCookies }: SiteAnswer, { metas }: PageFacts) {
  const pages = yield* PageReading
  const signs = { metas, headers, setCookies }
  const platform = yield* Effect.orElseSucceed(pages.platform(document, signs), () => null)
  const isKnown = platform !== null && platform.confidence !== "low"
  return isKnown ? { name: platform.id, marker: platform.marker } : undefined
})

const sitemapFacts = ({ read, sight }: SitemapSeen, origin: string, product: string | undefined): SitemapFacts => ({
  sight,
  isRead: read !== undefined,
  locations: read?.entries ?? 0,
  products: read?.productEntries ?? 0,
  proven: product === undefined ? undefined : read?.locs.find((loc) => addressAt(origin, loc)?.href === product),
  newest: read?.newest == null ? undefined : dateOf(read.newest),
  problem: read?.problem ?? undefined
})
