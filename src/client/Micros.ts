import { isText } from "./Encoding.ts"
/** Money is counted in micro-units, so that sums and comparisons are exact. */

const unit = 1_000_000n

const plainDecimal = /^(0|[1-9]\d{0,30})(?:\.(\d{1,6}))?$/

/** Micro-units of a plain decimal with at most 6 decimals; undefined for anything else. Never rounds. */
export const parseDecimal = (text: unknown): bigint | undefined => {
  const match = isText(text) ? plainDecimal.exec(text) : null
  if (match === null) return undefined
  const [, whole = "0", fraction = ""] = match
  return BigInt(whole) * unit + BigInt(fraction.padEnd(6, "0"))
}

/** Micro-units as x402 writes them: digits and nothing else. */
export const parseMicros = (text: unknown): bigint | undefined =>
  isText(text) && /^(0|[1-9]\d{0,30})$/.test(text) ? BigInt(text) : undefined

/** The exact decimal of micro-units, with at least two decimals: `1500000n` is `1.50`. */
export const formatDecimal = (micros: bigint): string => {
  const fraction = String(micros % unit)
    .padStart(6, "0")
    .replace(/0{1,4}$/, "")
  return `${micros / unit}.${fraction}`
}
