import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { QuoteId, TransferId } from "#domain/Ids.ts"
import type { CreateQuote } from "#domain/Quote.ts"
import { RateUnavailable } from "#domain/Rate.ts"
import * as RateSources from "#layers/RateSource.ts"
import { Ledger } from "#services/Ledger.ts"
import { newId, newUuid } from "#services/NewId.ts"
import { Quotes } from "#services/Quotes.ts"
import { QuotePolicy } from "#services/Quotes/Policy.ts"
import { useQuote } from "#services/Quotes/Records.ts"
import { RateSource } from "#services/RateSource.ts"
import { platform, quotesAt } from "./QuotesHarness.ts"
import { tenant } from "./WalletsHarness.ts"

const dollars: CreateQuote = { from_currency: "USDC", to_currency: "EURC", amount: 100_000_000n }

/** Makes an empty transfer with a quote, as those who move money do. */
const use = Effect.fnUntraced(function* (id: QuoteId) {
  const ledger = yield* Ledger
  const transfer_id = yield* newId(TransferId)
  return yield* ledger
    .post({
      id: newUuid(),
      steps: [],
      fences: [{ scope: id, expected: 0n }],
      rows: ({ at }) => [useQuote.of({ id, transfer_id, used_at: at })]
    })
    .pipe(Effect.as(transfer_id))
})

layer(platform)("a quote", (it) => {
  it.effect("promises what is sent, what arrives, the rate and the fee for 30 seconds", () =>
    Effect.gen(function* () {
      const quotes = yield* Quotes
      const caller = yield* tenant()
      const now = yield* DateTime.now
      const quote = yield* quotes.create(caller, dollars)
      assert.deepStrictEqual(quote, {
        id: quote.id,
        from_currency: "USDC",
        to_currency: "EURC",
        rate: "0.91540000",
        mid_rate: "0.92000000",
        spread_basis_points: 50,
        amount_side: "send",
        send_amount: 100_000_000n,
        receive_amount: 91_311_150n,
        fee: 250_000n,
        expires_at: DateTime.toDate(DateTime.add(now, { seconds: 30 })),
        expires_in: 30,
        transfer_id: null,
        created_at: DateTime.toDate(now)
      })
      assert.deepStrictEqual(yield* quotes.get(caller, quote.id), quote)
      assert.deepStrictEqual(yield* quotes.redeemable(caller, quote.id), quote)
    })
  )

  it.effect("for what has to arrive promises what that costs", () =>
    Effect.gen(function* () {
      const caller = yield* tenant()
      const quote = yield* (yield* Quotes).create(caller, {
        from_currency: "EURC",
        to_currency: "MXN",
        amount: 10_000_000_000n,
        amount_side: "receive"
      })
      // 18.5 / 0.92 = 20.10869565, less 0.5 % = 20.00815217; 10,000 / that = 499.796279 (rounded up), and the fee on top.
      assert.deepInclude(quote, {
        amount_side: "receive",
        rate: "20.00815217",
        mid_rate: "20.10869565",
        send_amount: 501_048_902n,
        fee: 1_252_623n,
        receive_amount: 10_000_000_000n
      })
    })
  )

  it.effect("can be used after 29.9 seconds and not after 30.1", () =>
    Effect.gen(function* () {
      const quotes = yield* Quotes
      const caller = yield* tenant()
      const { id } = yield* quotes.create(caller, dollars)
      yield* TestClock.adjust("29.9 seconds")
      assert.strictEqual((yield* quotes.redeemable(caller, id)).expires_in, 30)
      yield* TestClock.adjust("0.2 seconds")
      const expired = yield* Effect.flip(quotes.redeemable(caller, id))
      assert.strictEqual(expired._tag, "QUOTE_EXPIRED")
      assert.strictEqual((yield* quotes.get(caller, id)).id, id)
    })
  )

  it.effect("of another tenant is as unknown as one of nobody", () =>
    Effect.gen(function* () {
      const quotes = yield* Quotes
      const { id } = yield* quotes.create(yield* tenant(), dollars)
      const stranger = yield* tenant()
      for (const unknown of [id, QuoteId.make(newUuid())]) {
        for (const ask of [quotes.get(stranger, unknown), quotes.redeemable(stranger, unknown)]) {
          assert.deepInclude(yield* Effect.flip(ask), { _tag: "NOT_FOUND", resource: "quote" })
        }
      }
    })
  )

  it.effect("is used by one of many transfers, and then by none", () =>
    Effect.gen(function* () {
      const quotes = yield* Quotes
      const caller = yield* tenant()
      const { id } = yield* quotes.create(caller, dollars)
      const attempts = yield* Effect.forEach(Array.from({ length: 50 }), () => Effect.exit(use(id)), {
        concurrency: 50
      })
      const made = attempts.filter(Exit.isSuccess)
      assert.strictEqual(made.length, 1)
      const used = yield* quotes.get(caller, id)
      assert.strictEqual(used.transfer_id, made[0]?.value)
      assert.strictEqual((yield* Effect.flip(quotes.redeemable(caller, id)))._tag, "QUOTE_ALREADY_USED")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Effect.flip(quotes.redeemable(caller, id)))._tag, "QUOTE_ALREADY_USED")
    })
  )

  it.effect("of which nothing would arrive is refused, and nothing is kept", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const caller = yield* tenant()
      const refused = yield* Effect.flip((yield* Quotes).create(caller, { ...dollars, amount: 2n }))
      assert.deepInclude(refused, { _tag: "QUOTE_AMOUNT_TOO_SMALL", minimum: "0.000003", currency: "USDC" })
      assert.deepStrictEqual(yield* sql`SELECT id FROM quotes WHERE tenant_id = ${caller.tenant_id}`, [])
    })
  )

  it.effect("of the largest amount there is keeps every digit", () =>
    Effect.gen(function* () {
      const quotes = yield* Quotes
      const caller = yield* tenant()
      const quote = yield* quotes.create(caller, {
        from_currency: "EURC",
        to_currency: "EURC",
        amount: 9_223_372_036_854_775_807n
      })
      assert.strictEqual(quote.send_amount - quote.fee, quote.receive_amount)
      assert.deepStrictEqual(yield* quotes.get(caller, quote.id), quote)
    })
  )
})

layer(platform)("quotes nobody used", (it) => {
  it.effect("are forgotten a day after they ended, and used ones never", () =>
    Effect.gen(function* () {
      const quotes = yield* Quotes
      const caller = yield* tenant()
      const used = yield* quotes.create(caller, dollars)
      const unused = yield* quotes.create(caller, dollars)
      yield* use(used.id)
      yield* TestClock.adjust(Duration.sum(Duration.hours(24), Duration.seconds(30)))
      assert.strictEqual(yield* quotes.forgetExpired, 0)
      yield* TestClock.adjust("1 milli")
      assert.strictEqual(yield* quotes.forgetExpired, 1)
      assert.strictEqual((yield* Effect.flip(quotes.get(caller, unused.id)))._tag, "NOT_FOUND")
      assert.isNotNull((yield* quotes.get(caller, used.id)).transfer_id)
    })
  )

  it.effect("are forgotten 5,000 at a time, those first that ended first", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const quotes = yield* Quotes
      const { id } = yield* quotes.create(yield* tenant(), dollars)
      yield* sql`INSERT INTO quotes SELECT gen_random_uuid(), tenant_id, from_currency, to_currency, rate, mid_rate,
          spread_basis_points, amount_side, send_amount, receive_amount, fee, expires_at - interval '1 second', NULL, NULL, created_at
        FROM quotes, generate_series(1, 5000) WHERE id = ${id}`
      yield* TestClock.adjust("25 hours")
      assert.strictEqual(yield* quotes.forgetExpired, 5000)
      assert.deepStrictEqual(yield* sql`SELECT id FROM quotes WHERE transfer_id IS NULL`, [{ id }])
      assert.strictEqual(yield* quotes.forgetExpired, 1)
      assert.strictEqual(yield* quotes.forgetExpired, 0)
    })
  )
})

describe("quotes", () => {
  it.effect("cost what the policy says", () =>
    Effect.gen(function* () {
      const quotes = yield* Quotes
      const quote = yield* quotes.create(yield* tenant(), dollars)
      assert.deepInclude(quote, { fee: 1_000_000n, rate: "0.92000000", spread_basis_points: 0, expires_in: 5 })
    }).pipe(
      Effect.provide(
        platform.pipe(
          Layer.provide(
            Layer.succeed(QuotePolicy, {
              ...QuotePolicy.defaultValue(),
              feeBasisPoints: 100,
              spreadBasisPoints: 0,
              timeToLive: Duration.seconds(5)
            })
          )
        )
      )
    )
  )

  it.effect("without a rate are refused, and one within a currency needs none", () =>
    Effect.gen(function* () {
      const quotes = yield* Quotes
      const caller = yield* tenant("live")
      assert.strictEqual((yield* Effect.flip(quotes.create(caller, dollars)))._tag, "RATES_NOT_CONFIGURED")
      assert.strictEqual((yield* quotes.create(caller, { ...dollars, to_currency: "USDC" })).rate, "1.00000000")
    }).pipe(Effect.provide(quotesAt(RateSources.none)))
  )

  it.effect("are refused while rates are away", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip((yield* Quotes).create(yield* tenant("live"), dollars))
      assert.deepInclude(refused, { _tag: "RATE_UNAVAILABLE", retry_after: 5 })
    }).pipe(
      Effect.provide(
        quotesAt(
          Layer.succeed(RateSource, {
            mid: (from_currency, to_currency) =>
              Effect.fail(new RateUnavailable({ from_currency, to_currency, retry_after: 5 }))
          })
        )
      )
    )
  )
})
