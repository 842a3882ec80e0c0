import { Schema } from "effect"
import { Moment } from "./Instant.ts"
import { CountNumber, MoneyNumber } from "./EndpointPrice.ts"
import { EndpointId } from "./Ids.ts"
import { Currency } from "./Money.ts"
import { paymentFailuresInWords } from "./PaymentFailure.ts"

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** How far back statistics look. */
export const StatisticsWindow = Schema.Literals(["1h", "24h", "7d", "30d", "all"])
export type StatisticsWindow = typeof StatisticsWindow.Type

/** The windows that slide. Each ends with the bucket of now and is so many whole buckets long. */
export const slidingWindows = {
  "1h": { width: minute, buckets: 60 },
  "24h": { width: 15 * minute, buckets: 96 },
  "7d": { width: hour, buckets: 168 },
  "30d": { width: 6 * hour, buckets: 120 }
} as const
export type SlidingWindow = keyof typeof slidingWindows
export const isSliding = (window: StatisticsWindow): window is SlidingWindow => window !== "all"

/** How wide the buckets are in which calls are counted; those of `all` are shown wider when there are many. */
export const bucketWidth = (window: StatisticsWindow): number =>
  isSliding(window) ? slidingWindows[window].width : day

/** When the bucket of an instant begins: at a whole multiple of its width since 1970, in UTC. */
export const bucketStart = (at: number, width: number): number => Math.floor(at / width) * width

/** When a sliding window begins, for who looks at `now`. */
export const windowStart = (window: SlidingWindow, now: number): number => {
  const { buckets, width } = slidingWindows[window]
  return bucketStart(now, width) - (buckets - 1) * width
}

/** A stretch of time cut into buckets of one width. */
export interface Frame {
  readonly from: number
  readonly width: number
  readonly buckets: number
}

/** What `all` may be shown in; the last is wide enough for a century. */
const allWidths = [day, 7 * day, 28 * day, 364 * day] as const
const mostOfAll = 100

/** The buckets to show: from `since` on, when what was before that has left the window already. */
export const frameOf = (window: SlidingWindow, now: number, since: number): Frame => {
  const { buckets, width } = slidingWindows[window]
  return { from: Math.max(windowStart(window, now), since), width, buckets }
}

/** All time since `born`, in at most a hundred buckets. */
export const frameOfAll = (now: number, born: number): Frame => {
  const count = (width: number) => Math.max(1, (bucketStart(now, width) - bucketStart(born, width)) / width + 1)
  const width = allWidths.find((width) => count(width) <= mostOfAll) ?? 364 * day
  return { from: bucketStart(born, width), width, buckets: count(width) }
}

/** What was counted in the bucket that began at `at`. */
export interface Counted {
  readonly at: number
  readonly calls: bigint
  readonly revenue: bigint
}

/** Every bucket of the frame, empty ones too. What lies outside (a clock that differs from ours) is in the nearest. */
export const spread = (frame: Frame, counted: ReadonlyArray<Counted>): ReadonlyArray<Counted> => {
  const buckets = Array.from({ length: frame.buckets }, (_, index) => ({
    at: frame.from + index * frame.width,
    calls: 0n,
    revenue: 0n
  }))
  for (const { at, calls, revenue } of counted) {
    const place = Math.floor((at - frame.from) / frame.width)
    const bucket = buckets[Math.min(Math.max(place, 0), frame.buckets - 1)]
    if (bucket === undefined) continue
    bucket.calls += calls
    bucket.revenue += revenue
  }
  return buckets
}

/**
 * Milliseconds are counted in bins: one for each millisecond below 32, and 16 for each doubling above. The largest value of a bin is
 * at most a sixteenth above its smallest.
 */
export const latencyBin = (millis: number): number => {
  const value = Math.min(Math.max(Math.round(millis), 0), 2 ** 31 - 1)
  if (value < 32) return value
  const shift = 27 - Math.clz32(value)
  return shift * 16 + (value >> shift)
}

/** The largest value that is counted in this bin. */
export const latencyOf = (bin: number): number => {
  if (bin < 32) return bin
  const shift = Math.floor(bin / 16) - 1
  return (bin - shift * 16 + 1) * 2 ** shift - 1
}

export interface Bin {
  readonly bin: number
  readonly count: bigint
}

/** The latency that at least this share of all answers did not exceed (nearest rank); null when there is none. */
export const percentile = (bins: ReadonlyArray<Bin>, percent: number): number | null => {
  const total = bins.reduce((sum, { count }) => sum + count, 0n)
  let left = (total * BigInt(percent) + 99n) / 100n
  for (const { bin, count } of bins.toSorted((one, other) => one.bin - other.bin)) {
    left -= count
    if (left <= 0n) return latencyOf(bin)
  }
  return null
}

/** How long the origin took to answer, over all calls it answered. */
export const latencyOfBins = (bins: ReadonlyArray<Bin>) => ({
  answers: bins.reduce((sum, { count }) => sum + count, 0n),
  p50: percentile(bins, 50),
  p90: percentile(bins, 90),
  p95: percentile(bins, 95),
  p99: percentile(bins, 99)
})

const Millis = Schema.NullOr(Schema.Int)

/** What was paid for calls of one endpoint, in the camelCase of the endpoint record. */
export const EndpointStatistics = Schema.Struct({
  endpointId: EndpointId,
  window: StatisticsWindow,
  currency: Currency,
  from: Moment,
  to: Moment,
  totalCalls: CountNumber,
  uniquePayers: CountNumber,
  totalRevenue: MoneyNumber,
  bucketSeconds: Schema.Int,
  buckets: Schema.Array(Schema.Struct({ start: Moment, calls: CountNumber, revenue: MoneyNumber })),
  topPayers: Schema.Array(Schema.Struct({ payer: Schema.String, calls: CountNumber, revenue: MoneyNumber })),
  latency: Schema.Struct({ answers: CountNumber, p50: Millis, p90: Millis, p95: Millis, p99: Millis }),
  totalFailures: CountNumber,
  failures: Schema.Array(
    Schema.Struct({
      reason: Schema.String.annotate({ description: `The \`failure\` of payments: ${paymentFailuresInWords}` }),
      calls: CountNumber
    })
  )
}).annotate({ identifier: "EndpointStatistics" })
export type EndpointStatistics = typeof EndpointStatistics.Type
