import { type AddToCart, addsOwn, asksChoiceFirst, saysSoldOut } from "./page/AddToCart.ts"
import { isBuyable } from "./page/Availability.ts"
import type { PageFacts, StatedOffer } from "./page/PageFacts.ts"
import { priceReach } from "./page/PriceShown.ts"
import { taxedPrice } from "./page/TaxedPrice.ts"
import type { Offered } from "./ProductChoice.ts"

/** The offer that is bought: the first that is available and has a price. */
export const bestOffer = (offers: ReadonlyArray<StatedOffer>): StatedOffer | undefined =>
  offers.find(({ availability, price }) => price !== null && isBuyable(availability) !== false) ?? offers[0]

const skuInText = /\bSKU\s{0,2}[:#]?\s{0,2}([A-Z0-9][\w.-]{1,63})/i

/** The first price, with its currency, that a page shows from its heading on. */
export const shownPrice = ({ headingAt, prices }: PageFacts) =>
  prices.find((price) => price.at >= (headingAt ?? 0) && !price.isAside && price.currencies.length > 0)

/** Whether a page has nothing to press that adds what it is about, and says beside its heading that there is none left. */
const hasNoneLeft = ({ headingAt, visibleText }: PageFacts, { control, kind }: AddToCart): boolean =>
  kind === "form" &&
  control === null &&
  saysSoldOut({ marker: visibleText.slice(headingAt ?? 0, (headingAt ?? 0) + priceReach.behind) })

/** What a product page offers; undefined when it is none. */
export const offeredBy = (address: URL, facts: PageFacts): Offered | undefined => {
  const stated = facts.products[0]
  const offer = stated === undefined ? undefined : bestOffer(stated.offers)
  const adding = addsOwn(facts)
  if (stated === undefined && adding === undefined && !asksChoiceFirst(facts)) return undefined
  const name = stated?.name ?? facts.heading ?? facts.title
  if (name === null || name === undefined) return undefined
  const shown = shownPrice(facts)
  const isStated = offer?.price !== undefined && offer.price !== null
  const price = isStated ? offer.price : (shown?.value ?? null)
  const priceWithTax = taxedPrice(facts, price)
  return {
    candidate: {
      name: name.slice(0, 300),
      url: address,
      sku: stated?.sku ?? offer?.sku ?? skuInText.exec(facts.visibleText)?.[1] ?? null,
      platformId: null,
      variant: null,
      price,
      ...(priceWithTax === undefined ? {} : { priceWithTax }),
      currency: isStated ? offer.currency : (shown?.currencies[0] ?? null)
    },
    isAvailable:
      isBuyable(offer?.availability ?? null) ??
      (adding !== undefined && (saysSoldOut(adding) || hasNoneLeft(facts, adding)) ? false : null),
    variants: Math.max(1, stated?.variants ?? 1),
    kind: address.pathname.slice(0, 300),
    source: isStated ? "structured" : "text"
  }
}
