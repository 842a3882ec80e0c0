import { Effect, Schema } from "effect"
import type { Offered } from "#domain/ProductChoice.ts"
import { magentoListing } from "#domain/scan/PlatformApis.ts"
import type { Errand } from "../Errand.ts"
import { bestOf, maxProducts, skuOf } from "./Goods.ts"

const MagentoPrice = Schema.Struct({
  minimum_price: Schema.Struct({
    final_price: Schema.Struct({ value: Schema.NullOr(Schema.Finite), currency: Schema.NullOr(Schema.String) })
  })
})
const MagentoGoods = { sku: Schema.String, stock_status: Schema.NullOr(Schema.String), price_range: MagentoPrice }
const MagentoProducts = Schema.Struct({
  data: Schema.Struct({
    products: Schema.Struct({
      items: Schema.Array(
        Schema.Struct({
          ...MagentoGoods,
          __typename: Schema.String,
          name: Schema.String,
          url_key: Schema.NullOr(Schema.String),
          url_suffix: Schema.optionalKey(Schema.NullOr(Schema.String)),
          categories: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Struct({ name: Schema.String })))),
          variants: Schema.optionalKey(
            Schema.NullOr(
              Schema.Array(
                Schema.Struct({
                  attributes: Schema.Array(Schema.Struct({ label: Schema.NullOr(Schema.String) })),
                  product: Schema.Struct(MagentoGoods)
                })
              )
            )
          )
        })
      )
    })
  })
})

const magentoGoods = "sku stock_status price_range{minimum_price{final_price{value currency}}}"

const magentoFields = `__typename name url_key url_suffix ${magentoGoods} categories{name} ... on ConfigurableProduct{variants{attributes{label} product{${magentoGoods}}}}`

const magentoOffer = ({
  price_range: { minimum_price },
  sku,
  stock_status
}: Schema.Struct<typeof MagentoGoods>["Type"]) => ({
  sku,
  price: minimum_price.final_price.value?.toFixed(2) ?? "",
  currency: minimum_price.final_price.currency,
  isAvailable: stock_status !== "OUT_OF_STOCK"
})

/** What cannot be put into a cart by its name alone. */
const magentoBuilt: ReadonlySet<string> = new Set(["BundleProduct", "GroupedProduct", "GiftCardProduct"])

/** What Magento lists over GraphQL, which is open unless somebody closed it. What its buyer puts together is left to its pages. */
export const magento = Effect.fnUntraced(function* (errand: Errand, base: URL) {
  const url = magentoListing(maxProducts, magentoFields)
  const said = yield* errand.json(MagentoProducts, { url, obeysRobots: true })
  if ("_tag" in said || said.value === undefined) return []
  return said.value.data.products.items.slice(0, maxProducts).flatMap((product): ReadonlyArray<Offered> => {
    const variants = (product.variants ?? []).map(({ attributes, product: one }) => ({
      ...magentoOffer(one),
      name: attributes.flatMap(({ label }) => label ?? []).join(" / ")
    }))
    const best = variants.length > 0 ? bestOf(variants) : { ...magentoOffer(product), name: "" }
    if (best === undefined || magentoBuilt.has(product.__typename)) return []
    const page = URL.parse(`/${product.url_key ?? ""}${product.url_suffix ?? ""}`, base.href)
    return [
      {
        candidate: {
          name: product.name.slice(0, 300),
          url: product.url_key === null || page === null ? undefined : page,
          sku: skuOf(best.sku),
          platformId: null,
          variant: best.name === "" ? null : best.name.slice(0, 300),
          price: best.price === "" ? null : best.price,
          currency: best.currency
        },
        isAvailable: best.isAvailable && product.stock_status !== "OUT_OF_STOCK",
        variants: Math.max(1, variants.length),
        kind: [product.__typename, ...(product.categories ?? []).map(({ name }) => name)].join("\n").slice(0, 2_000),
        source: "platform"
      }
    ]
  })
})
