import { Schema, Struct } from "effect"
import { Currency, decimals } from "./Money.ts"

/** Money that no wallet holds and that only shows what others are worth, and how many decimals it has. */
const shown = { USD: 2, EUR: 2, BRL: 2, MXN: 2, GBP: 2 } as const

/** Currencies that a quote converts between. */
export const QuoteCurrency = Schema.Literals([...Currency.literals, ...Struct.keys(shown)])
export type QuoteCurrency = typeof QuoteCurrency.Type

const known: { readonly [currency in QuoteCurrency]?: number } = shown

/** How many decimals amounts of a currency may have. */
export const decimalsOf = (currency: QuoteCurrency): number => known[currency] ?? decimals

/** The smallest amount of a currency in micro-units: one, or a cent where there are two decimals. */
export const quantumOf = (currency: QuoteCurrency): bigint => 10n ** BigInt(decimals - decimalsOf(currency))

/** Rates are whole numbers of these parts: 8 decimals are shown, and there are no more behind them. */
export const rateUnit = 100_000_000n

/** A whole in basis points. */
export const wholeBasisPoints = 10_000n

/** How much of each currency one US dollar is worth, as decimals. */
export type PerDollar = Readonly<Partial<Record<QuoteCurrency, string>>>

/** What a dollar is worth in the sandbox, always. */
export const sandboxPerDollar = {
  USDC: "1",
  EURC: "0.92",
  USD: "1",
  EUR: "0.92",
  BRL: "5.4",
  MXN: "18.5",
  GBP: "0.79"
} as const satisfies Required<PerDollar>

const plainDecimal = /^(0|[1-9]\d{0,11})(?:\.(\d{1,18}))?$/
// No currency quoted here is near one of these; what is beyond is a mistake of whoever says it.
const least = 10n ** 15n
const most = 10n ** 21n

/** A value of one dollar in parts of 10^-18; undefined unless it is a plain decimal between 0.001 and 1000. */
export const parsePerDollar = (text: string): bigint | undefined => {
  const match = plainDecimal.exec(text)
  if (match === null) return undefined
  const [, whole = "0", fraction = ""] = match
  const value = BigInt(whole + fraction.padEnd(18, "0"))
  return value < least || value > most ? undefined : value
}

/**
 * What one unit of `from` is worth in `to`, by way of the dollar, in parts of `rateUnit` and rounded down to one; undefined when
 * the values of a dollar do not tell.
 */
export const midRate = (values: PerDollar, from: QuoteCurrency, to: QuoteCurrency): bigint | undefined => {
  if (from === to) return rateUnit
  const [mine, theirs] = [from, to].map((currency) => parsePerDollar(values[currency] ?? ""))
  return mine === undefined || theirs === undefined ? undefined : (theirs * rateUnit) / mine
}

/** The rate after the spread was taken off, rounded down. */
export const afterSpread = (mid: bigint, spreadBasisPoints: number): bigint =>
  (mid * (wholeBasisPoints - BigInt(spreadBasisPoints))) / wholeBasisPoints

/** The exact decimal of a rate, always with 8 decimals. */
export const formatRate = (rate: bigint): string =>
  `${rate / rateUnit}.${(rate % rateUnit).toString().padStart(8, "0")}`

/** There is no rate now that is recent enough to promise anything by. */
export class RateUnavailable extends Schema.TaggedError<RateUnavailable>()(
  "RATE_UNAVAILABLE",
  { from_currency: QuoteCurrency, to_currency: QuoteCurrency, retry_after: Schema.Int },
  { httpApiStatus: 503, title: "There is no recent rate for these currencies: try again shortly" }
) {}

/** Nobody told this server where rates come from. Trying again does not help. */
export class RatesNotConfigured extends Schema.TaggedError<RatesNotConfigured>()(
  "RATES_NOT_CONFIGURED",
  {},
  { httpApiStatus: 422, title: "This server converts no currencies: it has no source of rates" }
) {}
