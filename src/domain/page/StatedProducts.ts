import { isNode, listOf, resolved, textIn, typesOf } from "./JsonLd.ts"
import type { JsonLdNode, StatedOffer, StatedProduct } from "./PageFacts.ts"
import { absolute, folded } from "./PageText.ts"
import { nodesIn, offerLimit, offersHave, offersOf, type Stated } from "./StatedOffers.ts"

/** At most so many products of a page are told. */
const productLimit = 50

const productTypes: ReadonlySet<string> = new Set([
  "Product",
  "ProductGroup",
  "ProductModel",
  "IndividualProduct",
  "SomeProducts",
  "Vehicle",
  "Car",
  "Book",
  "MenuItem",
  "SoftwareApplication",
  "MobileApplication",
  "WebApplication"
])

/** Books, programs and what a menu lists count as products where they are offered. */
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

/** What a page says that it is about: its own address with the canonical one, and its names. */
export interface Subject {
  readonly addresses: ReadonlyArray<URL>
  readonly names: ReadonlyArray<string>
}

const hostOf = ({ host }: URL) => host.replace(/^www\./, "")
const pathOf = ({ pathname }: URL) => pathname.replace(/\/+$/, "")

/** 0 for what calls itself by an address of the page, 2 for what calls itself by another one of the site, else 1. */
const placeOf = (product: JsonLdNode, { addresses }: Subject, stated: Stated): number => {
  const [id] = listOf(product["@id"])
  // A mere fragment names a part of any page.
  const own = typeof id === "string" && !id.trim().startsWith("#") ? (absolute(id, stated.base) ?? null) : null
  const named = [addressIn(product["url"], stated), own].flatMap((address) =>
    address === null ? [] : [new URL(address)]
  )
  const places = named.map((one) => {
    const sameSite = addresses.filter((address) => hostOf(address) === hostOf(one))
    const samePath = sameSite.filter((address) => pathOf(address) === pathOf(one))
    // One page may have many queries, and many products one path.
    if (samePath.some(({ search }) => search === "" || one.search === "" || search === one.search)) return 0
    return sameSite.length > 0 && samePath.length === 0 ? 2 : 1
  })
  return places.includes(0) ? 0 : Math.max(1, ...places)
}

const spelled = (name: string) => folded(name).toLowerCase()

/** How much a product says: of several that the page may be about, it says most of its own. */
const weight = (product: StatedProduct) =>
  (product.offers.some((offer) => offer.rawPrice !== null) ? 4 : 0) +
  (product.name === null ? 0 : 2) +
  [product.image, product.sku, product.description, product.gtin, product.brand].filter((said) => said !== null)
    .length /
    5

/**
 * The products among nodes: first the one that has the page's address, then that has its name, then those that say most; last those of
 * other pages. Of variants that belong to a group, the group.
 */
export const productsOf = (
  nodes: ReadonlyArray<JsonLdNode>,
  everything: ReadonlyArray<JsonLdNode>,
  format: StatedProduct["format"],
  stated: Stated,
  subject: Subject
): ReadonlyArray<StatedProduct> => {
  const shops = everything.filter((node) => typesOf(node).some((type) => /Organization|Store|Business$/.test(type)))
  const shop = {
    hasShipping: shops.some((node) => listOf(node["hasShippingService"]).length > 0),
    hasReturns: shops.some((node) => listOf(node["hasMerchantReturnPolicy"]).length > 0)
  }
  const products = nodes.filter(isProduct)
  const inGroups = new Set(products.flatMap((product) => nodesIn(product, "hasVariant", stated)))
  const names = new Set(subject.names.map(spelled))
  return products
    .filter((product) => !inGroups.has(product))
    .slice(0, productLimit)
    .map((node) => {
      const product = productOf(node, format, stated, shop)
      const isNamed = product.name !== null && names.has(spelled(product.name))
      return { product, rank: [placeOf(node, subject, stated), isNamed ? 0 : 1, -weight(product)] as const }
    })
    .sort((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1] || a.rank[2] - b.rank[2])
    .map(({ product }) => product)
}
