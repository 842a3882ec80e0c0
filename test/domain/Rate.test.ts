import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import {
  afterSpread,
  formatRate,
  midRate,
  parsePerDollar,
  quantumOf,
  QuoteCurrency,
  rateUnit,
  sandboxPerDollar
} from "#domain/Rate.ts"

const currency = fc.constantFrom(...QuoteCurrency.literals)
/** What a dollar may be worth, as text: 0.001 to 1000 with up to 18 decimals. */
const worth = fc
  .tuple(fc.bigInt({ min: 10n ** 15n, max: 10n ** 21n }), fc.integer({ min: 0, max: 15 }))
  .map(([value, zeros]) => {
    const parts = value - (value % 10n ** BigInt(zeros))
    return `${parts / 10n ** 18n}.${(parts % 10n ** 18n).toString().padStart(18, "0")}`
  })

describe("what a dollar is worth", () => {
  it("is read exactly", () => {
    assert.strictEqual(parsePerDollar("0.92"), 920_000_000_000_000_000n)
    assert.strictEqual(parsePerDollar("1"), 10n ** 18n)
    assert.strictEqual(parsePerDollar("18.500000000000000001"), 18_500_000_000_000_000_001n)
    assert.strictEqual(parsePerDollar("0.001"), 10n ** 15n)
    assert.strictEqual(parsePerDollar("1000"), 10n ** 21n)
  })

  for (const text of [
    ...["", "0", "0.0", "-1", "+1", "1e3", "0.92 ", ".92", "1.", "01", "NaN", "Infinity", "١", "0x1", "1,5", "null"],
    ...["0.0009", "1000.000000000000000001", "9999999999999", "0.1234567890123456789"]
  ]) {
    it(`is not "${text}"`, () => assert.isUndefined(parsePerDollar(text)))
  }
})

describe("a mid rate", () => {
  it("of the sandbox is what the table says, to 8 decimals rounded down", () => {
    const shown = (from: QuoteCurrency, to: QuoteCurrency) => formatRate(midRate(sandboxPerDollar, from, to) ?? 0n)
    assert.strictEqual(shown("USDC", "EURC"), "0.92000000")
    assert.strictEqual(shown("EURC", "USDC"), "1.08695652")
    assert.strictEqual(shown("USD", "USDC"), "1.00000000")
    assert.strictEqual(shown("BRL", "MXN"), "3.42592592")
    assert.strictEqual(shown("MXN", "GBP"), "0.04270270")
    for (const one of QuoteCurrency.literals) assert.strictEqual(shown(one, one), "1.00000000")
  })

  it("is the exact quotient less a part of its last decimal", () => {
    fc.assert(
      fc.property(worth, worth, (mine, theirs) => {
        const rate = midRate({ USDC: mine, MXN: theirs }, "USDC", "MXN")
        assert.isDefined(rate)
        const [from = 0n, to = 0n] = [parsePerDollar(mine), parsePerDollar(theirs)]
        assert.isTrue(rate * from <= to * rateUnit && to * rateUnit < (rate + 1n) * from)
        assert.isTrue(rate >= 100n, "and never too small to promise anything by")
      })
    )
  })

  it("is unknown without both values", () => {
    assert.isUndefined(midRate({ EUR: "0.92" }, "USD", "EUR"))
    assert.isUndefined(midRate({ USD: "1", EUR: "0" }, "USD", "EUR"))
    assert.isUndefined(midRate({}, "USD", "EUR"))
  })
})

describe("a spread", () => {
  it("takes its basis points off, and rounds what is left down", () => {
    assert.strictEqual(formatRate(afterSpread(rateUnit, 50)), "0.99500000")
    assert.strictEqual(formatRate(afterSpread(108_695_652n, 50)), "1.08152173")
    assert.strictEqual(afterSpread(108_695_652n, 0), 108_695_652n)
  })
})

it("a currency's smallest amount is a micro-unit on a chain and a cent elsewhere", () => {
  fc.assert(
    fc.property(currency, (one) => {
      assert.strictEqual(quantumOf(one), one.length === 4 ? 1n : 10_000n)
    })
  )
})
