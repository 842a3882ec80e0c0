import { Effect, Schema } from "effect"
import { fromMinor, type Offered } from "#domain/ProductChoice.ts"
import { vendureDocuments } from "#domain/ShoppingConduct.ts"
import type { UcpClient } from "../ScanEngine/protocols/UcpClient.ts"
import { jsonPost } from "./ApiRail.ts"
import { bestOf, maxProducts, skuOf } from "./Catalogue/Goods.ts"
import { magento } from "./Catalogue/Magento.ts"
import type { Errand } from "./Errand.ts"

/** How many variations of one product, where the list does not say which are in stock. */
const maxVariations = 5
/** And of how many attributes a variation is called: each is looked for in the whole list of them. */
const maxAttributes = 20

/** Tags, a line each: words of two of them are not read as one. */
const words = (value: unknown): string =>
  Array.isArray(value)
    ? value.filter((one) => typeof one === "string").join("\n")
    : typeof value === "string"
      ? value
      : ""

const ShopifyProducts = Schema.Struct({
  products: Schema.Array(
    Schema.Struct({
      title: Schema.String,
      handle: Schema.String,
      product_type: Schema.optionalKey(Schema.NullOr(Schema.String)),
      tags: Schema.optionalKey(Schema.Unknown),
      variants: Schema.Array(
        Schema.Struct({
          id: Schema.Int,
          title: Schema.String,
          sku: Schema.optionalKey(Schema.NullOr(Schema.String)),
          available: Schema.optionalKey(Schema.Boolean),
          price: Schema.String
        })
      )
    })
  )
})

const shopify = Effect.fnUntraced(function* (errand: Errand, base: URL) {
  const said = yield* errand.json(ShopifyProducts, { url: `/products.json?limit=${maxProducts}`, obeysRobots: true })
  if ("_tag" in said || said.value === undefined) return []
  return said.value.products.slice(0, maxProducts).flatMap((product): ReadonlyArray<Offered> => {
    const variants = product.variants.map((one) => ({ ...one, isAvailable: one.available !== false }))
    const best = bestOf(variants)
    if (best === undefined) return []
    return [
      {
        candidate: {
          name: product.title.slice(0, 300),
          url: new URL(`/products/${encodeURIComponent(product.handle.toWellFormed())}`, base),
          sku: skuOf(best.sku),
          platformId: String(best.id),
          variant: variants.length > 1 ? best.title.slice(0, 300) : null,
          price: best.price,
          currency: null
        },
        isAvailable: best.available ?? null,
        variants: variants.length,
        kind: `${product.product_type ?? ""}\n${words(product.tags)}`.slice(0, 2_000),
        source: "platform"
      }
    ]
  })
})

const WooProducts = Schema.Array(
  Schema.Struct({
    id: Schema.Int,
    name: Schema.String,
    type: Schema.optionalKey(Schema.String),
    sku: Schema.optionalKey(Schema.String),
    permalink: Schema.String,
    has_options: Schema.optionalKey(Schema.Boolean),
    is_in_stock: Schema.optionalKey(Schema.Boolean),
    is_purchasable: Schema.optionalKey(Schema.Boolean),
    variations: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          id: Schema.Int,
          attributes: Schema.optionalKey(
            Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.NullOr(Schema.String) }))
          )
        })
      )
    ),
    attributes: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          name: Schema.String,
          terms: Schema.optionalKey(Schema.Array(Schema.Struct({ name: Schema.String, slug: Schema.String })))
        })
      )
    ),
    categories: Schema.optionalKey(Schema.Array(Schema.Struct({ name: Schema.String }))),
    prices: Schema.Struct({
      price: Schema.String,
      currency_code: Schema.optionalKey(Schema.String),
      currency_minor_unit: Schema.optionalKey(Schema.Int)
    })
  })
)

type WooProduct = (typeof WooProducts.Type)[number]

/** What a buyer calls a variation: the words of its attributes, as `Small / Red`. Its id says nothing to anybody; null where it has no words. */
const nameOf = ({ attributes = [], variations = [] }: WooProduct, id: number): string | null => {
  const said = variations.find((one) => one.id === id)?.attributes ?? []
  const words = said.slice(0, maxAttributes).flatMap(({ name, value }) => {
    if (value === null || value === "") return []
    const terms = attributes.find((one) => one.name === name)?.terms ?? []
    return [terms.find(({ slug }) => slug === value)?.name ?? value]
  })
  return words.length === 0 ? null : words.join(" / ").slice(0, 300)
}

const woo = Effect.fnUntraced(function* (errand: Errand, base: URL) {
  const url = `/wp-json/wc/store/v1/products?per_page=${maxProducts}`
  const said = yield* errand.json(WooProducts, { url, obeysRobots: true })
  if ("_tag" in said || said.value === undefined) return []
  return said.value.slice(0, maxProducts).map((product): Offered => {
    const page = URL.parse(product.permalink)
    const variations = product.variations ?? []
    const first = variations[0]?.id ?? product.id
    const price = fromMinor(product.prices.price, product.prices.currency_minor_unit ?? 2)
    return {
      candidate: {
        name: product.name.slice(0, 300),
        url: page !== null && page.host === base.host ? page : undefined,
        sku: skuOf(product.sku),
        platformId: String(first),
        otherIds: variations.slice(1, maxVariations).map(({ id }) => String(id)),
        variant: nameOf(product, first),
        price: price ?? null,
        currency: product.prices.currency_code ?? null
      },
      isAvailable: product.is_in_stock !== false && product.is_purchasable !== false,
      variants: Math.max(1, variations.length),
      kind: [product.type ?? "", ...(product.categories ?? []).map(({ name }) => name)].join("\n").slice(0, 2_000),
      source: "platform"
    }
  })
})

const VendureProducts = Schema.Struct({
  data: Schema.Struct({
    products: Schema.Struct({
      items: Schema.Array(
        Schema.Struct({
          name: Schema.String,
          slug: Schema.String,
          variants: Schema.Array(
            Schema.Struct({
              id: Schema.String,
              name: Schema.String,
              sku: Schema.String,
              priceWithTax: Schema.Int,
              currencyCode: Schema.String,
              stockLevel: Schema.String
            })
          )
        })
      )
    })
  })
})

const vendure = Effect.fnUntraced(function* (errand: Errand) {
  const said = yield* errand.json(VendureProducts, jsonPost("/shop-api", { query: vendureDocuments.products }))
  if ("_tag" in said || said.value === undefined) return []
  return said.value.data.products.items.slice(0, maxProducts).flatMap((product): ReadonlyArray<Offered> => {
    const best = bestOf(
      product.variants.map((one) => ({
        ...one,
        isAvailable: one.stockLevel !== "OUT_OF_STOCK",
        price: fromMinor(one.priceWithTax, 2) ?? "0"
      }))
    )
    if (best === undefined) return []
    return [
      {
        candidate: {
          name: product.name.slice(0, 300),
          url: undefined,
          sku: skuOf(best.sku),
          platformId: best.id,
          variant: product.variants.length > 1 ? best.name.slice(0, 300) : null,
          price: best.price,
          currency: best.currencyCode
        },
        isAvailable: best.isAvailable,
        variants: product.variants.length,
        kind: product.slug,
        source: "platform"
      }
    ]
  })
})

/** What the platform's own interface lists; empty where there is none, or none that is open. */
export const listed = (errand: Errand, platform: string | null, base: URL): Effect.Effect<ReadonlyArray<Offered>> => {
  if (platform === "shopify") return shopify(errand, base)
  if (platform === "woocommerce") return woo(errand, base)
  if (platform === "vendure") return vendure(errand)
  if (platform === "magento") return magento(errand, base)
  return Effect.succeed([])
}

/** What a UCP service finds; empty when it has no search or does not say. */
export const searched = (client: UcpClient, base: URL, query: string): Effect.Effect<ReadonlyArray<Offered>> =>
  client.offers("search_catalog")
    ? Effect.map(client.search(query), (reply) => {
        if (reply._tag !== "Done") return []
        return reply.value.slice(0, maxProducts).flatMap((product): ReadonlyArray<Offered> => {
          const variants = product.variants.map((one) => ({
            ...one,
            isAvailable: one.available,
            price: one.price ?? ""
          }))
          const best = bestOf(variants)
          const page = product.url === null ? null : URL.parse(product.url)
          return [
            {
              candidate: {
                name: product.title,
                url: page !== null && page.host === base.host ? page : undefined,
                sku: skuOf(best?.sku),
                platformId: best?.id ?? product.id,
                variant: variants.length > 1 ? (best?.title ?? null) : null,
                price: best === undefined || best.price === "" ? null : best.price,
                currency: best?.currency ?? null
              },
              isAvailable: best?.isAvailable ?? null,
              variants: Math.max(1, variants.length),
              kind: "",
              source: "ucp"
            }
          ]
        })
      })
    : Effect.succeed([])
