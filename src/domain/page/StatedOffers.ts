import { isBuyable, readAvailability } from "./Availability.ts"
import { isNode, listOf, resolved, textIn, typesOf } from "./JsonLd.ts"
import type { JsonLdNode, StatedOffer } from "./PageFacts.ts"
import { absolute } from "./PageText.ts"

/** Nodes of the page by id, and the address that theirs are relative to. */
export interface Stated {
  readonly byId: ReadonlyMap<string, JsonLdNode>
  readonly base: URL
}

/** At most so many offers of a product are read. */
export const offerLimit = 100

/** The objects that a property of a node holds, references resolved. */
export const nodesIn = (node: JsonLdNode, key: string, stated: Stated): ReadonlyArray<JsonLdNode> =>
  listOf(node[key])
    .map((value) => resolved(value, stated.byId))
    .filter(isNode)

/** A price as a decimal with a dot; null for any other way to write it. */
export const strictPrice = (raw: string | null): string | null =>
  raw !== null && /^\d{1,15}(?:\.\d{1,6})?$/.test(raw) ? raw : null

const isReference = (specification: JsonLdNode) =>
  /ListPrice|StrikethroughPrice|MSRP|SRP|RegularPrice/i.test(textIn(specification["priceType"], 200) ?? "") ||
  isNode(specification["referenceQuantity"])

interface Priced {
  readonly raw: string | null
  readonly currency: string | null
}

const priceOf = (offer: JsonLdNode, stated: Stated): Priced => {
  const specifications = nodesIn(offer, "priceSpecification", stated)
  const chosen = specifications.find((specification) => !isReference(specification)) ?? specifications[0] ?? {}
  return {
    raw:
      textIn(offer["price"], 100) ??
      textIn(chosen["price"], 100) ??
      textIn(offer["lowPrice"], 100) ??
      textIn(chosen["minPrice"], 100),
    currency: textIn(offer["priceCurrency"], 20) ?? textIn(chosen["priceCurrency"], 20)
  }
}

/** Also as a reference: `{"@id": "https://schema.org/InStock"}`. */
const availabilityIn = (offer: JsonLdNode): string | null => {
  const [said] = listOf(offer["availability"])
  const id = isNode(said) ? said["@id"] : undefined
  return readAvailability(textIn(said, 300) ?? textIn(id, 300))
}

/** What several offers come to: one that can be bought is enough. */
const availabilityOf = (offers: ReadonlyArray<StatedOffer>): string | null => {
  const told = offers.flatMap(({ availability }) => availability ?? [])
  return told.find((availability) => isBuyable(availability) === true) ?? told[0] ?? null
}

const offerOf = (offer: JsonLdNode, inherited: JsonLdNode, stated: Stated): StatedOffer => {
  const { raw, currency } = priceOf(offer, stated)
  return {
    rawPrice: raw,
    price: strictPrice(raw),
    currency: currency ?? textIn(inherited["priceCurrency"], 20),
    availability: availabilityIn(offer) ?? availabilityIn(inherited),
    url: absolute(textIn(offer["url"], 2_000) ?? undefined, stated.base) ?? null,
    priceValidUntil: textIn(offer["priceValidUntil"], 100),
    sku: textIn(offer["sku"], 200) ?? textIn(offer["mpn"], 200)
  }
}

/** The offers that a product holds itself; those in an `AggregateOffer` follow it. */
export const offersOf = (product: JsonLdNode, stated: Stated): ReadonlyArray<StatedOffer> =>
  nodesIn(product, "offers", stated)
    .flatMap((offer) => {
      const inner =
        typesOf(offer).includes("AggregateOffer") || "lowPrice" in offer ? nodesIn(offer, "offers", stated) : []
      const [whole, parts] = [offerOf(offer, {}, stated), inner.map((one) => offerOf(one, offer, stated))]
      return [{ ...whole, availability: whole.availability ?? availabilityOf(parts) }, ...parts]
    })
    .slice(0, offerLimit)

/** Whether the product or an offer of it has such a property. */
export const offersHave = (product: JsonLdNode, key: string, stated: Stated): boolean =>
  listOf(product[key]).length > 0 ||
  nodesIn(product, "offers", stated).some(
    (offer) =>
      listOf(offer[key]).length > 0 || nodesIn(offer, "offers", stated).some((inner) => listOf(inner[key]).length > 0)
  )
