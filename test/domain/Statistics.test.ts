import { assert, describe, it } from "@effect/vitest"
import {
  bucketStart,
  frameOf,
  frameOfAll,
  latencyBin,
  latencyOf,
  percentile,
  slidingWindows,
  spread,
  windowStart
} from "#domain/Statistics.ts"

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const noon = Date.UTC(2026, 2, 1, 12)

describe("a window that slides", () => {
  it("ends with the bucket of now, and moves on when the next bucket begins", () => {
    assert.strictEqual(windowStart("1h", noon), noon - 59 * minute)
    assert.strictEqual(windowStart("1h", noon + minute - 1), noon - 59 * minute)
    assert.strictEqual(windowStart("1h", noon + minute), noon - 58 * minute)
    assert.strictEqual(windowStart("24h", noon + 14 * minute), noon - day + 15 * minute)
    assert.strictEqual(windowStart("7d", noon + 59 * minute), noon - 7 * day + hour)
    assert.strictEqual(windowStart("30d", noon + 5 * hour), noon - 30 * day + 6 * hour)
  })

  it("is its length long, in whole buckets", () => {
    const lengths = { "1h": hour, "24h": day, "7d": 7 * day, "30d": 30 * day }
    for (const [window, { buckets, width }] of Object.entries(slidingWindows)) {
      assert.strictEqual(buckets * width, lengths[window as keyof typeof lengths], window)
    }
  })

  it("begins no earlier than what is still counted", () => {
    assert.strictEqual(frameOf("1h", noon, 0).from, noon - 59 * minute)
    assert.strictEqual(frameOf("1h", noon, noon - 57 * minute).from, noon - 57 * minute)
  })
})

describe("all time", () => {
  it("is at most a hundred buckets, whatever the age of the endpoint", () => {
    for (const [age, width] of [
      [0, day],
      [99 * day, day],
      [100 * day, 7 * day],
      [690 * day, 7 * day],
      [800 * day, 28 * day],
      [30 * 365 * day, 364 * day]
    ] as const) {
      const frame = frameOfAll(noon + age, noon)
      assert.strictEqual(frame.width, width, `${age / day} days`)
      assert.isAtMost(frame.buckets, 100)
      assert.isAtMost(frame.from, noon)
      const end = frame.from + frame.buckets * frame.width
      assert.isTrue(end > noon + age && end - frame.width <= noon + age)
    }
  })
})

describe("buckets", () => {
  const frame = { from: noon, width: minute, buckets: 3 }

  it("are listed when they are empty, and sum up what lies in them", () => {
    const one = { at: noon + minute, calls: 2n, revenue: 5n }
    assert.deepStrictEqual(spread(frame, [one, { ...one, at: one.at + 30_000 }]), [
      { at: noon, calls: 0n, revenue: 0n },
      { at: noon + minute, calls: 4n, revenue: 10n },
      { at: noon + 2 * minute, calls: 0n, revenue: 0n }
    ])
  })

  it("lose nothing that a clock ahead of ours or behind it counted", () => {
    const one = { calls: 1n, revenue: 1n }
    const found = spread(frame, [
      { ...one, at: noon - 1 },
      { ...one, at: noon + hour }
    ])
    assert.deepStrictEqual(
      found.map(({ calls }) => calls),
      [1n, 0n, 1n]
    )
  })

  it("begin at multiples of their width", () => {
    assert.strictEqual(bucketStart(noon + 61_000, minute), noon + minute)
    assert.strictEqual(bucketStart(-1, minute), -minute)
  })
})

describe("latency", () => {
  it("is never shown below its value, at most a sixteenth above it, and exact below 32 ms", () => {
    let last = -1
    for (let millis = 0; millis <= 130_000; millis++) {
      const bin = latencyBin(millis)
      assert.isTrue(bin === last || bin === last + 1, `${millis}`)
      last = bin
      const shown = latencyOf(bin)
      assert.isTrue(millis < 32 ? shown === millis : shown >= millis && shown <= millis * 1.0625, `${millis}: ${shown}`)
    }
  })

  it("of a nonsense clock is counted in the first bin or the last", () => {
    assert.deepStrictEqual([latencyBin(-5), latencyBin(1e12)], [0, latencyBin(2 ** 31 - 1)])
    assert.strictEqual(latencyOf(latencyBin(1e12)), 2 ** 31 - 1)
  })

  it("percentile is the nearest rank", () => {
    const bins = [5, 1, 3, 2, 4].map((bin) => ({ bin, count: 20n }))
    assert.deepStrictEqual(
      [0, 1, 20, 21, 50, 99, 100].map((percent) => percentile(bins, percent)),
      [1, 1, 1, 2, 3, 5, 5]
    )
    assert.strictEqual(percentile([{ bin: 7, count: 1n }], 50), 7)
    assert.isNull(percentile([], 50))
  })
})
