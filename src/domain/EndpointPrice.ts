import { Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { formatDecimal, parseDecimal } from "./Money.ts"
import type { Price } from "./Price.ts"

/** What is said of a price that is none. */
export const noPrice = { message: "must be a number above 0.0001, at most 999999, with at most 6 decimals" }

/** The price of a call: a JSON number above 0.0001 and up to 999999 with at most 6 decimals; exact micro-units inside. */
export const BasePrice = Schema.Finite.check(
  Schema.isGreaterThan(0.0001, noPrice),
  Schema.isLessThanOrEqualTo(999_999, noPrice)
)
  .pipe(
    Schema.decodeTo(
      Schema.BigInt,
      SchemaTransformation.transformEffect<bigint, number>({
        decode: (number) => {
          // The shortest decimal that means this number is what the caller wrote.
          const micros = parseDecimal(String(number))
          return micros === undefined ? Effect.fail(new SchemaIssue.InvalidValue(noPrice)) : Effect.succeed(micros)
        },
        encode: (micros) => Effect.succeed(Number(formatDecimal(micros)))
      })
    )
  )
  .annotate({ identifier: "BasePrice" })

/** What an endpoint that names no price asks for: 0.01. */
export const defaultBasePrice = 10_000n

/** A sum of money that is a JSON number on the wire. */
export const MoneyNumber = Schema.Finite.pipe(
  Schema.decodeTo(
    Schema.BigInt,
    SchemaTransformation.transformEffect<bigint, number>({
      decode: (number) => {
        const micros = parseDecimal(String(number))
        return micros === undefined
          ? Effect.fail(new SchemaIssue.InvalidValue({ message: "must be a number with at most 6 decimals" }))
          : Effect.succeed(micros)
      },
      encode: (micros) => Effect.succeed(Number(formatDecimal(micros)))
    })
  )
)

/** A count that is a JSON number on the wire. */
export const CountNumber = Schema.Int.pipe(
  Schema.decodeTo(
    Schema.BigInt,
    SchemaTransformation.transformEffect<bigint, number>({
      decode: (number) => Effect.succeed(BigInt(number)),
      encode: (count) => Effect.succeed(Number(count))
    })
  )
)

/** From this many completed calls of one payer on, the price is multiplied. A multiplier of 0 makes the call free. */
export const VolumeDiscount = Schema.Struct({
  threshold: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000_000_000 })),
  priceMultiplier: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
}).annotate({ identifier: "VolumeDiscount" })
export type VolumeDiscount = typeof VolumeDiscount.Type

/** In any order; the highest threshold a payer has reached applies. */
export const VolumeDiscounts = Schema.Array(VolumeDiscount).check(
  Schema.isMaxLength(100),
  Schema.makeFilter(
    (discounts) =>
      new Set(discounts.map((discount) => discount.threshold)).size === discounts.length || "thresholds must differ"
  )
)

/** The whole price list. A discounted price is rounded down, and is at least one micro-unit unless the call is free. */
export const priceOf = (basePrice: bigint, discounts: ReadonlyArray<VolumeDiscount>): Price => ({
  base: basePrice,
  tiers: discounts.map(({ priceMultiplier, threshold }) => ({
    threshold,
    amount: multiply(basePrice, priceMultiplier)
  }))
})

/** The same price list, nowhere above `limit`: what holds when the price rose after it was quoted. */
export const cappedAt = (price: Price, limit: bigint): Price => {
  const cap = (amount: bigint) => (amount < limit ? amount : limit)
  return {
    base: cap(price.base),
    tiers: price.tiers.map(({ amount, threshold }) => ({ threshold, amount: cap(amount) }))
  }
}

const multiply = (amount: bigint, multiplier: number): bigint => {
  if (multiplier === 0) return 0n
  const [mantissa = "", exponent = "0"] = String(multiplier).split("e-")
  const [whole = "", fraction = ""] = mantissa.split(".")
  const product = (amount * BigInt(whole + fraction)) / 10n ** BigInt(fraction.length + Number(exponent))
  return product > 0n ? product : 1n
}

/** A price list as it is kept with a payment: amounts are decimal digits of micro-units. */
export const StoredPrice = Schema.Struct({
  base: Schema.BigIntFromString,
  tiers: Schema.Array(Schema.Struct({ threshold: Schema.Int, amount: Schema.BigIntFromString }))
})
