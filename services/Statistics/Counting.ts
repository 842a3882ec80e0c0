import { Schema } from "effect"
import { Micros } from "#domain/Money.ts"
import { bucketStart, bucketWidth, isSliding, latencyBin, StatisticsWindow, windowStart } from "#domain/Statistics.ts"

/** What a recorded end of a call says that is counted. */
export const Ended = Schema.Struct({
  type: Schema.Literals(["x402.payment.completed", "x402.payment.failed"]),
  created_at: Schema.Date,
  endpoint_id: Schema.String,
  payer: Schema.String,
  charged: Schema.NullOr(Micros),
  failure: Schema.NullOr(Schema.String),
  origin_ms: Schema.NullOr(Schema.Finite)
})
export type Ended = typeof Ended.Type

export type Kind = "payer" | "latency" | "failure"

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
const reason = (failure: string | null) => (failure !== null && /^[a-z0-9_]{1,64}$/.test(failure) ? failure : "other")

const marks = ({ charged, failure, origin_ms, payer, type }: Ended) => {
  const found: Array<{ readonly kind: Kind; readonly key: string; readonly amount: bigint }> = []
  if (type === "x402.payment.completed") found.push({ kind: "payer", key: payer, amount: charged ?? 0n })
  else found.push({ kind: "failure", key: reason(failure), amount: 0n })
  if (origin_ms !== null) found.push({ kind: "latency", key: String(latencyBin(origin_ms)), amount: 0n })
  return found
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
  for (const one of ended) {
    const { created_at, endpoint_id } = one
    const calls = one.type === "x402.payment.completed" ? 1n : 0n
    const revenue = calls === 0n ? 0n : (one.charged ?? 0n)
    const marked = marks(one)
    for (const span of StatisticsWindow.literals) {
      const at = bucketStart(created_at.getTime(), bucketWidth(span))
      const place = `${endpoint_id} ${span}`
      const from = isSliding(span) ? windowStart(span, now) : 0
      if (at < from) {
        windows.add(place, { endpoint_id, span, since: 0, oldest: null }, 0n, 0n).since = from
        continue
      }
      const window = windows.add(place, { endpoint_id, span, since: 0, oldest: null }, calls, revenue)
      if (isSliding(span)) window.oldest = Math.min(window.oldest ?? at, at)
      if (calls > 0n) buckets.add(`${place} ${at}`, { endpoint_id, span, at }, calls, revenue)
      for (const { amount, key, kind } of marked) {
        sums.add(`${place} ${kind} ${key}`, { endpoint_id, span, kind, key }, 1n, amount)
        if (!isSliding(span)) continue
        const id = `${place} ${at} ${kind} ${key}`
        cells.add(id, { endpoint_id, span, at, kind, key }, 1n, amount)
      }
    }
  }
  return { windows: windows.sorted(), buckets: buckets.sorted(), cells: cells.sorted(), sums: sums.sorted() }
}
