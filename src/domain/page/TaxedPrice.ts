import { samePrice } from "../ProductChoice.ts"
import type { PageFacts } from "./PageFacts.ts"
import { priceReach } from "./PriceShown.ts"

/** Behind a price, that it is with its tax. */
const withTax =
  /^\s?(?:[€£$]|[A-Z]{3}|kr|zł|Kč)?\s?[([]?(?:inc(?:l(?:uding|usive|\.)?|\.)?\s(?:of\s)?(?:\d{1,2}\s?%\s)?(?:vat|tax(?:es)?|gst|btw)|ttc\b|inkl\.?\s(?:\d{1,2}\s?%\s)?(?:mwst|ust|moms)|iva\s(?:incl|compr)|incl\.?\sbtw|税込)(?!\.?\s?:)/i

/** And before one, as Magento labels both. */
const labelledWithTax =
  /(?<!\p{L})(?:inc(?:l(?:uding|usive|\.)?|\.)?\s(?:of\s)?(?:vat|tax(?:es)?|gst|btw)|inkl\.?\s(?:mwst|ust|moms|steuern?)\.?|(?:prix\s)?ttc|iva\s(?:incl|compr)\p{L}*\.?)\s?:\s?(?:[€£$]|[A-Z]{3}|kr|zł|Kč)?\s?$/iu

/** The price with tax that the page says beside one without: a cart may charge either. */
export const taxedPrice = ({ headingAt, prices, visibleText }: PageFacts, price: string | null): string | undefined => {
  const at = headingAt ?? 0
  const beside = prices.filter((shown) => shown.at >= at && shown.at <= at + priceReach.behind && !shown.isAside)
  const said = beside.find(
    ({ at, raw }) =>
      withTax.test(visibleText.slice(at + raw.length, at + raw.length + 40)) ||
      labelledWithTax.test(visibleText.slice(Math.max(0, at - 40), at))
  )
  return said === undefined || samePrice(said.value, price) !== false ? undefined : said.value
}
