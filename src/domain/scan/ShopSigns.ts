import { isCart, namesCheckout, shipsToMany } from "../CartWords.ts"
import { addToCart } from "../page/AddToCart.ts"
import type { JsonLdNode, PageFacts, StatedProduct } from "../page/PageFacts.ts"
import type { PlatformId } from "../page/Platform.ts"
import type { MerchantCategory, ScanFindings } from "../Scan.ts"
import { addressAt } from "./SiteAddress.ts"
import type { Shop, SiteFacts } from "./SiteFacts.ts"
import { isAnswered, isFine, isPage } from "./Sight.ts"

type Seen = Pick<SiteFacts, "home" | "platform" | "catalogue" | "products" | "protocols"> & {
  /** Addresses in its sitemap that look like products. */
  readonly listed: number
}

/** Whether it sells things to people. That nothing shows it counts only where the home page could be read. */
export const shopOf = (seen: Seen, category: MerchantCategory | null): Shop => {
  const because = signOf(seen)
  if (because !== undefined) return { answer: "yes", because }
  const { home } = seen
  if (category !== null && shopping.has(category)) {
    return { answer: "unknown", because: `it is said to be of the category ${category}` }
  }
  if (!isAnswered(home)) return { answer: "unknown", because: "the home page was not seen" }
  const { status } = home
  if (status < 200 || status >= 300) return { answer: "unknown", because: `the home page answers ${status}` }
  if (!isPage(home)) return { answer: "no", because: "the site answers no page for people" }
  if (home.page.clientOnly !== null && seen.listed > 0) {
    return { answer: "yes", because: "its sitemap has products" }
  }
  if (home.page.clientOnly !== null) {
    return { answer: "unknown", because: "the home page is empty before its scripts run" }
  }
  if (home.isTruncated) return { answer: "unknown", because: "there is more of the home page than was read" }
  return { answer: "no", because: "nothing on the site is for sale" }
}
const shopping: ReadonlySet<MerchantCategory> = new Set(["retail", "marketplace", "restaurant"])

const signOf = ({ catalogue, home, platform, products, protocols }: Seen): string | undefined => {
  if (products.some(({ page }) => sellsOn(page))) return "a page of a product was seen"
  if ((catalogue?.items?.length ?? 0) > 0) return "its catalogue was seen"
  if (protocols.tools.some((name) => /checkout|cart/.test(name))) return "it has a checkout over UCP"
  if (platform !== undefined && !sitePlatforms.has(platform.name)) return `it runs on ${platform.name}`
  if (!isPage(home)) return undefined
  if (typesOf(home.page.jsonLd).some((type) => type === "OnlineStore")) return "it says that it is a shop"
  if (home.page.products.some(isWare)) return "it states things for sale"
  if (fillsCart(home.page)) return "things can be put into a cart"
  return cartLink(home.page) === undefined ? undefined : "it has a cart"
}

/** Platforms that also run sites without a shop; the others run nothing else. */
const sitePlatforms: ReadonlySet<PlatformId> = new Set(["wix", "squarespace", "weebly", "odoo"])

/**
 * A thing with a number and a price. Without one it may be a service or a program that its site tells search engines of, as a
 * workshop has its catalogue of offers and a restaurant its dishes.
 */
const isWare = ({ gtin, offers, sku }: StatedProduct): boolean =>
  (sku !== null || gtin !== null) && offers.some(({ rawPrice }) => rawPrice !== null)

/** `Buy now` and `Order now` also lead to plans and tables; a cart is only a shop's. */
const fillsCart = (page: PageFacts): boolean => {
  const found = addToCart(page)
  return found !== undefined && (found.kind === "link" || !plainOrder.test(found.marker))
}
const plainOrder =
  /^\W*(?:buy|order|purchase|pre-?order|add|kaufen|comprar|acheter|acquista|köp|køb|kjøp)\b[^/]{0,20}$/i

/** The page of a product that is sold here, whether it is known already that this is a shop or not. */
const sellsOn = (page: PageFacts): boolean =>
  fillsCart(page) ||
  page.products.some(
    (product) =>
      isWare(product) || product.offers.some(({ availability, rawPrice }) => availability !== null && rawPrice !== null)
  ) ||
  (addToCart(page) !== undefined && page.prices.some(({ isAside }) => !isAside))

export const typesOf = (nodes: ReadonlyArray<JsonLdNode>): ReadonlyArray<string> =>
  nodes.flatMap((node) =>
    [node["@type"]].flat().flatMap((type) => (typeof type === "string" ? [type.replace(/^.*[/#:]/, "")] : []))
  )

const cartPath =
  /\/(?:cart|basket|bag|shopping-?cart|shopping-?bag|warenkorb|carrito|carrinho|panier|carrello|winkelwagen|winkelmand|varukorg|koszyk|checkout\/cart)(?:\.\w+)?\/?$/i
const checkoutPath = /\/(?:checkout|checkouts?\/\w*|kasse|caisse|finalizar-compra|onestepcheckout)(?:\.\w+)?\/?$/i

const linkTo = (page: PageFacts, isOne: (url: URL) => boolean): string | undefined => {
  const { origin } = new URL(page.url)
  for (const { href } of page.links) {
    const url = addressAt(origin, href)
    if (url !== undefined && isOne(url)) return url.href
  }
  return undefined
}
export const cartLink = (page: PageFacts): string | undefined =>
  linkTo(page, (url) => cartPath.test(url.pathname) || isCart(url))
export const checkoutLink = (page: PageFacts): string | undefined =>
  linkTo(page, (url) => (checkoutPath.test(url.pathname) || namesCheckout(url)) && !shipsToMany("", url))

/** What kind of business it looks like; null when nothing tells. */
export const businessModelOf = (
  { home, shop }: Pick<SiteFacts, "home" | "shop">,
  category: MerchantCategory | null
): ScanFindings["business_model"] => {
  if (shop.answer === "yes") return category === "marketplace" ? "marketplace" : "retail"
  if (shop.answer === "unknown") return category === "marketplace" || category === "retail" ? category : null
  if (!isPage(home)) return isFine(home) && /json|yaml/i.test(home.contentType) ? "api_provider" : null
  const { page } = home
  const has = (words: RegExp) => page.links.some(({ href, text }) => words.test(text) || words.test(href))
  const hasLogin = has(/\b(?:sign|log)[ -]?(?:up|in)\b|\bget started\b|\bfree trial\b/i)
  const hasDocs = has(/\bAPI (?:docs|documentation|reference)\b|\/(?:docs\/api|api-docs|api-reference|developers?)\b/i)
  if (has(/\bpricing\b|\/(?:pricing|plans)\b/i) && hasLogin) return "saas"
  if (hasDocs) return "api_provider"
  const isWritten = typesOf(page.jsonLd).some((type) =>
    /^(?:\w*Article|Blog|BlogPosting|NewsMediaOrganization)$/.test(type)
  )
  return isWritten || page.headLinks.some(({ type }) => /rss|atom/.test(type ?? "")) ? "content" : null
}
