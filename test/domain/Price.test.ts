import { assert, describe, it } from "@effect/vitest"
import { cappedAt, priceOf } from "#domain/EndpointPrice.ts"
import { priceAt } from "#domain/Price.ts"

const discounts = [
  { threshold: 100, priceMultiplier: 0 },
  { threshold: 10, priceMultiplier: 0.333 },
  { threshold: 50, priceMultiplier: 1e-9 }
]

describe("a price list", () => {
  const price = priceOf(10_000n, discounts)

  it("applies the highest threshold reached, in whatever order they were given", () => {
    const at = (count: bigint) => priceAt(price, count)
    assert.deepStrictEqual([0n, 9n, 10n, 49n, 50n, 99n, 100n, 1_000_000n].map(at), [
      10_000n,
      10_000n,
      3_330n,
      3_330n,
      1n,
      1n,
      0n,
      0n
    ])
  })

  it("multiplies exactly and rounds down", () => {
    const times = (base: bigint, priceMultiplier: number) =>
      priceAt(priceOf(base, [{ threshold: 1, priceMultiplier }]), 1n)
    assert.strictEqual(times(999_999_000_000n, 0.1), 99_999_900_000n)
    assert.strictEqual(times(999_999_999_999n, 0.7), 699_999_999_999n)
    assert.strictEqual(times(101n, 0.99), 99n)
    assert.strictEqual(times(10n, 1), 10n)
    assert.strictEqual(times(1_000_000n, 1.5e-7), 1n)
    assert.strictEqual(times(1_000_000n, 5e-324), 1n)
  })

  it("capped, is nowhere above the cap", () => {
    const capped = cappedAt(price, 5_000n)
    assert.deepStrictEqual([priceAt(capped, 0n), priceAt(capped, 10n), priceAt(capped, 100n)], [5_000n, 3_330n, 0n])
    const lower = cappedAt(price, 2_000n)
    assert.deepStrictEqual([priceAt(lower, 0n), priceAt(lower, 10n), priceAt(lower, 100n)], [2_000n, 2_000n, 0n])
  })
})
