import { hasAmount, readPrices } from "./page/Price.ts"
import { type Candidate, isPriceSaid } from "./ProductChoice.ts"

/**
 * What a line of a cart charges, as a decimal: what was said of the product, if the line has it, also as a bare number, as in a table whose
 * head alone says what is money. Else the first price that no word beside it takes away from the product; null when there is none.
 */
export const chargedIn = (line: string, stated: Pick<Candidate, "price" | "priceWithTax">): string | null => {
  const prices = readPrices(line)
  const said = prices.find(({ value }) => isPriceSaid(value, stated) === true)
  if (said !== undefined) return said.value
  if (stated.price !== null && hasAmount(line, stated.price)) return stated.price
  return prices.find(({ isAside }) => !isAside)?.value ?? null
}
