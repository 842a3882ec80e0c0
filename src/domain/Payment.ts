import { Schema } from "effect"
import { Moment } from "./Instant.ts"
import { EndpointScheme } from "./Endpoint.ts"
import { StoredPrice } from "./EndpointPrice.ts"
import { EndpointId, PaymentId, TenantId, WalletId } from "./Ids.ts"
import { Amount, Currency, Micros } from "./Money.ts"
import { Network } from "./Network.ts"
import { paymentFailuresInWords } from "./PaymentFailure.ts"
import { ExpectedTerms, PaymentTerms } from "./PaymentTerms.ts"
import { sandboxTransaction } from "./SandboxTransaction.ts"
import { IdempotencyKey } from "./Text.ts"

/**
 * `authorized`: paid for, not used. `in_flight`: a call uses it. `settling`: used, and the chain has not decided yet. `released`: the
 * call failed and the money is free; the proof may be used again until it expires. `captured`: used and charged. `expired`: never
 * used.
 */
export const PaymentState = Schema.Literals(["authorized", "in_flight", "settling", "captured", "released", "expired"])
export type PaymentState = typeof PaymentState.Type

/** How the payer showed that it pays: a proof of ours, or what it signed for a protocol. */
export const PaymentProtocol = Schema.Literals(["native", "x402v2", "x402v1", "mpp"])
export type PaymentProtocol = typeof PaymentProtocol.Type

/** Where the payer's money is: in a wallet of this ledger, or on the chain itself. */
export const PaymentRail = Schema.Literals(["ledger", "chain"])
export type PaymentRail = typeof PaymentRail.Type

/**
 * One paid call. `amount` is what was reserved at most, `charged` what was taken. A payer on the chain has an address and no wallet;
 * `transaction` is where the chain shows the payment. `origin_ms` is how long the origin took to answer.
 */
export const Payment = Schema.Struct({
  id: PaymentId,
  endpoint_id: EndpointId,
  status: PaymentState,
  protocol: PaymentProtocol,
  payer_wallet_id: Schema.NullOr(WalletId),
  payer_address: Schema.NullOr(Schema.String),
  payee_wallet_id: WalletId,
  amount: Micros,
  charged: Schema.NullOr(Micros),
  currency: Currency,
  network: Network,
  method: Schema.String,
  origin_status: Schema.NullOr(Schema.Int),
  origin_ms: Schema.NullOr(Schema.Int),
  transaction: Schema.NullOr(Schema.String),
  failure: Schema.NullOr(Schema.String).annotate({
    description: `Why the money of the last call was given back, null unless it was: ${paymentFailuresInWords}`
  }),
  created_at: Moment,
  completed_at: Schema.NullOr(Moment)
}).annotate({ identifier: "Payment" })
export type Payment = typeof Payment.Type

/**
 * The whole row of a payment, as the services that move it read it. `payer_id` is the payer's wallet, or on the chain an id made of
 * its address. `reservation` is what a signed authorisation reserves under, and `scheme` that of the signature; a proof of ours has
 * neither.
 */
export const PaymentRow = Schema.Struct({
  id: Schema.String,
  tenant_id: TenantId,
  endpoint_id: Schema.String,
  protocol: PaymentProtocol,
  rail: PaymentRail,
  reservation: Schema.NullOr(Schema.String),
  payer_id: Schema.String,
  payer_address: Schema.NullOr(Schema.String),
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
  origin_ms: Schema.NullOr(Schema.Int),
  transaction: Schema.NullOr(Schema.String),
  failure: Schema.NullOr(Schema.String),
  request_fingerprint: Schema.NullOr(Schema.String),
  delivered_at: Schema.NullOr(Schema.Date),
  created_at: Schema.Date,
  completed_at: Schema.NullOr(Schema.Date),
  scheme: Schema.NullOr(EndpointScheme)
})
export type PaymentRow = typeof PaymentRow.Type

/** Where the chain shows a charged payment; null for payments that have nothing to do with one. */
export const transactionOf = ({ id, network, protocol, rail, transaction }: PaymentRow): string | null =>
  protocol === "native" || rail === "chain" ? transaction : sandboxTransaction(network, id)

/** The payment as it is shown. */
export const recordOf = (row: PaymentRow): Payment => ({
  id: PaymentId.make(row.id),
  endpoint_id: EndpointId.make(row.endpoint_id),
  status: row.state,
  protocol: row.protocol,
  payer_wallet_id: row.rail === "chain" ? null : WalletId.make(row.payer_id),
  payer_address: row.payer_address,
  payee_wallet_id: WalletId.make(row.payee_wallet_id),
  amount: row.amount,
  charged: row.charged,
  currency: row.currency,
  network: row.network,
  method: row.method,
  origin_status: row.origin_status,
  origin_ms: row.origin_ms,
  transaction: row.state === "captured" ? transactionOf(row) : row.transaction,
  failure: row.failure,
  created_at: row.created_at,
  completed_at: row.completed_at
})

/** What a caller pays for: the request that a 402 named, or the address of an endpoint. Nothing is paid unless its `terms` are so. */
export const Pay = Schema.Struct({
  payment_request_id: Schema.optionalKey(Schema.String.check(Schema.isMaxCodePoints(200))),
  url: Schema.optionalKey(Schema.String.check(Schema.isMaxCodePoints(4096))),
  from_wallet_id: Schema.optionalKey(WalletId),
  max_amount: Schema.optionalKey(Amount),
  terms: Schema.optionalKey(ExpectedTerms),
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
  terms: PaymentTerms,
  expires_at: Moment
}).annotate({ identifier: "Paid" })
export type Paid = typeof Paid.Type

export class PaymentRequestInvalid extends Schema.TaggedError<PaymentRequestInvalid>()(
  "PAYMENT_REQUEST_INVALID",
  { reason: Schema.Literals(["unknown_payment_request", "not_a_gateway_url", "method_changed"]) },
  { httpApiStatus: 422, title: "There is nothing to pay for under this payment request or address" }
) {}

/** The call costs more than the payer said it may. */
export class PriceAboveMaximum extends Schema.TaggedError<PriceAboveMaximum>()(
  "PRICE_ABOVE_MAXIMUM",
  { required: Schema.String, maximum: Schema.String, currency: Schema.String },
  { httpApiStatus: 422, title: "The price is above max_amount" }
) {}

/** Why a proof pays for nothing here; the words of `error` in a 402. Reasons of x402 are the published ones. */
export type ProofRefusal =
  | "payment_required"
  | "proof_unknown"
  | "proof_for_another_endpoint"
  | "proof_for_another_method"
  | "proof_expired"
  | "insufficient_balance"
  | "wallet_frozen"
  | SchemeRefusal

/** A reason that the specification of a payment scheme publishes, such as `invalid_exact_evm_signature`. */
export type SchemeRefusal = string & {}

type Asking = { readonly fingerprint: string }
type Asked = Pick<PaymentRow, "protocol" | "request_fingerprint">

/** The fingerprint of a request, and where it is paid on a chain also of where it came from. */
export const fingerprintFrom = (request: string, caller: string): string => `${request}@${caller}`

const requestIn = (fingerprint: string | null) => fingerprint?.split("@", 1)[0]

const isSameRequest = ({ request_fingerprint }: Asked, { fingerprint }: Asking): boolean =>
  requestIn(request_fingerprint) === requestIn(fingerprint)

/**
 * Whether this caller is not given the answer again once it arrived. A proof of ours is used up then; and what was signed is public as
 * soon as a chain has it, so that anybody could ask with it: there it is for who asked first, as far as an address tells.
 */
export const isSpent = ({ protocol, request_fingerprint }: Asked, { fingerprint }: Asking): boolean =>
  protocol === "native" || request_fingerprint !== fingerprint

/** What a call with this payment may do now. Pure; `now` decides about expiry. */
export type Standing =
  | { readonly _tag: "Usable" }
  | { readonly _tag: "Reusable" }
  | { readonly _tag: "Refused"; readonly reason: ProofRefusal }
  /** A call has it, until its lease ends at most. */
  | { readonly _tag: "InProgress" }
  | { readonly _tag: "Used" }
  /** The chain decides; nothing is known yet. */
  | { readonly _tag: "Settling" }
  /** Charged, and the stored answer may be given to the same request. */
  | { readonly _tag: "Answerable" }

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
  switch (payment.state) {
    case "captured":
      if (!isSameRequest(payment, call)) return { _tag: "Used" }
      if (payment.delivered_at !== null && isSpent(payment, call)) return { _tag: "Used" }
      if (payment.protocol !== "native") return { _tag: "Answerable" }
      return { _tag: payment.lease_until !== null && payment.lease_until > now ? "InProgress" : "Answerable" }
    case "settling":
      return { _tag: isSameRequest(payment, call) ? "Settling" : "Used" }
    case "in_flight":
      return { _tag: "InProgress" }
    case "expired":
      return { _tag: "Refused", reason: "proof_expired" }
    case "authorized":
    case "released":
      if (payment.proof_expires_at <= now) return { _tag: "Refused", reason: "proof_expired" }
      return { _tag: payment.state === "authorized" || payment.amount === 0n ? "Usable" : "Reusable" }
  }
}

/**
 * Whether this is what the payer signed for the payment. A payer may sign one nonce for several things: all are one payment, of which
 * the first that is brought says what it costs.
 */
export const isSignedFor = (
  { amount, scheme }: PaymentRow,
  signed: { readonly amount: bigint; readonly scheme: EndpointScheme }
): boolean => amount === signed.amount && (scheme ?? "exact") === signed.scheme

/** Whether an answer of the origin with this status is charged. One that asks for payment never is: a client would pay again. */
export const isCharged = (chargeOn: "success" | "response", status: number): boolean =>
  status < 400 || (chargeOn === "response" && status !== 402)

/** Another call uses this payment at this moment. */
export class PaymentInProgress extends Schema.TaggedError<PaymentInProgress>()(
  "PAYMENT_IN_PROGRESS",
  { payment_id: Schema.String, retry_after: Schema.Int },
  { httpApiStatus: 409, title: "Another call is using this payment" }
) {}

/** The payment was sent to the chain, which has not decided. Asking again with the same payment tells; nothing is taken twice. */
export class SettlementPending extends Schema.TaggedError<SettlementPending>()(
  "SETTLEMENT_PENDING",
  { payment_id: Schema.String, transaction: Schema.NullOr(Schema.String), retry_after: Schema.Int },
  { httpApiStatus: 503, title: "The payment is being settled" }
) {}

/** The chain did not give the money: nothing was taken, and the answer was not handed out. */
export class SettlementRefused extends Schema.TaggedError<SettlementRefused>()(
  "SETTLEMENT_REFUSED",
  { reason: Schema.String },
  { httpApiStatus: 402, title: "The payment did not go through" }
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
