import { Schema } from "effect"
import { bucketStart, bucketWidth, isSliding, latencyBin, StatisticsWindow, windowStart } from "#domain/Statistics.ts"

export type Kind = "payer" | "latency" | "failure"

/**
 * What ends of calls to one endpoint in one minute have in common: so many of them, and what they charged together. Each end is
 * counted as a `completed` or `failed` one, and under its payer or reason and its milliseconds, as far as they are known.
 */
export const Ended = Schema.Struct({
  endpoint_id: Schema.String,
  minute: Schema.Date,
  kind: Schema.Literals(["completed", "failed", "payer", "failure", "latency"]),
  key: Schema.String,
  count: Schema.BigInt,
  amount: Schema.BigInt
})
export type Ended = typeof Ended.Type

interface Place {
  readonly endpoint_id: string
  readonly span: StatisticsWindow
}
/** `at` is when the bucket began, in milliseconds since 1970. */
interface At extends Place {
  readonly at: number
}
interface Keyed extends Place {
  readonly kind: Kind
  readonly key: string
}
type Sum<A> = A & { count: bigint; amount: bigint }

/** `since` is when the window begins, once something from before that was left out; `oldest` the first bucket that was not. */
interface Window extends Place {
  since: number
  oldest: number | null
}

/** What a stretch of the event log adds to each table; ordered, so that all who write lock in one order. */
export interface Additions {
  readonly windows: ReadonlyArray<Sum<Window>>
  readonly buckets: ReadonlyArray<Sum<At>>
  readonly cells: ReadonlyArray<Sum<At & Keyed>>
  readonly sums: ReadonlyArray<Sum<Keyed>>
}

/** Reasons are words of ours; whatever is none is counted under one name, so that their number stays small. */
const keyOf = (kind: Kind, key: string): string => {
  if (kind === "payer") return key
  if (kind === "latency") return String(latencyBin(Number(key)))
  return /^[a-z0-9_]{1,64}$/.test(key) ? key : "other"
}

/** Counts by key, in memory: as many entries as there are different keys in one stretch. */
const sumsBy = <A extends object>() => {
  const sums = new Map<string, Sum<A>>()
  const add = (id: string, what: A, count: bigint, amount: bigint): Sum<A> => {
    const known = sums.get(id)
    const sum = known ?? { ...what, count: 0n, amount: 0n }
    if (known === undefined) sums.set(id, sum)
    sum.count += count
    sum.amount += amount
    return sum
  }
  const sorted = () =>
    [...sums].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)).map(([, sum]) => sum)
  return { add, sorted }
}

/** Leaves out of a window what it has slid past at `now` already: who is far behind has little to write. */
export const additionsOf = (ended: ReadonlyArray<Ended>, now: number): Additions => {
  const windows = sumsBy<Window>()
  const buckets = sumsBy<At>()
  const cells = sumsBy<At & Keyed>()
  const sums = sumsBy<Keyed>()
  for (const { amount, count, endpoint_id, key: told, kind, minute } of ended) {
    for (const span of StatisticsWindow.literals) {
      const at = bucketStart(minute.getTime(), bucketWidth(span))
      const place = `${endpoint_id} ${span}`
      const from = isSliding(span) ? windowStart(span, now) : 0
      if (at < from) {
        windows.add(place, { endpoint_id, span, since: 0, oldest: null }, 0n, 0n).since = from
        continue
      }
      if (kind === "completed" || kind === "failed") {
        const [calls, revenue] = kind === "completed" ? [count, amount] : [0n, 0n]
        const window = windows.add(place, { endpoint_id, span, since: 0, oldest: null }, calls, revenue)
        if (isSliding(span)) window.oldest = Math.min(window.oldest ?? at, at)
        if (calls > 0n) buckets.add(`${place} ${at}`, { endpoint_id, span, at }, calls, revenue)
        continue
      }
      const key = keyOf(kind, told)
      const paid = kind === "payer" ? amount : 0n
      sums.add(`${place} ${kind} ${key}`, { endpoint_id, span, kind, key }, count, paid)
      if (isSliding(span)) cells.add(`${place} ${at} ${kind} ${key}`, { endpoint_id, span, at, kind, key }, count, paid)
    }
  }
  return { windows: windows.sorted(), buckets: buckets.sorted(), cells: cells.sorted(), sums: sums.sorted() }
}
