import { parseDecimal } from "../Money.ts"
import { asFields } from "./X402Payload.ts"

const percentage = /^(\d{1,3})(?:\.(\d{1,2}))?%$/
const atomic = /^(?:0|[1-9]\d{0,18})$/

/**
 * What the origin asks to take of an authorised maximum, by the value of its `Settlement-Overrides`: micro-units (`"1500"`), a share of
 * the maximum (`"50%"`, rounded down) or money (`"$0.02"`). Undefined when it is none of these, or more than the maximum.
 */
export const settlementAmount = (header: string, maximum: bigint): bigint | undefined => {
  const amount = amountIn(header)
  const micros = typeof amount === "string" ? microsOf(amount, maximum) : undefined
  return micros === undefined || micros > maximum ? undefined : micros
}

const amountIn = (header: string): unknown => {
  if (header.length > 1000) return undefined
  try {
    return asFields(JSON.parse(header))?.amount
  } catch {
    return undefined
  }
}

const microsOf = (amount: string, maximum: bigint): bigint | undefined => {
  if (atomic.test(amount)) return BigInt(amount)
  if (amount.startsWith("$")) return parseDecimal(amount.slice(1))
  const match = percentage.exec(amount)
  if (match === null) return undefined
  const [, whole = "0", fraction = ""] = match
  return (maximum * BigInt(whole + fraction.padEnd(2, "0"))) / 10_000n
}
