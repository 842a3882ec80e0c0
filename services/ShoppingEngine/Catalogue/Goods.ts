/** How many products of a catalogue are looked at. */
export const maxProducts = 50

/** A shop's own word may have any length, and is looked for in its pages: longer than this it names nothing. */
const longestSku = 200

/** The shop's own word for a thing; null where it has none that names it. */
export const skuOf = (said: string | null | undefined): string | null =>
  said === undefined || said === "" || said === null || said.length > longestSku ? null : said

/** The cheapest variant that can be bought, or else the cheapest; the first of equals. */
export const bestOf = <A extends { readonly isAvailable: boolean; readonly price: string }>(
  variants: ReadonlyArray<A>
) => variants.toSorted((a, b) => Number(b.isAvailable) - Number(a.isAvailable) || Number(a.price) - Number(b.price))[0]
