import { Schema } from "effect"
import { StoredPrice } from "./EndpointPrice.ts"
import { EndpointId, PaymentId, TenantId, WalletId } from "./Ids.ts"
import { Amount, Currency, Micros } from "./Money.ts"
import { Network } from "./Network.ts"
import { IdempotencyKey } from "./Text.ts"

/**
 * `authorized`: paid for, not used. `in_flight`: a call uses it. `released`: the call failed and the money is free; the proof may
 * be used again until it expires. `captured`: used and charged. `expired`: never used.
 */
export const PaymentState = Schema.Literals(["authorized", "in_flight", "captured", "released", "expired"])
export type PaymentState = typeof PaymentState.Type

/** One paid call. `amount` is what was reserved at most, `charged` what was taken. */
export const Payment = Schema.Struct({
  id: PaymentId,
  endpoint_id: EndpointId,
  status: PaymentState,
  payer_wallet_id: WalletId,
  payee_wallet_id: WalletId,
  amount: Micros,
  charged: Schema.NullOr(Micros),
  currency: Currency,
  network: Network,
  method: Schema.String,
  origin_status: Schema.NullOr(Schema.Int),
  failure: Schema.NullOr(Schema.String),
  created_at: Schema.DateFromString,
  completed_at: Schema.NullOr(Schema.DateFromString)
}).annotate({ identifier: "Payment" })
export type Payment = typeof Payment.Type

/** The whole row of a payment, as the services that move it read it. */
export const PaymentRow = Schema.Struct({
  id: Schema.String,
  tenant_id: TenantId,
  endpoint_id: Schema.String,
  payer_tenant_id: Schema.String,
  payer_wallet_id: Schema.String,
  payee_wallet_id: Schema.String,
  method: Schema.String,
  currency: Currency,
  network: Network,
  price: StoredPrice,
  amount: Schema.BigInt,
  charged: Schema.NullOr(Schema.BigInt),
  state: PaymentState,
  hold_id: Schema.NullOr(Schema.String),
  attempt: Schema.Int,
  lease_until: Schema.NullOr(Schema.Date),
  proof_expires_at: Schema.Date,
  origin_status: Schema.NullOr(Schema.Int),
  failure: Schema.NullOr(Schema.String),
  request_fingerprint: Schema.NullOr(Schema.String),
  delivered_at: Schema.NullOr(Schema.Date),
  created_at: Schema.Date,
  completed_at: Schema.NullOr(Schema.Date)
})
export type PaymentRow = typeof PaymentRow.Type

/** What a caller pays for: the request that a 402 named, or the address of an endpoint. */
export const Pay = Schema.Struct({
  payment_request_id: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(200))),
  url: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(4096))),
  from_wallet_id: WalletId,
  max_amount: Schema.optionalKey(Amount),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
})
  .check(
    Schema.makeFilter(
      ({ payment_request_id, url }) =>
        (payment_request_id === undefined) !== (url === undefined) ||
        "name a payment_request_id or a url, one of the two"
    )
  )
  .annotate({ identifier: "Pay" })
export type Pay = typeof Pay.Type

/** The money is reserved; `proof` goes into `X-Payment-Proof` of the call, until `expires_at`. */
export const Paid = Schema.Struct({
  id: PaymentId,
  proof: Schema.String,
  amount: Micros,
  currency: Currency,
  endpoint_id: EndpointId,
  expires_at: Schema.DateFromString
}).annotate({ identifier: "Paid" })
export type Paid = typeof Paid.Type

export class PaymentRequestInvalid extends Schema.TaggedError<PaymentRequestInvalid>()(
  "PAYMENT_REQUEST_INVALID",
  { reason: Schema.Literals(["unknown_payment_request", "not_a_gateway_url", "method_changed"]) },
  { httpApiStatus: 422, title: "There is nothing to pay for under this payment request or address" }
) {}

export class QuoteExpired extends Schema.TaggedError<QuoteExpired>()(
  "QUOTE_EXPIRED",
  { expired_at: Schema.String },
  { httpApiStatus: 422, title: "The price is no longer valid: ask for a new one" }
) {}

/** The call costs more than the payer said it may. */
export class PriceAboveMaximum extends Schema.TaggedError<PriceAboveMaximum>()(
  "PRICE_ABOVE_MAXIMUM",
  { required: Schema.String, maximum: Schema.String, currency: Schema.String },
  { httpApiStatus: 422, title: "The price is above max_amount" }
) {}

/** Why a proof pays for nothing here; the words of `error` in a 402. */
export type ProofRefusal =
  | "payment_required"
  | "proof_unknown"
  | "proof_for_another_endpoint"
  | "proof_for_another_method"
  | "proof_expired"
  | "payment_header_not_supported"
  | "insufficient_balance"
  | "wallet_frozen"

/** What a call with this payment may do now. Pure; `now` decides about expiry. */
export type Standing =
  | { readonly _tag: "Usable" }
  | { readonly _tag: "Reusable" }
  | { readonly _tag: "Refused"; readonly reason: ProofRefusal }
  | { readonly _tag: "InProgress"; readonly retryAfterMillis: number }
  | { readonly _tag: "Used" }
  /** Charged, and nobody saw the answer arrive: the stored answer may be given to the same request. */
  | { readonly _tag: "Undelivered" }

/** `Used` and `InProgress` come before expiry: money that moved is never asked for again. */
export const standing = (
  payment: PaymentRow | undefined,
  call: { readonly endpoint: string; readonly method: string; readonly fingerprint: string },
  now: Date
): Standing => {
  if (payment === undefined) return { _tag: "Refused", reason: "proof_unknown" }
  if (payment.endpoint_id !== call.endpoint) return { _tag: "Refused", reason: "proof_for_another_endpoint" }
  if (payment.method !== "ANY" && payment.method !== call.method) {
    return { _tag: "Refused", reason: "proof_for_another_method" }
  }
  const leased = Math.max(0, (payment.lease_until?.getTime() ?? 0) - now.getTime())
  switch (payment.state) {
    case "captured":
      if (payment.delivered_at !== null || payment.request_fingerprint !== call.fingerprint) return { _tag: "Used" }
      return leased > 0 ? { _tag: "InProgress", retryAfterMillis: leased } : { _tag: "Undelivered" }
    case "in_flight":
      return { _tag: "InProgress", retryAfterMillis: leased }
    case "expired":
      return { _tag: "Refused", reason: "proof_expired" }
    case "authorized":
    case "released":
      if (payment.proof_expires_at <= now) return { _tag: "Refused", reason: "proof_expired" }
      return { _tag: payment.state === "authorized" || payment.amount === 0n ? "Usable" : "Reusable" }
  }
}

/** Whether an answer of the origin with this status is charged. */
export const isCharged = (chargeOn: "success" | "response", status: number): boolean =>
  chargeOn === "response" || status < 400

/** Another call uses this payment at this moment. */
export class PaymentInProgress extends Schema.TaggedError<PaymentInProgress>()(
  "PAYMENT_IN_PROGRESS",
  { payment_id: Schema.String, retry_after: Schema.Int },
  { httpApiStatus: 409, title: "Another call is using this payment" }
) {}

/** The payment was used and charged; nothing more is taken, and the call is not made again. */
export class PaymentAlreadyUsed extends Schema.TaggedError<PaymentAlreadyUsed>()(
  "PAYMENT_ALREADY_USED",
  {
    payment_id: Schema.String,
    charged: Schema.String,
    currency: Schema.String,
    origin_status: Schema.NullOr(Schema.Int)
  },
  { httpApiStatus: 409, title: "This payment was used" }
) {}
