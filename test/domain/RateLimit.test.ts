import { assert, describe, it } from "@effect/vitest"
import { type Allowance, type Bucket, take } from "#domain/RateLimit.ts"

const minute = 60_000

/** What so many requests in one moment are told, and what is left after them. */
const burst = (count: number, perMinute: number, at: number, before?: Bucket) => {
  let bucket = before
  const told: Array<Allowance> = []
  for (let one = 0; one < count; one++) {
    const taken = take(bucket, perMinute, at)
    bucket = taken.bucket
    told.push(taken.allowance)
  }
  return { bucket, told, passed: told.filter(({ allowed }) => allowed).length }
}

describe("a limit of requests a minute", () => {
  it("lets through a minute's worth at once, however long the caller was silent before", () => {
    const { bucket, passed } = burst(5, 3, 0)
    assert.strictEqual(passed, 3)
    assert.strictEqual(burst(10, 3, 60 * minute, bucket).passed, 3)
  })

  it("gives one back when its share of the minute is over, and not before", () => {
    const { bucket } = burst(3, 3, 0)
    assert.strictEqual(burst(1, 3, minute / 3 - 1, bucket).passed, 0)
    assert.strictEqual(burst(2, 3, minute / 3, bucket).passed, 1)
  })

  it("takes nothing for a request that it refuses", () => {
    const { bucket } = burst(100, 3, 0)
    assert.strictEqual(burst(1, 3, minute / 3, bucket).passed, 1)
  })

  it("tells how many pass now, when the next one does, and when all are back, in whole seconds that are never too few", () => {
    const { told } = burst(4, 7, 0)
    assert.deepStrictEqual(
      told.map(({ remaining, reset, retryAfter }) => [remaining, reset, retryAfter]),
      [
        [6, 9, 0],
        [5, 18, 0],
        [4, 26, 0],
        [3, 35, 0]
      ]
    )
    const { bucket, told: last } = burst(8, 7, 0)
    // Whoever got the last one is told as well that the next one has to wait.
    assert.deepStrictEqual(
      last
        .slice(-2)
        .map(({ allowed, limit, remaining, reset, retryAfter }) => [allowed, limit, remaining, reset, retryAfter]),
      [
        [true, 7, 0, 60, 9],
        [false, 7, 0, 60, 9]
      ]
    )
    assert.strictEqual(burst(1, 7, 8_000, bucket).passed, 0)
    assert.strictEqual(burst(1, 7, 13_000, bucket).told[0]?.remaining, 0, "half of one is none")
    assert.strictEqual(burst(1, 7, 9_000, bucket).passed, 1)
  })
})
