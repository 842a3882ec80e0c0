/** A price as a page shows it. `value` is a decimal with a dot; `currencies` are what its mark may stand for. */
export interface VisiblePrice {
  readonly raw: string
  readonly value: string
  readonly currencies: ReadonlyArray<string>
  /** Where it stands in the text. */
  readonly at: number
  /** A word beside it says that it is no product's price: free shipping over, you save. */
  readonly isAside: boolean
}

/** How many prices of a text are told. */
const priceLimit = 500

const marks: Readonly<Record<string, string>> = {
  us$: "USD",
  c$: "CAD",
  ca$: "CAD",
  a$: "AUD",
  au$: "AUD",
  nz$: "NZD",
  s$: "SGD",
  hk$: "HKD",
  nt$: "TWD",
  mx$: "MXN",
  r$: "BRL",
  $us: "USD",
  $ca: "CAD",
  $au: "AUD",
  $nz: "NZD",
  $hk: "HKD",
  $sg: "SGD",
  $mx: "MXN",
  "£gb": "GBP",
  $: "USD CAD AUD NZD SGD HKD MXN ARS CLP COP UYU TWD",
  "€": "EUR",
  "£": "GBP EGP LBP",
  "¥": "JPY CNY",
  "￥": "JPY CNY",
  元: "CNY",
  円: "JPY",
  "₹": "INR",
  "rs.": "INR PKR LKR NPR",
  rs: "INR PKR LKR NPR",
  "₽": "RUB",
  руб: "RUB",
  "р.": "RUB",
  "₩": "KRW",
  원: "KRW",
  "₺": "TRY",
  tl: "TRY",
  "₪": "ILS",
  "₫": "VND",
  đ: "VND",
  "₴": "UAH",
  грн: "UAH",
  "₦": "NGN",
  "฿": "THB",
  "₱": "PHP",
  zł: "PLN",
  zl: "PLN",
  kr: "SEK NOK DKK ISK",
  "kr.": "SEK NOK DKK ISK",
  kč: "CZK",
  kc: "CZK",
  ft: "HUF",
  lei: "RON",
  лв: "BGN",
  "fr.": "CHF",
  rm: "MYR",
  rp: "IDR",
  "s/": "PEN",
  "د.إ": "AED",
  درهم: "AED MAD",
  "ر.س": "SAR",
  ريال: "SAR QAR OMR YER",
  "﷼": "SAR IRR",
  "ج.م": "EGP",
  جنيه: "EGP",
  "د.ك": "KWD",
  "د.م": "MAD",
  دينار: "KWD JOD IQD",
  تومان: "IRT",
  "₸": "KZT",
  тг: "KZT",
  дин: "RSD",
  "₼": "AZN",
  "₾": "GEL",
  "৳": "BDT",
  "₨": "INR PKR LKR NPR",
  "₡": "CRC",
  "₵": "GHS",
  ksh: "KES"
}

const isoCodes =
  "USD EUR GBP CHF JPY CNY CAD AUD NZD SEK NOK DKK ISK PLN CZK HUF RON BGN TRY RUB UAH INR PKR LKR NPR KRW TWD HKD SGD MYR IDR THB PHP VND BRL MXN ARS CLP COP PEN UYU ZAR NGN KES EGP MAD AED SAR QAR KWD BHD OMR JOD TND ILS RSD KZT AZN BDT IQD DZD GHS"
const iso: ReadonlySet<string> = new Set(isoCodes.split(" "))
const threeDecimals: ReadonlySet<string> = new Set(["KWD", "BHD", "OMR", "JOD", "TND"])

const markNames = Object.keys(marks)
  .sort((one, other) => other.length - one.length)
  .map((mark) => mark.replace(/[$./]/g, "\\$&"))
  .join("|")
const before = new RegExp(`(?:^|[^\\p{L}])(${markNames}|${isoCodes.split(" ").join("|")})[\\s\\u00a0]{0,2}$`, "iu")
const after = new RegExp(
  `^(?:,[-–—])?[\\s\\u00a0]{0,2}(${markNames}|${isoCodes.split(" ").join("|")})(?![\\p{L}\\d])`,
  "iu"
)
const currenciesOf = (mark: string | undefined): ReadonlyArray<string> => {
  if (mark === undefined) return []
  const upper = mark.toUpperCase()
  return iso.has(upper) ? [upper] : (marks[mark.toLowerCase()]?.split(" ") ?? [])
}

const grouping = /['’\s\u00a0\u202f\u2009_]/g

/**
 * A number as people write it, as a decimal with a dot: `1.234,56`, `1,234.56`, `1'234.56`, `1 234,56`. Where three digits follow
 * a single mark (`1.234`) they are thousands, unless the currency has three decimals. Undefined when it is no number.
 */
export const parseAmount = (written: string, currency?: string): string | undefined => {
  const text = written.replace(grouping, "").replace(/[.,]$/, "")
  if (!/^\d[\d.,]{0,30}$/.test(text)) return undefined
  const last = Math.max(text.lastIndexOf("."), text.lastIndexOf(","))
  if (last < 0) return plain(text, "")
  const [whole, decimals] = [text.slice(0, last), text.slice(last + 1)]
  const mark = text[last] ?? ""
  const both = text.includes(".") && text.includes(",")
  const isDecimal = both
    ? !whole.includes(mark)
    : !whole.includes(mark) && (decimals.length !== 3 || /^0+$/.test(whole) || threeDecimals.has(currency ?? ""))
  return isDecimal ? plain(whole, decimals) : plain(text, "")
}

const plain = (whole: string, decimals: string) => {
  const digits = whole.replace(/[.,]/g, "").replace(/^0+(?=\d)/, "")
  return digits.length > 15 || decimals.length > 6 ? undefined : decimals === "" ? digits : `${digits}.${decimals}`
}

const number =
  /\d{1,3}(?:[.,'’ \u00a0\u202f\u2009]\d{2,3}){1,5}(?:[.,]\d{1,2})?(?![\d])|\d{1,12}(?:[.,]\d{1,3})?(?!\d)/g
/** Groups that are none: `19.99.2025`, `12 34 56`. A group has three digits, or two in front of three in India. */
const grouped =
  /^\d{1,3}(?:([.,'’ \u00a0\u202f\u2009])\d{3})(?:\1\d{3})*(?:[.,]\d{1,2})?$|^\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d{1,2})?$/
const simple = /^\d{1,12}(?:[.,]\d{1,3})?$/

const asides =
  /(?<!\p{L})(?:free|over|above|spend|save|saving|off|gift|minimum|min\.|shipping|delivery|postage|up to|versand|lieferung|sparen?|livraison|gratuite?|port|envío|envio|gratis|frete|grátis|spedizione|verzending|frakt|fri|dostaw|wysyłk|per month|monthly|months?|installments?|instalments?|(?<=\d\s{0,2})x|parcelas|payments? of|mensual|raten?|was|rrp|msrp|srp|uvp|statt|list price|compare at|originally|original price|deposit|refund|earn|refer|and get|rewards?|bonus|insured|mindestens|antes|vorher|bisher|au lieu de|prix conseillé|送料|運費|运费|배송[비료]|적립금?|할인)[\s:]{0,3}(?:\p{L}{1,12}\s){0,2}$/iu
const asidesAfter =
  /^\s{0,2}(?:[€£$¥]\s{0,2})?(?:off\b|(?:\/|per|pro|je)\s{0,2}\d{0,4}\s{0,2}(?:k?g|ml|cl|l|m|m²|oz|lb|100|st(?:ück|k)?|unit|item|piece)\b|\/\s?mo|per month|monthly|x\b|rabatt|de réduction)/iu

/** What an option costs beside the product: `(+$5.00)`. */
const surcharge = /[+＋]\s?(?:[^\s\d+]{1,4}\s?)?$/u

/** Digits and marks of Arabic and Persian, each by the one that we calculate with, so that every place stays what it is. */
const foreign = /[\u0660-\u0669\u06f0-\u06f9\u066b\u066c]/g
const asLatin = (sign: string): string =>
  sign === "\u066b" ? "." : sign === "\u066c" ? "," : String(sign.charCodeAt(0) & 0xf)

/**
 * The prices in a text, in its order: numbers with the mark of a currency, and those with two decimals. What stands in front of one is
 * not said of it when it is the end of `name`: of a product that is called "Sugar Free".
 */
export const readPrices = (text: string, name = ""): ReadonlyArray<VisiblePrice> => {
  const prices: Array<VisiblePrice> = []
  // The currency between whole and cents would part them. A place may be one character off behind each.
  const plainly = (text.includes("€") ? text.replace(markBetween, ",$2$1") : text).replace(foreign, asLatin)
  for (const match of plainly.matchAll(number)) {
    if (prices.length >= priceLimit) break
    for (const [whole, at] of apart(match[0])) {
      const found = priceAt(plainly, whole, match.index + at, name)
      if (found !== undefined) prices.push(...found)
    }
  }
  return prices
}

/** Numbers that only a space parts, such as a quantity and what it costs, each with its place: `3 12 345,00` is two. */
const apart = (run: string): ReadonlyArray<readonly [whole: string, at: number]> => {
  const parts = Array.from(run.matchAll(/[^ \u00a0\u202f\u2009]+/g))
  const found: Array<readonly [string, number]> = []
  for (let from = 0; from < parts.length; ) {
    const at = parts[from]?.index ?? 0
    const ends = parts.slice(from).map((part) => run.slice(at, part.index + part[0].length))
    const to = ends.findLastIndex((text) => simple.test(text) || grouped.test(text))
    found.push([ends[Math.max(0, to)] ?? run, at])
    from += Math.max(0, to) + 1
  }
  return found
}
/** As in France: `19€99`. */
const markBetween = /(?<=(?:^|[^\d.,€])(?:\d{1,3}|\d{1,3}[ .\u00a0\u202f]\d{3}))(€)(\d{2})(?![\d.,]\d|\d)/g

/** Cents that stand apart: raised behind the number, or behind a mark of their own. */
const centsBehind = /^(?:\s{1,2}(\d{2})|\s{0,2}[.,]\s{1,2}(\d{2}))(?!\d|[.,]\d)/

/** How far in front of a price a word tells what it is. */
const asideReach = 40

/** What stands in front of a place and tells what it is: of a name that ends there, nothing. */
const wordsBefore = (text: string, at: number, name: string): string => {
  const from = Math.max(0, at - asideReach)
  if (name === "") return text.slice(from, at)
  const start = Math.max(0, from - name.length)
  const found = text.slice(start, at).lastIndexOf(name)
  return text.slice(found < 0 ? from : Math.max(from, start + found + name.length), at)
}

/** In South Africa `R` is the mark, which alone is too little where there are no cents. */
const rand = /(?:^|[^\p{L}\p{N}])R[\s\u00a0]?$/u

const priceAt = (text: string, whole: string, at: number, name: string): ReadonlyArray<VisiblePrice> | undefined => {
  const raw =
    simple.test(whole) || grouped.test(whole) ? whole : (/^\d+(?:[.,]\d{1,2}(?!\d))?/.exec(whole)?.[0] ?? whole)
  const preceding = text.slice(Math.max(0, at - 8), at)
  if (/[\d][.,:/-]?$/.test(preceding)) return undefined
  const following = text.slice(at + raw.length, at + raw.length + 12)
  const mark = before.exec(preceding)?.[1] ?? after.exec(following)?.[1]
  const hasCents = /[.,]\d{2}$/.test(raw)
  const currencies = mark === undefined && hasCents && rand.test(preceding) ? ["ZAR"] : currenciesOf(mark)
  if (currencies.length === 0 && !hasCents) return undefined
  const value = parseAmount(raw, currencies[0])
  if (value === undefined || /^(?:[\s\u00a0]?%|[.,:/-]\d)/.test(following)) return undefined
  const words = wordsBefore(text, at, name)
  const isAside = asides.test(words.replace(before, " ")) || surcharge.test(words) || asidesAfter.test(following)
  const price = { raw, value, currencies, at, isAside }
  const cents = /^\d+$/.test(raw) ? centsBehind.exec(following)?.slice(1).find(Boolean) : undefined
  return cents === undefined ? [price] : [price, { ...price, raw: `${raw} ${cents}`, value: `${value}.${cents}` }]
}

const minor = (value: string) => {
  const [whole = "", decimals = ""] = value.split(".")
  return `${whole}${decimals.padEnd(2, "0")}`.replace(/^0+(?=\d)/, "")
}

/** A shop's own word for a price may have any length. */
const longestAmount = 100

/** Whether two decimals are the same amount: `20` and `20.00`. */
export const sameAmount = (one: string, other: string) => {
  const trimmed = (text: string) => {
    const value = text.slice(0, longestAmount)
    return (value.includes(".") ? value.replace(/\.?0+$/, "") : value).replace(/^0+(?=\d)/, "")
  }
  return trimmed(one) === trimmed(other)
}

/**
 * Whether a text has this decimal of three digits or more as a number of its own, with or without a mark: of a table only the head says what
 * is money.
 */
export const hasAmount = (text: string, value: string): boolean =>
  /\d{3}/.test(value) &&
  text
    .replace(foreign, asLatin)
    .split(/[^\d.,'’\u00a0\u202f\u2009]+/)
    .some((written) => sameAmount(parseAmount(written) ?? "", value))

/** Also where the cents stand raised, so that `$19` and `99` run together in the text. */
export const mayBeAmount = (price: VisiblePrice, value: string) =>
  sameAmount(price.value, value) || (/^\d+$/.test(price.raw) && price.raw.length > 2 && minor(value) === price.value)
