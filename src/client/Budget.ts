import { formatDecimal, parseDecimal } from "./Micros.ts"
import { PaymentError, type PaymentErrorCode } from "./PaymentError.ts"
import { today } from "./Time.ts"

/**
 * Keeps what was spent under a key (a day and a currency). `reserve` must be atomic: of any number of callers at once only as
 * many may get `true` as fit. Give several processes one store, and they share one daily cap.
 */
export interface SpendingStore {
  /** Adds `micros`, which are never above `limit` alone, to what was spent, unless the sum would be; says whether it did. */
  reserve(key: string, micros: bigint, limit: bigint): boolean | PromiseLike<boolean>
  /** Takes `micros` off again: they were not charged. */
  giveBack(key: string, micros: bigint): void | PromiseLike<void>
}

/** How many keys of days gone by the memory store keeps; a day has one per currency. */
const keptKeys = 16

/** Spending of this process, forgotten when it ends. */
export const memoryStore = (): SpendingStore & { spent(key: string): bigint } => {
  const spending = new Map<string, bigint>()
  const spent = (key: string) => spending.get(key) ?? 0n
  return {
    spent,
    reserve: (key, micros, limit) => {
      if (spent(key) + micros > limit) return false
      spending.set(key, spent(key) + micros)
      const past = [...spending.keys()].filter((other) => other < key.slice(0, 10))
      for (const oldest of past.slice(0, -keptKeys)) spending.delete(oldest)
      return true
    },
    giveBack: (key, micros) => {
      if (spending.has(key)) spending.set(key, spent(key) - micros)
    }
  }
}

/** The key under which today's spending is kept: the day in UTC, and the currency. */
const spendingKey = (currency: string): string => `${today()} ${currency}`

export interface Caps {
  readonly perCall: bigint
  readonly perDay: bigint
  readonly store: SpendingStore
}

/** A cap as the caller wrote it; throws when it is not a plain decimal. */
export const cap = (name: string, text: string): bigint => {
  const micros = parseDecimal(text)
  if (micros === undefined) throw new TypeError(`${name} must be a decimal string such as "0.50", not ${String(text)}`)
  return micros
}

/** Money set aside for one call. */
export interface Reservation {
  /** Keeps what was charged and gives the rest back; only the first time counts. Fails with the store, and then it stays counted. */
  settle(charged: bigint): Promise<void>
}

/** Sets the price aside, or throws a `PaymentError`: the cap per call comes first. */
export const reserve = async (caps: Caps, micros: bigint, currency: string): Promise<Reservation> => {
  const amount = formatDecimal(micros)
  const above = (code: PaymentErrorCode, name: string, most: bigint) => {
    const maximum = formatDecimal(most)
    return new PaymentError(code, `${amount} ${currency} more would be above ${name}, which is ${maximum}`, {
      details: { amount, maximum, currency }
    })
  }
  if (micros > caps.perCall) throw above("ABOVE_MAX_PER_CALL", "maxPerCall", caps.perCall)
  const key = spendingKey(currency)
  // A store may look at the limit only where there is a sum before it, as the one statement in SQL of the guide does.
  if (micros > caps.perDay || !(await caps.store.reserve(key, micros, caps.perDay)))
    throw above("ABOVE_MAX_PER_DAY", "maxPerDay", caps.perDay)
  let open = true
  return {
    settle: async (charged) => {
      if (!open) return
      open = false
      if (charged < micros) await caps.store.giveBack(key, micros - charged)
    }
  }
}
