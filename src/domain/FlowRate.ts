import { Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"

/** The smallest rate: 18 decimals of one unit of a currency per second. */
const ratePerUnit = 1_000_000_000_000_000_000n

const plainRate = /^(0|[1-9]\d{0,12})(?:\.(\d{1,18}))?$/

/** A rate in 10^-18 units a second of a plain decimal with at most 18 decimals; undefined for any other text. */
export const parseRate = (text: string): bigint | undefined => {
  const match = plainRate.exec(text)
  if (match === null) return undefined
  const [, whole = "0", fraction = ""] = match
  return BigInt(whole) * ratePerUnit + BigInt(fraction.padEnd(18, "0"))
}

/** The exact decimal of a rate, without trailing zeros: `385802469135802n` is `0.000385802469135802`. */
const formatRate = (rate: bigint): string => {
  const fraction = (rate % ratePerUnit).toString().padStart(18, "0").replace(/0+$/, "")
  return fraction === "" ? `${rate / ratePerUnit}` : `${rate / ratePerUnit}.${fraction}`
}

/** Money per second in 10^-18 units, above 0; a decimal string with at most 18 decimals on the wire. */
export const FlowRate = Schema.String.pipe(
  Schema.decodeTo(
    Schema.BigInt,
    SchemaTransformation.transformEffect({
      decode: (text: string) => {
        const rate = parseRate(text)
        return rate === undefined || rate === 0n
          ? Effect.fail(
              new SchemaIssue.InvalidValue({
                message:
                  'must be a decimal string above 0 and below 10000000000000, with at most 18 decimals, such as "0.000385802469135802"'
              })
            )
          : Effect.succeed(rate)
      },
      encode: (rate: bigint) => Effect.succeed(formatRate(rate))
    })
  )
).annotate({ identifier: "FlowRate" })
