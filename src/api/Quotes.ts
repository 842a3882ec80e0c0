import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { QuoteId } from "#domain/Ids.ts"
import { AmountTooLarge, IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import { CreateQuote, Quote, QuoteAmountTooSmall } from "#domain/Quote.ts"
import { decimalsOf, QuoteCurrency, RatesNotConfigured, RateUnavailable, sandboxPerDollar } from "#domain/Rate.ts"
import { NotFound } from "#domain/Refusal.ts"
import { Authorization, movers, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { createdOnce, idempotencyHeaders } from "./Idempotency.ts"
import { problem, problems } from "./Problems.ts"
import { IdempotencyKeysDiffer } from "./Refusals.ts"

const quote = {
  id: "qt_01h455vb4pex5vsknk084sn02q",
  from_currency: "USDC",
  to_currency: "EURC",
  rate: "0.91540000",
  mid_rate: "0.92000000",
  spread_basis_points: 50,
  amount_side: "send",
  send_amount: "100.00",
  receive_amount: "91.31115",
  fee: "0.25",
  expires_at: "2026-01-02T03:04:35.678Z",
  expires_in: 30,
  transfer_id: null,
  created_at: "2026-01-02T03:04:05.678Z"
} as const

const table = `| Currency | Decimals | One USD is worth |\n|---|---|---|\n${QuoteCurrency.literals
  .map((currency) => `| ${currency} | ${decimalsOf(currency)} | ${sandboxPerDollar[currency]} |`)
  .join("\n")}`

const create = HttpApiEndpoint.post("create", "/quotes", {
  headers: idempotencyHeaders,
  payload: CreateQuote,
  success: Quote.pipe(HttpApiSchema.status(201)),
  error: problems(
    QuoteAmountTooSmall,
    AmountTooLarge,
    RateUnavailable,
    RatesNotConfigured,
    IdempotencyKeyReused,
    IdempotencyKeysDiffer
  )
})
  .annotate(Requires, { resource: "transfers", action: "write", kinds: movers })
  .annotateMerge(
    documented({
      summary: "Create a quote",
      description:
        "Promises what one amount becomes in another currency, for 30 seconds and one `cross_border` transfer, which takes its " +
        "rate, amounts and fee from the quote. A quote moves and reserves nothing. `amount` is what leaves the payer " +
        "(`amount_side` `send`, the default) or what has to arrive (`receive`): `send_amount` is then the smallest amount of " +
        "which at least that arrives. It has at most the decimals of its currency, which stand in the table below.\n\n" +
        "Everything can be recomputed exactly. `mid_rate` is the market's, `rate` is `mid_rate` less the spread, both with 8 " +
        "decimals and nothing behind them (rounded down). `fee` is in `from_currency` and part of `send_amount`: 0.25 % unless " +
        "the operator says otherwise, rounded up to the currency's last decimal. " +
        "`receive_amount = (send_amount - fee) * rate`, rounded down to the last decimal of `to_currency`. From a currency to " +
        "itself the rate is 1 and there is no spread. `expires_in` counts the seconds from `created_at`.\n\n" +
        "In the sandbox rates never change. `mid_rate` is what one USD is worth in `to_currency` divided by what it is worth in " +
        `\`from_currency\`, and the spread is 0.5 %:\n\n${table}\n\n` +
        "Live rates come from the operator's source. Without recent ones a quote is refused with 503 `RATE_UNAVAILABLE` and " +
        "`Retry-After`; a server without a source answers 422 `RATES_NOT_CONFIGURED`.\n\n" +
        `${createdOnce} That quote may have expired since: who wants another price names another key.`,
      body: { from_currency: "USDC", to_currency: "EURC", amount: "100.00" },
      answer: quote
    })
  )

const get = HttpApiEndpoint.get("get", "/quotes/:id", {
  params: { id: QuoteId },
  success: Quote,
  error: problem(NotFound)
})
  .annotate(Requires, { resource: "transfers", action: "read", kinds: movers })
  .annotateMerge(
    documented({
      summary: "Get a quote",
      description:
        "The quote as it was promised; `transfer_id` is the transfer that was made with it, and null before. A quote that nobody " +
        "used is gone a day after it expired.",
      answer: quote
    })
  )

export class QuotesApi extends HttpApiGroup.make("quotes")
  .add(create, get)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({ title: "Quotes", description: "What an amount is worth in another currency, promised." })
  ) {}
