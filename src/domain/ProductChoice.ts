import { parseDecimal, unit } from "./Money.ts"

/** What an agent means to buy. Prices are decimal strings. */
export interface Candidate {
  readonly name: string
  readonly url: URL | undefined
  readonly sku: string | null
  /** The platform's own name for the thing or its variant. */
  readonly platformId: string | null
  /** The names of its other variants, where the platform does not say which of them is in stock. */
  readonly otherIds?: ReadonlyArray<string>
  readonly variant: string | null
  readonly price: string | null
  /** Where the page says what the price is with its tax, and states it without. */
  readonly priceWithTax?: string
  readonly currency: string | null
}

/** A candidate as it was found. */
export interface Offered {
  readonly candidate: Candidate
  /** Null when nothing says so. */
  readonly isAvailable: boolean | null
  /** Between how many variants there is a choice; 1 when there is none. */
  readonly variants: number
  /** Everything by which it may be told that a thing is not for a test: type, tags, categories. */
  readonly kind: string
  /** Who states name and price: the platform, structured data of the page, or only its text. */
  readonly source: "ucp" | "platform" | "structured" | "text"
}

/** After the name of a drink, what makes it a thing to drink from, to keep it in, of its colour or its taste, and no drink. */
const noDrink =
  "(?:glass(?:es|ware)?(?![ _-]bottle)|mugs?|steins?|flutes?|goblets?|tumblers?|cups?|coasters?|decanters?|carafes?|stoppers?|openers?|corkscrews?|aerators?|pourers?|racks?|holders?|fridges?|charms?|stones?|labels?|totes?|vinegars?|markers?|inks?|wipes?|swabs?|pads|thermometers?|hydrometers?|rummy|games?|books?|posters?|prints?|signs?|stickers?|shirts?|t-?shirts?|tees?|hoodies?|sweaters?|dress(?:es)?|gowns?|skirts?|satin|silk|velvet|lace|heels|shoes|sandals|scar(?:f|ves)|ties?|socks|pillows?|cushions?|curtains?|towels?|earrings?|necklaces?|bracelets?|rings?|lipsticks?|candles?|soaps?|shampoos?|gold|colou?r(?:ed)?|free)"
const drink = new RegExp(
  `\\b(?:wine|beer|whisk(?:e)?y|vodka|gin|rum|tequila|liquor|spirits|champagne|prosecco|cider|alcohol)\\b(?!(?:[ _-](?!(?:with|and|in|for|plus)\\b)[a-z]+){0,2}[ _-]${noDrink}\\b)`,
  "i"
)

/** Why something is not bought in a test. */
const unsuitable: ReadonlyArray<readonly [why: string, pattern: RegExp]> = [
  ["gift card", /gift[\s-]?(?:card|certificate|voucher)|e-?gift|gutschein|carte[- ]cadeau|tarjeta (?:de )?regalo/i],
  ["subscription", /\bsubscri(?:be|ption)|\bmembership\b|\bdonat(?:e|ion)\b|\bauto-?renew|\babonnement\b|\bsuscripci/i],
  ["age-restricted", drink],
  [
    "age-restricted",
    /\b(?:vap(?:e|es|ing)|e-?liquid|tobacco|cigar(?:s|ette|ettes)?|nicotine|cbd|thc|cannabis|kratom|firearm|ammo|ammunition|18\+|21\+)\b/i
  ]
]

/** Why a thing is not for a test; undefined when nothing speaks against it. */
const unsuitableFor = (offered: Pick<Offered, "candidate" | "kind">): string | undefined =>
  unsuitable.find(([, pattern]) => pattern.test(`${offered.candidate.name}\n${offered.kind}`))?.[0]

/** What is sold beside a shop's things. It tells little about how they are bought, and some of it cannot be bought alone. */
const beside =
  /\binsurance\b|\b(?:shipping|package|parcel|route|delivery|order|purchase|product)[\s-](?:protection|guarantee|assurance)\b|\bprotection plan\b|\bextended warranty\b|\bsamples?\b|\bswatch(?:es)?\b|\bgift[\s-]?(?:wrap(?:ping)?|box|bag|note)\b|\bgratuity\b|^tips?\b|versandversicherung|geschenkverpackung|(?:stoff)?muster\b|échantillons?\b|emballage cadeau|papel de regalo|confezione regalo/i
const isBeside = ({ candidate }: Offered): boolean => beside.test(candidate.name)

/** Micro-units of a price; undefined when it is none, or less than one unit. */
const priceOf = ({ candidate }: Offered): bigint | undefined => {
  const micros = candidate.price === null ? undefined : parseDecimal(candidate.price)
  return micros !== undefined && micros >= unit ? micros : undefined
}

const isComplete = ({ candidate }: Offered): boolean => candidate.price !== null && candidate.currency !== null

const addressOf = ({ candidate }: Offered): string => candidate.url?.href ?? candidate.platformId ?? candidate.name

/** Numbers first by rank, then the addresses: the same shop gives the same order, in whatever order it lists its things. */
const ascending = (left: Offered, right: Offered): number => {
  const [a, b] = [priceOf(left), priceOf(right)]
  const byBeside = Number(isBeside(left)) - Number(isBeside(right))
  if (byBeside !== 0) return byBeside
  const byComplete = Number(isComplete(right)) - Number(isComplete(left))
  if (byComplete !== 0) return byComplete
  if (a !== b) return a === undefined ? 1 : b === undefined || a < b ? -1 : 1
  if (left.variants !== right.variants) return left.variants - right.variants
  return addressOf(left) < addressOf(right) ? -1 : addressOf(left) > addressOf(right) ? 1 : 0
}

/** What is bought, and what speaks for another outcome. */
export interface Choice {
  readonly chosen: Offered | undefined
  /** Suitable things that are sold out. */
  readonly soldOut: ReadonlyArray<Offered>
  /** Suitable things in stock without a price. */
  readonly unpriced: ReadonlyArray<Offered>
  readonly excluded: number
}

/**
 * Chooses what to buy: suitable and in stock (or not said to be out of it), no wrapping or insurance where there is something else, data complete, the lowest price of at least one unit, then
 * the fewest variants, then the address in order. Things without a currency come after those with one.
 */
export const choose = (offers: ReadonlyArray<Offered>): Choice => {
  const suitable = offers.filter((offered) => unsuitableFor(offered) === undefined)
  const inStock = suitable.filter(({ isAvailable }) => isAvailable !== false)
  const priced = inStock.filter((offered) => priceOf(offered) !== undefined)
  return {
    chosen: priced.toSorted(ascending)[0],
    soldOut: suitable.filter(({ isAvailable }) => isAvailable === false).toSorted(ascending),
    unpriced: inStock.filter((offered) => priceOf(offered) === undefined).toSorted(ascending),
    excluded: offers.length - suitable.length
  }
}

/** The words of a title of three letters and more, in lower case, each once. */
export const wordsOf = (title: string): ReadonlyArray<string> => [
  ...new Set(title.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [])
]

/** The two words of a title that the fewest other titles have, the longer of equals, in the title's order. */
export const rarestWords = (title: string, titles: ReadonlyArray<string>): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const one of titles) for (const word of wordsOf(one)) counts.set(word, (counts.get(word) ?? 0) + 1)
  const words = wordsOf(title)
  const rank = (word: string) => counts.get(word) ?? 0
  const rarest = words.toSorted((a, b) => rank(a) - rank(b) || b.length - a.length || (a < b ? -1 : a > b ? 1 : 0))
  return words.filter((word) => rarest.indexOf(word) < 2)
}

/** Whether two decimal strings say the same price; undefined when one of them is none. */
export const samePrice = (a: string | null, b: string | null): boolean | undefined => {
  const [left, right] = [a === null ? undefined : parseDecimal(a), b === null ? undefined : parseDecimal(b)]
  return left === undefined || right === undefined ? undefined : left === right
}

/** Whether a cart charges what was said of the product, with its tax or without, for one or for all of them; undefined when one of them is no price. */
export const isPriceSaid = (
  charged: string | null,
  { price, priceWithTax }: Pick<Candidate, "price" | "priceWithTax">,
  quantity = 1
): boolean | undefined => {
  const [paid, each, taxed] = [charged, price, priceWithTax ?? null].map((one) =>
    one === null ? undefined : parseDecimal(one)
  )
  if (paid === undefined || (each === undefined && taxed === undefined)) return undefined
  const times = [1n, BigInt(quantity)]
  const isSaid = [each, taxed].some((one) => one !== undefined && times.some((many) => one * many === paid))
  return isSaid || (each === undefined ? undefined : false)
}

/** A decimal string of minor units, such as `1250` with two decimals. Undefined for what is no whole number. */
export const fromMinor = (minor: string | number, decimals: number): string | undefined => {
  const digits = String(minor)
  if (!/^\d{1,15}$/.test(digits) || !Number.isInteger(decimals) || decimals < 0 || decimals > 6) return undefined
  if (decimals === 0) return digits
  const padded = digits.padStart(decimals + 1, "0")
  return `${padded.slice(0, -decimals).replace(/^0+(?=\d)/, "")}.${padded.slice(-decimals)}`
}
