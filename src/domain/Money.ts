import { Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"

/** Currencies that wallets hold. */
export const Currency = Schema.Literals(["USDC", "EURC"])
export type Currency = typeof Currency.Type

/** What all of them have, and the most that any money here has. */
export const decimals = 6

/** Micro-units in one unit of any currency. */
export const unit = 10n ** BigInt(decimals)

/** The largest amount or balance: what a Postgres bigint holds, in micro-units. */
export const maxMicros = 9_223_372_036_854_775_807n

const plainDecimal = /^(0|[1-9]\d{0,30})(?:\.(\d{1,6}))?$/

/** Micro-units of a plain decimal with at most 6 decimals; undefined for any other text. Never rounds. */
export const parseDecimal = (text: string): bigint | undefined => {
  const match = plainDecimal.exec(text)
  if (match === null) return undefined
  const [, whole = "0", fraction = ""] = match
  return BigInt(whole) * unit + BigInt(fraction.padEnd(6, "0"))
}

/** The exact decimal of micro-units, with at least two decimals: `1500000n` is `1.50`. */
export const formatDecimal = (micros: bigint): string => {
  const sign = micros < 0n ? "-" : ""
  const absolute = micros < 0n ? -micros : micros
  const fraction = (absolute % unit)
    .toString()
    .padStart(6, "0")
    .replace(/0{1,4}$/, "")
  return `${sign}${absolute / unit}.${fraction}`
}

/** The reasons an amount is refused; the HTTP edge turns exactly these into 422 with the code of the same name. */
export const amountRefusals = {
  INVALID_AMOUNT: 'must be a positive decimal string with at most 6 decimals, such as "10.50"',
  AMOUNT_TOO_SMALL: "must be greater than 0",
  AMOUNT_TOO_LARGE: "is larger than the ledger can hold"
} as const
export type AmountRefusal = keyof typeof amountRefusals

/** From here on a JSON number has not enough digits left for 6 decimals, so it may not be what was meant. */
const inexact = 1_000_000_000

/** What amounts are called in requests; JSON leaves no trace of how a number was written, so its text is looked at under these names. */
export const amountNames: ReadonlySet<string> = new Set([
  "amount",
  "amount_disputed",
  "amountDisputed",
  "basePrice",
  "buffer",
  "initial_deposit",
  "max_amount",
  "refund_amount",
  "refundAmount"
])

/** Significant digits and the power of ten behind them, which are the same of all texts of one number. */
const weighed = (text: string): string => {
  const [, whole = "", fraction = "", exponent = "0"] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+/, "")
  // From the last other digit on, because `0+$` alone would be tried from each zero of a long row of them.
  const significant = digits.slice(0, digits.search(/[1-9]0*$/) + 1)
  if (significant === "") return "0"
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

/** Whether a JSON number of this text is what was written, and not the nearest that a JSON number can be. */
export const isExactNumber = (text: string): boolean => weighed(text) === weighed(String(Number(text)))

/** The amount on the wire, or why it is refused. JSON numbers pass when they are exact and print as a plain decimal. */
export const parseAmount = (input: unknown): bigint | AmountRefusal => {
  if (typeof input === "number" ? input >= inexact : typeof input !== "string") return "INVALID_AMOUNT"
  const micros = parseDecimal(String(input))
  if (micros === undefined) return "INVALID_AMOUNT"
  if (micros === 0n) return "AMOUNT_TOO_SMALL"
  return micros > maxMicros ? "AMOUNT_TOO_LARGE" : micros
}

/** A balance or a difference of balances in micro-units; a decimal string on the wire. */
export const Micros = Schema.String.pipe(
  Schema.decodeTo(
    Schema.BigInt,
    SchemaTransformation.transformEffect({
      decode: (text: string) => {
        const micros = text.startsWith("-") ? parseDecimal(text.slice(1)) : parseDecimal(text)
        return micros === undefined
          ? Effect.fail(new SchemaIssue.InvalidValue({ message: amountRefusals.INVALID_AMOUNT }))
          : Effect.succeed(text.startsWith("-") ? -micros : micros)
      },
      encode: (micros: bigint) => Effect.succeed(formatDecimal(micros))
    })
  )
).annotate({ identifier: "Decimal" })

/** A positive amount in micro-units. The wire carries a decimal string; an exact JSON number is accepted too. */
// `Any`, because the JSON form of `Unknown` refuses an infinite number before it can be told what is wrong with it.
export const Amount = Schema.Any.pipe(
  Schema.decodeTo(
    Schema.BigInt,
    SchemaTransformation.transformEffect<bigint, unknown>({
      decode: (input) => {
        const micros = parseAmount(input)
        return typeof micros === "bigint"
          ? Effect.succeed(micros)
          : Effect.fail(new SchemaIssue.InvalidValue({ message: amountRefusals[micros] }))
      },
      encode: (micros) => Effect.succeed(formatDecimal(micros))
    })
  )
).annotate({ identifier: "Amount" })
