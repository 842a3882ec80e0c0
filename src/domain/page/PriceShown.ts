import type { PageFacts } from "./PageFacts.ts"
import { mayBeAmount, parseAmount } from "./Price.ts"

/** How far before and behind its heading a product's price stands. */
export const priceReach = { before: 300, behind: 1_200 }

/**
 * Whether a stated price agrees with what the page shows: `different` only when prices in its currency stand beside the
 * product's heading and none of them, nor any other on the page, is this one. All else is `unknown`: a price that scripts fill
 * in, another currency for another country, a page without a heading.
 */
export const priceVerdict = (
  facts: Pick<PageFacts, "prices" | "headingAt">,
  price: string | null,
  currency: string | null = null
): "equal" | "different" | "unknown" => {
  const value = price === null ? undefined : /^\d+(?:\.\d+)?$/.test(price) ? price : parseAmount(price)
  if (value === undefined) return "unknown"
  if (facts.prices.some((shown) => mayBeAmount(shown, value))) return "equal"
  const at = facts.headingAt
  if (at === null) return "unknown"
  const beside = facts.prices.filter(
    (shown) =>
      !shown.isAside &&
      Number(shown.value) > 0 &&
      shown.at >= at - priceReach.before &&
      shown.at <= at + priceReach.behind &&
      shown.currencies.length > 0 &&
      (currency === null || shown.currencies.includes(currency.toUpperCase()))
  )
  return beside.length === 0 ? "unknown" : "different"
}
