import { Result, Schema } from "effect"
import { Moment } from "./Instant.ts"
import { QuoteId, toTypeId, TransferId } from "./Ids.ts"
import { Amount, formatDecimal, maxMicros, Micros } from "./Money.ts"
import { AmountTooLarge } from "./PostingRefused.ts"
import { IdempotencyKey } from "./Text.ts"
import { afterSpread, decimalsOf, formatRate, QuoteCurrency, quantumOf, rateUnit, wholeBasisPoints } from "./Rate.ts"

export { QuoteCurrency } from "./Rate.ts"

/** Which amount was asked for: what leaves the payer, or what reaches the payee. */
export const AmountSide = Schema.Literals(["send", "receive"])
export type AmountSide = typeof AmountSide.Type

/**
 * A promise to convert: the payer sends `send_amount`, of which `fee` stays with the platform, and the payee gets
 * `receive_amount`. Good for one transfer until `expires_at`; `expires_in` is how many seconds that was when it was made.
 */
export const Quote = Schema.Struct({
  id: QuoteId,
  from_currency: QuoteCurrency,
  to_currency: QuoteCurrency,
  rate: Schema.String,
  mid_rate: Schema.String,
  spread_basis_points: Schema.Int,
  amount_side: AmountSide,
  send_amount: Micros,
  receive_amount: Micros,
  fee: Micros,
  expires_at: Moment,
  expires_in: Schema.Int,
  transfer_id: Schema.NullOr(TransferId),
  created_at: Moment
}).annotate({ identifier: "Quote" })
export type Quote = typeof Quote.Type

/** What an amount is refused with that has more decimals than its currency. */
export const tooManyDecimals = (currency: QuoteCurrency): string =>
  `must have at most ${decimalsOf(currency)} decimals in this currency`

/** What a quote is asked for. `amount` is in `from_currency`, or in `to_currency` when it is what has to be received. */
export const CreateQuote = Schema.Struct({
  from_currency: QuoteCurrency,
  to_currency: QuoteCurrency,
  amount: Amount,
  amount_side: Schema.optionalKey(AmountSide),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
})
  .check(
    Schema.makeFilter(({ amount, amount_side, from_currency, to_currency }) => {
      const currency = amount_side === "receive" ? to_currency : from_currency
      return amount % quantumOf(currency) === 0n ? undefined : { path: ["amount"], issue: tooManyDecimals(currency) }
    })
  )
  .annotate({ identifier: "CreateQuote" })
export type CreateQuote = typeof CreateQuote.Type

/** What is meant by what a request for a quote leaves out. */
export const quoteDefaults = { amount_side: "send" } as const satisfies Required<
  Omit<CreateQuote, "from_currency" | "to_currency" | "amount" | "idempotency_key">
>

export class QuoteExpired extends Schema.TaggedError<QuoteExpired>()(
  "QUOTE_EXPIRED",
  { expired_at: Schema.String },
  { httpApiStatus: 422, title: "The price is no longer valid: ask for a new one" }
) {}

export class QuoteAlreadyUsed extends Schema.TaggedError<QuoteAlreadyUsed>()(
  "QUOTE_ALREADY_USED",
  { quote_id: Schema.String, transfer_id: Schema.String },
  { httpApiStatus: 422, title: "A transfer was made with this quote: ask for a new one" }
) {}

/** After the fee and at this rate nothing would arrive. */
export class QuoteAmountTooSmall extends Schema.TaggedError<QuoteAmountTooSmall>()(
  "QUOTE_AMOUNT_TOO_SMALL",
  { minimum: Schema.String, currency: QuoteCurrency },
  { httpApiStatus: 422, title: "After the fee, nothing of this amount would arrive" }
) {}

/** What a conversion costs. `mid` is in parts of `rateUnit`; spread and fee are basis points below 10,000. */
export interface Terms {
  readonly from_currency: QuoteCurrency
  readonly to_currency: QuoteCurrency
  readonly mid: bigint
  readonly spread: number
  readonly fee: number
}

/** Both sides of a conversion and the platform's part of what is sent, in micro-units. */
export type Amounts = Pick<Quote, "send_amount" | "receive_amount" | "fee">

const ceilDivide = (value: bigint, divisor: bigint) => (value + divisor - 1n) / divisor

/** The rate a payer gets. Money that only changes networks keeps its worth. */
export const rateOf = ({ from_currency, mid, spread, to_currency }: Terms): bigint =>
  from_currency === to_currency ? rateUnit : afterSpread(mid, spread)

/** What arrives when this is sent: the fee is rounded up, and what remains of it at the rate is rounded down. */
export const sending = (terms: Terms, send_amount: bigint): Amounts => {
  const mine = quantumOf(terms.from_currency)
  const theirs = quantumOf(terms.to_currency)
  const fee = ceilDivide((send_amount / mine) * BigInt(terms.fee), wholeBasisPoints) * mine
  const receive_amount = (((send_amount - fee) * rateOf(terms)) / rateUnit / theirs) * theirs
  return { send_amount, receive_amount, fee }
}

/** The smallest amount that has to be sent for this to arrive: both roundings of `sending`, taken back. */
export const receiving = (terms: Terms, receive_amount: bigint): Amounts => {
  const mine = quantumOf(terms.from_currency)
  const net = ceilDivide(receive_amount * rateUnit, rateOf(terms) * mine)
  return sending(terms, ceilDivide(net * wholeBasisPoints, wholeBasisPoints - BigInt(terms.fee)) * mine)
}

/** The amounts of a quote. */
export const amountsOf = (
  terms: Terms,
  side: AmountSide,
  amount: bigint
): Result.Result<Amounts, QuoteAmountTooSmall | AmountTooLarge> => {
  const amounts = side === "send" ? sending(terms, amount) : receiving(terms, amount)
  if (amounts.receive_amount === 0n) {
    const minimum = formatDecimal(receiving(terms, quantumOf(terms.to_currency)).send_amount)
    return Result.fail(new QuoteAmountTooSmall({ minimum, currency: terms.from_currency }))
  }
  if (amounts.send_amount > maxMicros || amounts.receive_amount > maxMicros) {
    return Result.fail(new AmountTooLarge({ maximum: formatDecimal(maxMicros) }))
  }
  return Result.succeed(amounts)
}

/** What a quote says of its price, beside the amounts. */
export const shownTerms = (terms: Terms) => ({
  from_currency: terms.from_currency,
  to_currency: terms.to_currency,
  rate: formatRate(rateOf(terms)),
  mid_rate: formatRate(terms.mid),
  spread_basis_points: terms.from_currency === terms.to_currency ? 0 : terms.spread
})

/** Whether a transfer may be made with the quote; that it was used comes before that it has ended. */
export const redemption = (quote: Quote, now: Date): Result.Result<Quote, QuoteAlreadyUsed | QuoteExpired> => {
  if (quote.transfer_id !== null) {
    const transfer_id = toTypeId("tx", quote.transfer_id)
    return Result.fail(new QuoteAlreadyUsed({ quote_id: toTypeId("qt", quote.id), transfer_id }))
  }
  if (quote.expires_at <= now) return Result.fail(new QuoteExpired({ expired_at: quote.expires_at.toISOString() }))
  return Result.succeed(quote)
}
