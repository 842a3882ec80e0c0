import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import fc from "fast-check"
import { QuoteId, TransferId } from "#domain/Ids.ts"
import { maxMicros } from "#domain/Money.ts"
import {
  amountsOf,
  CreateQuote,
  type Quote,
  rateOf,
  receiving,
  redemption,
  sending,
  shownTerms,
  type Terms
} from "#domain/Quote.ts"
import { midRate, quantumOf, QuoteCurrency, rateUnit, sandboxPerDollar } from "#domain/Rate.ts"
import { newUuid } from "#services/NewId.ts"

const currency = fc.constantFrom(...QuoteCurrency.literals)
const basisPoints = fc.integer({ min: 0, max: 5000 })
const terms: fc.Arbitrary<Terms> = fc
  .record({
    from_currency: currency,
    to_currency: currency,
    mid: fc.oneof(fc.bigInt({ min: 200n, max: 10_000n }), fc.bigInt({ min: 200n, max: 10n ** 14n })),
    spread: basisPoints,
    fee: basisPoints
  })
  .map((one) => ({ ...one, mid: one.from_currency === one.to_currency ? rateUnit : one.mid }))
const quanta = fc.oneof(fc.bigInt({ min: 1n, max: 100n }), fc.bigInt({ min: 1n, max: 10n ** 14n }))
const many = { numRuns: 2000 }

const usual = (from_currency: QuoteCurrency, to_currency: QuoteCurrency): Terms => ({
  from_currency,
  to_currency,
  mid: midRate(sandboxPerDollar, from_currency, to_currency) ?? 0n,
  spread: 50,
  fee: 25
})

describe("the fee", () => {
  it("is its share of what is sent, rounded up to the currency's last decimal", () => {
    fc.assert(
      fc.property(terms, quanta, (conversion, count) => {
        const mine = quantumOf(conversion.from_currency)
        const { fee } = sending(conversion, count * mine)
        const share = count * mine * BigInt(conversion.fee)
        assert.strictEqual(fee % mine, 0n)
        assert.isTrue(fee * 10_000n >= share && (fee - mine) * 10_000n < share)
      }),
      many
    )
  })
})

describe("what is received", () => {
  it("is what remains after the fee, at the shown rate, rounded down to the currency's last decimal", () => {
    fc.assert(
      fc.property(terms, quanta, (conversion, count) => {
        const theirs = quantumOf(conversion.to_currency)
        const { fee, receive_amount, send_amount } = sending(conversion, count * quantumOf(conversion.from_currency))
        const rate = BigInt(shownTerms(conversion).rate.replace(".", ""))
        const exact = (send_amount - fee) * rate
        assert.strictEqual(receive_amount % theirs, 0n)
        assert.isTrue(receive_amount * rateUnit <= exact && exact < (receive_amount + theirs) * rateUnit)
      }),
      many
    )
  })

  it("costs the smallest amount of which at least that arrives", () => {
    fc.assert(
      fc.property(terms, quanta, (conversion, count) => {
        const mine = quantumOf(conversion.from_currency)
        const asked = count * quantumOf(conversion.to_currency)
        const amounts = receiving(conversion, asked)
        assert.isTrue(amounts.receive_amount >= asked)
        assert.strictEqual(amounts.send_amount % mine, 0n)
        assert.deepStrictEqual(amounts, sending(conversion, amounts.send_amount))
        assert.isTrue(sending(conversion, amounts.send_amount - mine).receive_amount < asked)
      }),
      many
    )
  })

  it("never grows by going there and back", () => {
    fc.assert(
      fc.property(currency, currency, quanta, basisPoints, basisPoints, (from, to, count, spread, fee) => {
        const start = count * quantumOf(from)
        const there = sending({ ...usual(from, to), spread, fee }, start).receive_amount
        assert.isTrue(sending({ ...usual(to, from), spread, fee }, there).receive_amount <= start)
      }),
      many
    )
  })
})

describe("the amounts of a quote", () => {
  it("are those that the description shows", () => {
    assert.deepStrictEqual(
      amountsOf(usual("USDC", "EURC"), "send", 100_000_000n),
      Result.succeed({
        send_amount: 100_000_000n,
        receive_amount: 91_311_150n,
        fee: 250_000n
      })
    )
  })

  it("come with the rate before and after the spread, and the spread", () => {
    assert.deepStrictEqual(shownTerms(usual("USDC", "EURC")), {
      from_currency: "USDC",
      to_currency: "EURC",
      rate: "0.91540000",
      mid_rate: "0.92000000",
      spread_basis_points: 50
    })
  })

  it("keep their worth within one currency, less the fee", () => {
    const conversion = usual("EURC", "EURC")
    assert.strictEqual(rateOf(conversion), rateUnit)
    assert.deepInclude(shownTerms(conversion), { rate: "1.00000000", mid_rate: "1.00000000", spread_basis_points: 0 })
    assert.deepInclude(sending(conversion, 1_000_000n), { fee: 2_500n, receive_amount: 997_500n })
  })

  it("of which nothing would arrive are refused with the smallest of which something does", () => {
    for (const [from, to, minimum] of [
      ["USDC", "EURC", "0.000003"],
      ["USDC", "USD", "0.010077"],
      ["MXN", "GBP", "0.25"],
      ["USD", "USDC", "0.02"]
    ] as const) {
      const least = BigInt(Math.round(Number(minimum) * 1e6))
      const refused = amountsOf(usual(from, to), "send", least - quantumOf(from))
      assert.isTrue(Result.isFailure(refused), `${from} ${to}`)
      const reason = Result.isFailure(refused) ? refused.failure : undefined
      assert.deepInclude(reason, { _tag: "QUOTE_AMOUNT_TOO_SMALL", minimum, currency: from })
      assert.isTrue(Result.isSuccess(amountsOf(usual(from, to), "send", least)))
    }
  })

  it("fit into the ledger on both sides, or are refused", () => {
    const tooLarge = (one: ReturnType<typeof amountsOf>) =>
      Result.isFailure(one) && one.failure._tag === "AMOUNT_TOO_LARGE"
    const [euros, pesos] = [usual("USDC", "EURC"), usual("USDC", "MXN")]
    assert.isTrue(Result.isSuccess(amountsOf(euros, "send", maxMicros)))
    assert.isTrue(tooLarge(amountsOf(euros, "receive", maxMicros)))
    assert.isTrue(tooLarge(amountsOf(pesos, "send", maxMicros)))
    assert.isTrue(Result.isSuccess(amountsOf(pesos, "receive", maxMicros - (maxMicros % 10_000n))))
    const even = { ...usual("USDC", "USDC"), fee: 0 }
    assert.isTrue(Result.isSuccess(amountsOf(even, "receive", maxMicros)))
    assert.isTrue(tooLarge(amountsOf({ ...euros, mid: 2n * rateUnit, spread: 0, fee: 0 }, "send", maxMicros / 2n + 1n)))
  })
})

describe("a request for a quote", () => {
  const read = Schema.decodeUnknownResult(CreateQuote)
  const asked = (from_currency: QuoteCurrency, to_currency: QuoteCurrency, amount: string, amount_side?: string) => {
    const body = { from_currency, to_currency, amount, ...(amount_side !== undefined && { amount_side }) }
    const request = read(body)
    return Result.isSuccess(request) ? "read" : String(request.failure)
  }

  it("has no more decimals than the currency that its amount is in", () => {
    for (const [from, to, side] of [
      ["USD", "USDC", undefined],
      ["USD", "USDC", "send"],
      ["USDC", "USD", "receive"]
    ] as const) {
      assert.strictEqual(asked(from, to, "0.01", side), "read")
      const refused = asked(from, to, "0.011", side)
      assert.include(refused, "must have at most 2 decimals in this currency")
      assert.include(refused, '["amount"]')
    }
    assert.strictEqual(asked("USDC", "USD", "0.000001"), "read")
    assert.strictEqual(asked("USD", "USDC", "0.000001", "receive"), "read")
  })
})

describe("a quote", () => {
  const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1000)
  const quote: Quote = {
    ...shownTerms(usual("USDC", "EURC")),
    ...sending(usual("USDC", "EURC"), 1_000_000n),
    id: QuoteId.make(newUuid()),
    amount_side: "send",
    expires_at: at(30),
    expires_in: 30,
    transfer_id: null,
    created_at: at(0)
  }
  const used = { ...quote, transfer_id: TransferId.make(newUuid()) }
  const said = (one: ReturnType<typeof redemption>) => (Result.isFailure(one) ? one.failure._tag : "good")

  it("is good until it ends, and not at its end", () => {
    assert.strictEqual(said(redemption(quote, at(29.999))), "good")
    assert.strictEqual(said(redemption(quote, at(30))), "QUOTE_EXPIRED")
  })

  it("that was used is used for ever", () => {
    assert.strictEqual(said(redemption(used, at(1))), "QUOTE_ALREADY_USED")
    assert.strictEqual(said(redemption(used, at(31))), "QUOTE_ALREADY_USED")
  })
})
