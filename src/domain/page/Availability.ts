const words =
  "InStock OutOfStock PreOrder PreSale BackOrder SoldOut LimitedAvailability OnlineOnly InStoreOnly Discontinued MadeToOrder Reserved"
const known: ReadonlyMap<string, string> = new Map([
  ...words.split(" ").map((word) => [word.toLowerCase(), word] as const),
  ["available", "InStock"],
  ["availablefororder", "BackOrder"],
  ["unavailable", "OutOfStock"],
  ["oos", "OutOfStock"],
  ["pending", "PreOrder"]
])

/** The last part of the schema.org address, also of a word such as `in stock`; what is not known stays as it is. */
export const readAvailability = (value: string | null): string | null => {
  if (value === null || value.length > 300) return null
  const last = value.trim().replace(/^.*[/#:]/, "")
  return last === "" ? null : (known.get(last.toLowerCase().replace(/[\s_-]+/g, "")) ?? last)
}

/** Whether an offer says that it can be bought now; undefined when it says nothing. */
export const isBuyable = (availability: string | null): boolean | undefined => {
  if (availability === null) return undefined
  if (/^(?:InStock|LimitedAvailability|OnlineOnly|PreOrder|PreSale|BackOrder|MadeToOrder)$/.test(availability))
    return true
  return /^(?:OutOfStock|SoldOut|Discontinued|InStoreOnly|Reserved)$/.test(availability) ? false : undefined
}
