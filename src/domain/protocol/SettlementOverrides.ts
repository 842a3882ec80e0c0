import { asFields } from "./X402Payload.ts"

const percentage = /^0*(\d{1,3})(?:\.(\d{0,2}))?%$/
const dollars = /^\$0*(\d{1,13})(?:\.(\d+))?$/
const atomic = /^0*(\d{1,19})$/

/**
 * What the origin asks to take of an authorised maximum, by the value of its `Settlement-Overrides`: micro-units (`"1500"`), a share of
 * the maximum (`"50%"`) or money (`"$0.02"`, with any number of decimals: computed prices have many), both rounded down as the official
 * servers do; all of it where no `amount` is named, as with them. Undefined when it is none of these, or more than the maximum.
 */
export const settlementAmount = (header: string, maximum: bigint): bigint | undefined => {
  const overrides = overridesIn(header)
  if (overrides === undefined) return undefined
  const { amount } = overrides
  if (amount === undefined) return maximum
  const micros = typeof amount === "string" ? microsOf(amount, maximum) : undefined
  return micros === undefined || micros > maximum ? undefined : micros
}

const overridesIn = (header: string) => {
  if (header.length > 1000) return undefined
  try {
    return asFields(JSON.parse(header))
  } catch {
    return undefined
  }
}

const microsOf = (amount: string, maximum: bigint): bigint | undefined => {
  const micros = atomic.exec(amount)?.[1]
  if (micros !== undefined) return BigInt(micros)
  const [, money, below = ""] = dollars.exec(amount) ?? []
  if (money !== undefined) return BigInt(money + below.slice(0, 6).padEnd(6, "0"))
  const [, share, hundredths = ""] = percentage.exec(amount) ?? []
  if (share === undefined) return undefined
  return (maximum * BigInt(share + hundredths.padEnd(2, "0"))) / 10_000n
}
