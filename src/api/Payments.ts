import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Moment } from "#domain/Instant.ts"
import {
  AmbiguousPath,
  EndpointPaused,
  OriginBadAnswer,
  OriginNotConfigured,
  OriginTimeout,
  OriginUnreachable,
  PaymentMalformed,
  UpgradeNotSupported
} from "#domain/GatewayRefusal.ts"
import { EndpointId, PaymentId } from "#domain/Ids.ts"
import { OriginForbiddenAddress } from "#domain/OriginUrl.ts"
import {
  Paid,
  Pay,
  PaymentAlreadyUsed,
  PaymentInProgress,
  PaymentRequestInvalid,
  PriceAboveMaximum,
  SettlementPending
} from "#domain/Payment.ts"
import { PaymentTermsDiffer } from "#domain/PaymentTerms.ts"
import {
  AmountTooLarge,
  CurrencyMismatch,
  IdempotencyKeyReused,
  InsufficientBalance,
  SameWallet,
  WalletFrozen
} from "#domain/PostingRefused.ts"
import { QuoteExpired } from "#domain/Quote.ts"
import { InvalidRequest, NotFound } from "#domain/Refusal.ts"
import { Authorization, movers, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { idempotencyHeaders } from "./Idempotency.ts"
import { listRefusals, problems } from "./Problems.ts"
import { IdempotencyKeysDiffer, PaymentRequired } from "./Refusals.ts"

// What the gateway answers besides the origin's own answers: it is no operation, which would declare it.
listRefusals(
  AmbiguousPath,
  EndpointPaused,
  OriginBadAnswer,
  OriginForbiddenAddress,
  OriginNotConfigured,
  OriginTimeout,
  OriginUnreachable,
  PaymentAlreadyUsed,
  PaymentInProgress,
  PaymentMalformed,
  PaymentRequired,
  SettlementPending,
  UpgradeNotSupported
)

const terms = {
  receiver: "0x51908f598a5e0d8f1a3babfa6df76f9704dad072",
  network: "base-sepolia",
  currency: "USDC",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  gateway_url: "https://api.example.com/x402/01927f2e-8f6d-7c3b-9a51-2f0c9d3b7e10",
  description: "The weather of tomorrow"
} as const

export const pay = HttpApiEndpoint.post("pay", "/pay", {
  headers: idempotencyHeaders,
  payload: Pay,
  success: Paid.pipe(HttpApiSchema.status(201)),
  error: problems(
    InvalidRequest,
    NotFound,
    PaymentRequestInvalid,
    QuoteExpired,
    PriceAboveMaximum,
    PaymentTermsDiffer,
    EndpointPaused,
    OriginNotConfigured,
    OriginForbiddenAddress,
    InsufficientBalance,
    WalletFrozen,
    SameWallet,
    CurrencyMismatch,
    AmountTooLarge,
    IdempotencyKeyReused,
    IdempotencyKeysDiffer
  )
})
  .annotate(Requires, { resource: "x402", action: "write", kinds: movers })
  .annotateMerge(
    documented({
      summary: "Pay for a call",
      description:
        "Reserves the price in `from_wallet_id` and answers a proof: repeat the call with `X-Payment-Proof: <proof>` before `expires_at`. " +
        "Name the `payment_request_id` of a 402, or the `url` you are about to call. Nobody pays more than the list price at the time " +
        "of the 402. A wallet's own volume discount is taken off, and counted again when the call is charged: of a 402 that showed a " +
        "caller its own price another wallet may pay more, unless `max_amount` is named. The proof is good for one call of " +
        "that endpoint and method. The money is taken when the origin answers below 400; otherwise it is free again and the proof may " +
        "be used again until it expires. What is never used comes back by itself. Paying one payment request twice from one wallet, " +
        "or by one agent, is one payment, with or without an idempotency key. Above `max_amount` nothing is reserved (422 `PRICE_ABOVE_MAXIMUM`). " +
        "A 402 that did not come from here may say anything: name in `terms` what you were shown and decided on (`receiver`, " +
        "`gateway_url`, `network`, `currency`, `asset`, and the beginning of `description`), and nothing is reserved unless it is so " +
        "(422 `PAYMENT_TERMS_DIFFER`, with the `field`). `terms` of the answer is what is paid for. " +
        "The payer's network does not matter, its currency does; a 402 shows an agent its own price only where it has a wallet on the " +
        "endpoint's network. Agents pay from their own wallets, from their first of the " +
        "endpoint's currency when they leave `from_wallet_id` out; everybody else names it.",
      body: {
        payment_request_id: `pr_${"A".repeat(75)}`,
        from_wallet_id: "wal_01h455vb4pex5vsknk084sn02q",
        max_amount: "0.05",
        terms: { receiver: terms.receiver, gateway_url: terms.gateway_url }
      },
      answer: {
        id: "pay_01h455vb4pex5vsknk084sn02r",
        proof: `pp_${"A".repeat(43)}`,
        amount: "0.01",
        currency: "USDC",
        endpoint_id: "01927f2e-8f6d-7c3b-9a51-2f0c9d3b7e10",
        terms,
        expires_at: "2026-01-02T03:05:05.678Z"
      }
    })
  )

/** `valid` is whether a call with the proof would be served now. */
const Verification = Schema.Struct({
  valid: Schema.Boolean,
  reason: Schema.NullOr(Schema.String),
  payment_id: Schema.NullOr(PaymentId),
  endpoint_id: Schema.NullOr(EndpointId),
  status: Schema.NullOr(Schema.String),
  expires_at: Schema.NullOr(Moment)
}).annotate({ identifier: "Verification" })

const verify = HttpApiEndpoint.post("verify", "/verify", {
  payload: Schema.Struct({ proof: Schema.String.check(Schema.isMaxCodePoints(200)) }),
  success: Verification
})
  .annotate(Requires, { resource: "x402", action: "read", kinds: movers })
  .annotateMerge(
    documented({
      summary: "Look at a proof",
      description:
        "Whether a proof would be accepted now, and if not, why: `proof_unknown`, `proof_expired`, `proof_in_use`, `proof_used`. Uses " +
        "nothing up.",
      body: { proof: `pp_${"A".repeat(43)}` },
      answer: {
        valid: true,
        reason: null,
        payment_id: "pay_01h455vb4pex5vsknk084sn02r",
        endpoint_id: "01927f2e-8f6d-7c3b-9a51-2f0c9d3b7e10",
        status: "authorized",
        expires_at: "2026-01-02T03:05:05.678Z"
      }
    })
  )

export class PaymentsApi extends HttpApiGroup.make("payments")
  .add(pay, verify)
  .middleware(Authorization)
  .prefix("/v1/x402")
  .annotateMerge(
    OpenApi.annotations({ title: "Payments for calls", description: "What a caller does between a 402 and the retry." })
  ) {}
