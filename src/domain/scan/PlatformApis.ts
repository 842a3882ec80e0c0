import type { PageFacts } from "../page/PageFacts.ts"
import { readBoundedJson } from "../protocol/BoundedJson.ts"
import { addressAt } from "./SiteAddress.ts"
import type { CatalogueItem } from "./SiteFacts.ts"

/** What a platform answers to everybody, read-only: its catalogue, and its cart while nothing is in it. */
export interface PlatformApi {
  readonly catalogue?: {
    readonly path: string
    /** Undefined when what was answered is no catalogue of this platform. */
    readonly read: (answer: unknown, origin: string) => ReadonlyArray<CatalogueItem> | undefined
    /** It says that it could not answer, which says nothing of the catalogue. */
    readonly isFault?: (answer: unknown) => boolean
  }
  readonly cart?: { readonly path: string; readonly isCart: (answer: unknown) => boolean }
}

type Node = Readonly<Record<string, unknown>>
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value)
const nodes = (value: unknown): ReadonlyArray<Node> | undefined =>
  Array.isArray(value) ? value.filter(isNode).slice(0, 20) : undefined
const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined

const shopify: PlatformApi = {
  catalogue: {
    path: "/products.json?limit=5",
    read: (answer, origin) =>
      nodes(isNode(answer) ? answer["products"] : undefined)?.flatMap((product): ReadonlyArray<CatalogueItem> => {
        const [name, handle] = [text(product["title"]), text(product["handle"])]
        const variants = nodes(product["variants"]) ?? []
        return name === undefined || handle === undefined
          ? []
          : [
              {
                name,
                url: `${origin}/products/${handle}`,
                price: text(variants[0]?.["price"]),
                variants: variants.length
              }
            ]
      })
  },
  cart: {
    path: "/cart.js",
    isCart: (answer) => isNode(answer) && Array.isArray(answer["items"]) && "item_count" in answer
  }
}

/** Amounts in minor units, as WooCommerce writes them. */
const major = (amount: unknown, digits: unknown): string | undefined => {
  const minor = text(amount)
  if (minor === undefined || !/^\d{1,15}$/.test(minor) || typeof digits !== "number" || digits < 0 || digits > 6) return
  if (digits === 0) return minor
  const padded = minor.padStart(digits + 1, "0")
  return `${padded.slice(0, -digits)}.${padded.slice(-digits)}`
}

const woocommerce: PlatformApi = {
  catalogue: {
    path: "/wp-json/wc/store/v1/products?per_page=5",
    read: (answer) =>
      nodes(answer)?.flatMap((product): ReadonlyArray<CatalogueItem> => {
        const name = text(product["name"])
        const prices = isNode(product["prices"]) ? product["prices"] : {}
        const price = major(prices["price"], prices["currency_minor_unit"])
        const variants = nodes(product["variations"])?.length ?? 0
        return name === undefined ? [] : [{ name, url: text(product["permalink"]), price, variants }]
      })
  },
  cart: {
    path: "/wp-json/wc/store/v1/cart",
    isCart: (answer) => isNode(answer) && Array.isArray(answer["items"]) && isNode(answer["totals"])
  }
}

/**
 * The path of Magento's list of products, with these fields of each: by a filter that all products pass, as a search finds nothing by
 * fewer letters than the shop has set.
 */
export const magentoListing = (pageSize: number, fields: string): string =>
  `/graphql?query=${encodeURIComponent(`{products(filter:{price:{from:"0"}},pageSize:${pageSize}){items{${fields}}}}`)}`

const magento: PlatformApi = {
  catalogue: {
    path: magentoListing(5, "name url_key url_suffix"),
    isFault: (answer) => isNode(answer) && Array.isArray(answer["errors"]) && answer["errors"].length > 0,
    read: (answer, origin) => {
      const data = isNode(answer) && isNode(answer["data"]) ? answer["data"]["products"] : undefined
      return nodes(isNode(data) ? data["items"] : undefined)?.flatMap((item): ReadonlyArray<CatalogueItem> => {
        const [name, key] = [text(item["name"]), text(item["url_key"])]
        const url = key === undefined ? undefined : `${origin}/${key}${text(item["url_suffix"]) ?? ""}`
        return name === undefined ? [] : [{ name, url, price: undefined, variants: 0 }]
      })
    }
  }
}

const vtex: PlatformApi = {
  catalogue: {
    path: "/api/catalog_system/pub/products/search?_from=0&_to=4",
    read: (answer) =>
      nodes(answer)?.flatMap((product): ReadonlyArray<CatalogueItem> => {
        const name = text(product["productName"])
        const items = nodes(product["items"]) ?? []
        const [seller] = nodes(items[0]?.["sellers"]) ?? []
        const offer = isNode(seller?.["commertialOffer"]) ? seller["commertialOffer"] : {}
        return name === undefined
          ? []
          : [{ name, url: text(product["link"]), price: text(offer["Price"]), variants: items.length }]
      })
  }
}

const bigcommerce: PlatformApi = { cart: { path: "/api/storefront/carts", isCart: Array.isArray } }

const apis: Readonly<Record<string, PlatformApi>> = { shopify, woocommerce, magento, vtex, bigcommerce }

export const platformApi = (platform: string | undefined): PlatformApi =>
  platform !== undefined && Object.hasOwn(apis, platform) ? (apis[platform] ?? {}) : {}

/** Where a path of it is: WordPress may stand below the root, and says so itself. */
export const apiAddress = (path: string, home: PageFacts | undefined, origin: string): URL => {
  const plain = new URL(path, origin)
  const base = home?.headLinks.find(({ rel }) => rel === "https://api.w.org/")?.href
  if (base === undefined || !path.startsWith(wordPress)) return plain
  const rest = path.slice(wordPress.length)
  return addressAt(origin, `${base}${base.includes("?") ? rest.replace("?", "&") : rest}`) ?? plain
}
const wordPress = "/wp-json/"

/** JSON of an answer; undefined when it is none. */
export const jsonOf = (answer: string): unknown => {
  const read = readBoundedJson(answer)
  return read._tag === "Json" ? read.value : undefined
}
