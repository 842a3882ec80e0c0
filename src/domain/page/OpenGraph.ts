import { readAvailability } from "./Availability.ts"
import type { StatedProduct } from "./PageFacts.ts"
import { absolute } from "./PageText.ts"
import { strictPrice } from "./StatedOffers.ts"

/** A product in the words of OpenGraph: where its type says so, or a price is there. */
export const openGraphProduct = (metas: ReadonlyMap<string, string>, base: URL): StatedProduct | undefined => {
  const first = (...names: ReadonlyArray<string>) => names.map((name) => metas.get(name)).find((said) => said) ?? null
  const raw = first("product:price:amount", "og:price:amount", "product:sale_price:amount")
  const isProduct = /^(?:og:)?product(?:\.item|\.group)?$/i.test(first("og:type") ?? "")
  if (!isProduct && raw === null) return undefined
  return {
    format: "opengraph",
    name: first("og:title"),
    description: first("og:description"),
    image: absolute(first("og:image:secure_url", "og:image", "og:image:url") ?? undefined, base) ?? null,
    sku: first("product:retailer_item_id", "product:sku"),
    gtin: first("product:gtin", "product:ean", "product:upc", "product:isbn"),
    brand: first("product:brand", "og:brand"),
    url: absolute(first("og:url") ?? undefined, base) ?? null,
    offers:
      raw === null
        ? []
        : [
            {
              rawPrice: raw,
              price: strictPrice(raw),
              currency: first("product:price:currency", "og:price:currency", "product:sale_price:currency"),
              availability: readAvailability(first("product:availability", "og:availability")),
              url: null,
              priceValidUntil: null,
              sku: null
            }
          ],
    variants: 0,
    hasShipping: false,
    hasReturns: false
  }
}
