import { isNode, listOf, resolved, textIn, typesOf } from "./JsonLd.ts"
import type { JsonLdNode, StatedOffer, StatedProduct } from "./PageFacts.ts"
import { absolute } from "./PageText.ts"
import { nodesIn, offerLimit, offersHave, offersOf, type Stated } from "./StatedOffers.ts"

/** At most so many products of a page are told. */
export const productLimit = 50

const productTypes: ReadonlySet<string> = new Set([
  "Product",
  "ProductGroup",
  "ProductModel",
  "IndividualProduct",
  "SomeProducts",
  "Vehicle",
  "Car",
  "Book",
  "SoftwareApplication",
  "MobileApplication",
  "WebApplication"
])

/** Books and programs count as products where they are offered. */
const isProduct = (node: JsonLdNode) => {
  const types = typesOf(node)
  if (types.some((type) => /^(?:Product|ProductGroup|ProductModel|IndividualProduct|SomeProducts)$/.test(type)))
    return true
  return types.some((type) => productTypes.has(type)) && listOf(node["offers"]).length > 0
}

const gtinKeys = ["gtin", "gtin13", "gtin12", "gtin14", "gtin8", "isbn"]

const firstText = (
  nodes: ReadonlyArray<JsonLdNode>,
  keys: ReadonlyArray<string>,
  stated: Stated,
  length?: number
): string | null => {
  for (const node of nodes) {
    for (const key of keys) {
      const [value] = listOf(node[key])
      const text = textIn(resolved(value, stated.byId), length)
      if (text !== null) return text
    }
  }
  return null
}

const addressIn = (value: unknown, stated: Stated): string | null => {
  const [first] = listOf(value)
  const said = isNode(first) ? (first["contentUrl"] ?? first["url"] ?? first["@id"]) : first
  const [address] = listOf(said)
  return typeof address === "string" ? (absolute(address, stated.base) ?? null) : null
}

/** The groups that a variant says it belongs to: what it does not say itself they say of all their variants. */
const groupsOf = (product: JsonLdNode, stated: Stated): ReadonlyArray<JsonLdNode> =>
  nodesIn(product, "isVariantOf", stated).filter((group) => typesOf(group).includes("ProductGroup"))

const variantsOf = (
  product: JsonLdNode,
  variants: ReadonlyArray<JsonLdNode>,
  offers: ReadonlyArray<StatedOffer>,
  groups: ReadonlyArray<JsonLdNode>
): number => {
  const told = new Set(offers.map((offer) => offer.sku ?? offer.url ?? "").filter((name) => name !== ""))
  const varies = listOf(product["variesBy"]).length > 0 || typesOf(product).includes("ProductGroup")
  const among = groups.filter((group) => ["variesBy", "hasVariant"].some((key) => listOf(group[key]).length > 0))
  return Math.max(
    ...[product, ...among].map((node) => listOf(node["hasVariant"]).length),
    variants.length,
    told.size > 1 ? told.size : 0,
    varies || among.length > 0 ? 1 : 0
  )
}

const productOf = (
  product: JsonLdNode,
  format: StatedProduct["format"],
  stated: Stated,
  shop: { readonly hasShipping: boolean; readonly hasReturns: boolean }
): StatedProduct => {
  const variants = nodesIn(product, "hasVariant", stated)
  const own = offersOf(product, stated)
  const groups = groupsOf(product, stated)
  const all = [product, ...variants.slice(0, 1), ...groups]
  const offers = own.length > 0 ? own : variants.flatMap((variant) => offersOf(variant, stated)).slice(0, offerLimit)
  const has = (key: string) => [product, ...variants, ...groups].some((one) => offersHave(one, key, stated))
  return {
    format,
    name: firstText(all, ["name"], stated, 500),
    description: firstText(all, ["description"], stated),
    image: all.map((one) => addressIn(one["image"], stated)).find((image) => image !== null) ?? null,
    sku: firstText(all, ["sku", "mpn", "productID", "productGroupID"], stated, 200),
    gtin: firstText(all, gtinKeys, stated, 50),
    brand: firstText(all, ["brand", "manufacturer"], stated, 200),
    url: addressIn(product["url"], stated),
    offers,
    variants: variantsOf(product, variants, own, groups),
    hasShipping: shop.hasShipping || has("shippingDetails"),
    hasReturns: shop.hasReturns || has("hasMerchantReturnPolicy")
  }
}

/** How much a product says: the one the page is about says most. */
const weight = (product: StatedProduct) =>
  (product.offers.some((offer) => offer.rawPrice !== null) ? 4 : 0) +
  (product.name === null ? 0 : 2) +
  [product.image, product.sku, product.description, product.gtin, product.brand].filter((said) => said !== null)
    .length /
    5

/** The products among nodes, those that say most first; of variants that belong to a group, the group. */
export const productsOf = (
  nodes: ReadonlyArray<JsonLdNode>,
  everything: ReadonlyArray<JsonLdNode>,
  format: StatedProduct["format"],
  stated: Stated
): ReadonlyArray<StatedProduct> => {
  const shops = everything.filter((node) => typesOf(node).some((type) => /Organization|Store|Business$/.test(type)))
  const shop = {
    hasShipping: shops.some((node) => listOf(node["hasShippingService"]).length > 0),
    hasReturns: shops.some((node) => listOf(node["hasMerchantReturnPolicy"]).length > 0)
  }
  const products = nodes.filter(isProduct)
  const inGroups = new Set(products.flatMap((product) => nodesIn(product, "hasVariant", stated)))
  return products
    .filter((product) => !inGroups.has(product))
    .slice(0, productLimit)
    .map((product) => productOf(product, format, stated, shop))
    .sort((one, other) => weight(other) - weight(one))
}
