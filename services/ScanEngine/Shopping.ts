import { Effect } from "effect"
import { isCart } from "#domain/CartWords.ts"
import { accountWall } from "#domain/page/Accounts.ts"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import { productCandidates } from "#domain/scan/Candidates.ts"
import { isProductPage } from "#domain/scan/Operation.ts"
import { apiAddress, jsonOf, platformApi } from "#domain/scan/PlatformApis.ts"
import { cartLink, checkoutLink } from "#domain/scan/ShopSigns.ts"
import { addressAt } from "#domain/scan/SiteAddress.ts"
import type { CatalogueFacts, Shop, SiteFacts } from "#domain/scan/SiteFacts.ts"
import { apiFault, isFine, isPage, type Page, type Sight } from "#domain/scan/Sight.ts"
import type { Visit } from "../SiteVisits.ts"
import { askSitemap, type SitemapSeen } from "./Finding.ts"
import { look, sightOf, unanswered } from "./Looking.ts"

/** What is known of the site when it is looked at as a shop. */
export interface Ground {
  readonly visit: Visit
  readonly origin: string
  readonly home: PageFacts | undefined
  readonly platform: string | null
  readonly sitemap: SitemapSeen
  readonly nowhere: ReadonlyArray<Sight>
  readonly shop: Shop
}

/** What it showed as a shop. */
export interface Shopped extends Pick<SiteFacts, "catalogue" | "tried" | "products" | "cart" | "cartApi" | "checkout"> {
  readonly sitemap: SitemapSeen
  /** Pages of products that were not looked at. */
  readonly candidates: ReadonlyArray<string>
}

/**
 * Looks for a product and, beside that, at cart and checkout as they are while nothing is in the cart. Where nothing says that it is a
 * shop, only a page of a product makes cart and checkout worth asking for.
 */
export const goShopping = Effect.fnUntraced(function* (ground: Ground) {
  const isCertain = ground.shop.answer !== "no"
  const product = findProduct(ground)
  if (isCertain) {
    const [found, till] = yield* Effect.all([product, findTill(ground)], { concurrency: 2 })
    return { ...found, ...till } satisfies Shopped
  }
  const found = yield* product
  if (found.products.length === 0) return { ...found, cart: undefined, cartApi: undefined, checkout: undefined }
  return { ...found, ...(yield* findTill(ground)) } satisfies Shopped
})

const findProduct = Effect.fnUntraced(function* (ground: Ground) {
  const { home, nowhere, origin, platform, shop, visit } = ground
  const part = ground.sitemap.part
  const [catalogue, sitemap] = yield* Effect.all(
    [
      findCatalogue(ground),
      part === undefined || shop.answer === "no"
        ? Effect.succeed(ground.sitemap)
        : askPart(visit, ground.sitemap, addressAt(origin, part) ?? part, platform)
    ],
    { concurrency: 2 }
  )
  const locations = sitemap.read?.kind === "urlset" ? sitemap.read.locs.slice(0, 100) : []
  const candidates = productCandidates({
    origin,
    platform,
    home,
    catalogue: catalogue?.items ?? [],
    sitemap: {
      products: sitemap.read?.products ?? [],
      listed: sitemap.isOfProducts ? locations : [],
      locations
    },
    isShop: shop.answer !== "no"
  })
  const [first, ...rest] = candidates
  if (first === undefined) return { catalogue, sitemap, tried: [], products: [], candidates: [] }
  const page = yield* lookAtProduct(visit, first, nowhere)
  return { catalogue, sitemap, tried: [page], products: productsAmong([page]), candidates: rest }
})

/** A part that cannot be read leaves what the index says. */
const askPart = (visit: Visit, index: SitemapSeen, part: string | URL, platform: string | null) =>
  Effect.map(askSitemap(visit, part, platform), (seen) =>
    seen.read?.kind === "urlset" ? { ...seen, part: undefined } : { ...index, part: undefined }
  )

export const lookAtProduct = (visit: Visit, url: string, nowhere: ReadonlyArray<Sight>) =>
  Effect.map(look(visit, { url, obeysRobots: true }), ({ sight }) => unlikeNowhere(sight, nowhere))

export const productsAmong = (sights: ReadonlyArray<Sight>): ReadonlyArray<Page> =>
  sights.filter(isPage).filter(({ page }) => isProductPage(page))

const findCatalogue = Effect.fnUntraced(function* ({ home, origin, platform, visit }: Ground) {
  const { catalogue } = platformApi(platform ?? undefined)
  if (catalogue === undefined) return undefined
  const request = { url: apiAddress(catalogue.path, home, origin), accept: "application/json", obeysRobots: true }
  const { read, sight } = yield* look(visit, request, ({ text }) =>
    Effect.sync(() => {
      const answer = jsonOf(text)
      return { items: catalogue.read(answer, origin), isFault: catalogue.isFault?.(answer) === true }
    })
  )
  return {
    source: `${platform} ${catalogue.path.replace(/\?.*/, "")}`,
    sight: read?.isFault === true ? unanswered(sight.asked, apiFault, sight.ms) : sight,
    items: read?.items
  } satisfies CatalogueFacts
})

const findTill = Effect.fnUntraced(function* (ground: Ground) {
  const { home, nowhere, origin, platform, visit } = ground
  const { cart: api } = platformApi(platform ?? undefined)
  const cartUrl =
    (home && cartLink(home)) ?? (platform === "magento" || platform === "magento1" ? "/checkout/cart" : "/cart")
  const checkoutUrl = (home && checkoutLink(home)) ?? "/checkout"
  const [cart, proof, checkout] = yield* Effect.all(
    [
      look(visit, { url: new URL(cartUrl, origin) }),
      api === undefined
        ? Effect.succeed(undefined)
        : look(visit, { url: apiAddress(api.path, home, origin), accept: "application/json" }, ({ text }) =>
            Effect.sync(() => api.isCart(jsonOf(text)))
          ),
      askCheckout(visit, new URL(checkoutUrl, origin))
    ],
    { concurrency: 3 }
  )
  return {
    cart: unlikeNowhere(cart.sight, nowhere),
    cartApi:
      api === undefined || proof === undefined
        ? undefined
        : { path: api.path, sight: proof.sight, isOpen: proof.read === true },
    checkout: unlikeNowhere(checkout, nowhere)
  } satisfies Pick<SiteFacts, "cart" | "cartApi" | "checkout">
})

/** Sent back to the cart, which is asked for anyway, there is nothing more to see; sent elsewhere there is. */
const askCheckout = Effect.fnUntraced(function* (visit: Visit, url: URL) {
  const outcome = yield* visit.ask({ url, followsRedirects: false })
  if (outcome._tag === "NoAnswer" || outcome.status < 300 || outcome.status >= 400) {
    return yield* sightOf(url.href, outcome)
  }
  const target = URL.parse(outcome.headers.get("location") ?? "", outcome.url.href)
  if (target === null) return yield* plainLook(visit, url)
  const isHome = target.pathname === "/" && target.search === ""
  if (/\/(?:cart|basket|bag|warenkorb|carrito|panier)\b/i.test(target.pathname) || isCart(target) || isHome) {
    return { ...(yield* sightOf(url.href, outcome)), url: target.href }
  }
  if (target.pathname === url.pathname) return yield* plainLook(visit, url)
  return { ...(yield* plainLook(visit, target)), asked: url.href, redirects: 1 }
})
const plainLook = (visit: Visit, url: URL) => Effect.map(look(visit, { url }), ({ sight }) => sight)

/** A site that answers every path shows nothing by answering this one, when it is with the same page. */
const unlikeNowhere = (sight: Sight, nowhere: ReadonlyArray<Sight>): Sight => {
  if (!isPage(sight) || isSpecial(sight)) return sight
  const isSame = nowhere.some(
    (other) =>
      isFine(other) &&
      isPage(other) &&
      other.page.title === sight.page.title &&
      Math.abs(other.page.visibleLength - sight.page.visibleLength) <= other.page.visibleLength * 0.02 + 20
  )
  return isSame ? unanswered(sight.asked, "soft_not_found", sight.ms) : sight
}

/** The empty page of a client-only application is a finding of its own, and a login is one wherever it stands. */
const isSpecial = ({ page, url }: Page) => page.clientOnly !== null || accountWall(page, new URL(url)) !== undefined
