import { addsByAddress } from "./AddToCart.ts"
import type { PlatformId } from "./Platform.ts"

/** How the address of a product looks on a system. Where one is not named, the common forms are asked. */
const own: Partial<Record<PlatformId, RegExp>> = {
  shopify: /\/products\/[^/.]+\/?$/i,
  woocommerce: /\/(?:product|produkt|produit|producto|produto|prodotto|shop)\/(?:[^/]+\/){0,3}[^/]+\/?$/i,
  prestashop: /\/\d+(?:-\d+)?-[\w-]+\.html$/i,
  opencart: /[?&]product_id=\d+/i,
  wix: /\/product-page\/[^/]+\/?$/i,
  squarespace: /\/(?:store|shop|products?)\/p\/[^/]+\/?$/i,
  ecwid: /-p\d{4,}\/?$/i,
  vtex: /\/p\/?$/i,
  evershop: /^\/(?:[a-z]{2}\/)?(?:product\/[^/]+|[^/]+\/[^/]+)\/?$/i,
  odoo: /\/shop\/(?:[^/]+\/)?[^/]+-\d+\/?$/i,
  medusa: /\/products\/[^/]+\/?$/i,
  volusion: /-p\/[^/]+\.htm$|ProductDetails\.asp/i
}

const common =
  /\/(?:products?|produkte?|produits?|productos?|produtos?|prodott[oi]|producten|produkter|tovar|item|itm|dp|gp\/product|pd|pdp|artikel|p)\/(?:[^/]+\/){0,4}[^/]+\/?$|\/[^/]+\/p\/?$|[?&](?:product_id|products_id|productid|pid|prod)=[\w-]+|\/[\w%-]+[-_/](?:p|pid|sku|art|item)[-_]?\d{3,}(?:\.html?)?\/?$|\/[\w%-]+-\d{4,}(?:-\d+)?\.html?$/i
/** A page whose query names the product: by a parameter of a shop's system, or by a plain one where the page says so. */
const queried =
  /[?&](?:it_id|branduid|(?:product|goods|item|prd)_?(?:id|no|code))=[\w-]+|\/(?:view_?)?(?:product|item|goods)(?:[_-]?(?:detail|view|info|page)s?)?(?:\.[a-z]{2,5})?\?(?:[\w-]+=[\w-]*&){0,4}(?:id|no|nr|code)=[\w-]+/i
const never =
  /\/(?:cart|basket|checkout|account|login|register|search|blogs?|news|pages?|policies|policy|faq|about|contact|tags?|category|categories|product-category|product-tag|kategorie|categoria|brands?|authors?|press|careers|help|support|legal|terms|privacy|shipping|returns|wishlist|compare|gift-?cards?|feeds?|wp-content|wp-json)(?:\/|\.html?$|$)|\.(?:jpe?g|png|gif|webp|svg|pdf|css|js|json|xml|txt|zip|mp4)$/i

/** Whether a sitemap, by its own address, lists products and not what they are sorted into. */
export const isProductSitemap = (address: string): boolean => {
  const url = address.length > 2_000 ? null : URL.parse(address)
  const name = url === null ? "" : `${url.pathname}${url.search}`
  return /product/i.test(name) && !sorting.test(name)
}
const sorting = /categor|brand|(?<![a-z])(?:cat|tag)s?(?![a-z])/i

/** What an address does that names a product in its query: it adds it somewhere, compares it, and is no page of it. */
const does =
  /[?&](?:action|do|act|cmd|func)=[\w-]{0,40}(?:add|buy|wish|compare|remove)|[?&](?:route|rt)=(?:(?:account|checkout|extension|common|content)\/|product\/(?:compare|review|category))|[?&]main_page=(?!(?:product|document)_(?!reviews)(?:\w{1,40}_)?info\b)|\/(?:product_reviews\w{0,20}|tell_a_friend|ask_a_question|item(?:use|qa|recommend)\w{0,20}|largeimage)\.php/i

const inCollection = /\/products\/[^/.]+\/?$/i

/** Whether an address looks like a product's, by how the platform names its pages; null for an unknown platform. */
export const looksLikeProduct = (address: string, platform: string | null = null): boolean => {
  const url = address.length > 2_000 ? null : URL.parse(address)
  if (url === null) return false
  const path = `${url.pathname}`
  const shopifyLike = inCollection.test(path)
  if (never.test(path) && !(shopifyLike && !/\/(?:cart|account|checkout)\//i.test(path))) return false
  if (does.test(`${path}${url.search}`) || addsByAddress(`${path}${url.search}`)) return false
  const known = Object.entries(own).find(([id]) => id === platform)?.[1]
  const whole = `${path}${url.search.slice(0, 500)}`
  return (
    known?.test(path) === true ||
    known?.test(whole) === true ||
    (platform !== "shopify" && (common.test(whole) || queried.test(whole)))
  )
}
