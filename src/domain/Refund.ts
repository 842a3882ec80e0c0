import { Duration, Result, Schema } from "effect"
import type { Step } from "./Command.ts"
import { AccountId, DisputeId, RefundId, toTypeId, TransferId } from "./Ids.ts"
import { systemAccount } from "./LedgerAccount.ts"
import { Amount, Currency, formatDecimal, Micros } from "./Money.ts"
import { StateTransitionInvalid } from "./Refusal.ts"
import { either, eitherNeeded } from "./Spelling.ts"
import { IdempotencyKey, text } from "./Text.ts"
import { FailureReason, type Transfer } from "./Transfer.ts"
import { Bound, dateOf, Moment } from "./Instant.ts"
import { uuidFrom } from "./Uuid.ts"

export const RefundReason = Schema.Literals([
  "duplicate_payment",
  "service_not_rendered",
  "customer_request",
  "error",
  "other"
])
export type RefundReason = typeof RefundReason.Type

export const RefundStatus = Schema.Literals(["pending", "completed", "failed"])
export type RefundStatus = typeof RefundStatus.Type

/** Money of a transfer that goes back to its payer, in what the payer paid. Only what a dispute awarded is ever `pending`. */
export const Refund = Schema.Struct({
  id: RefundId,
  transfer_id: TransferId,
  amount: Micros,
  currency: Currency,
  reason: RefundReason,
  reason_details: Schema.NullOr(Schema.String),
  status: RefundStatus,
  failure_reason: Schema.NullOr(FailureReason),
  refund_transfer_id: Schema.NullOr(TransferId),
  dispute_id: Schema.NullOr(DisputeId),
  created_at: Moment,
  completed_at: Schema.NullOr(Moment)
}).annotate({ identifier: "Refund" })
export type Refund = typeof Refund.Type

export const refundOnWire = Schema.encodeSync(Refund)

/** Why money goes back, in words. It has a name, as two spellings of one field take it. */
const RefundDetails = Schema.NullOr(text(1000)).annotate({ identifier: "RefundDetails" })

/** A refund as it is asked for. The camel-case fields are other spellings of their neighbours. */
export const CreateRefund = Schema.Struct({
  transfer_id: Schema.optionalKey(TransferId),
  originalTransferId: Schema.optionalKey(TransferId),
  amount: Schema.optionalKey(Amount),
  reason: RefundReason,
  reason_details: Schema.optionalKey(RefundDetails),
  reasonDetails: Schema.optionalKey(RefundDetails),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
})
export type CreateRefund = typeof CreateRefund.Type

/** A refund to make: of everything that is left where there is no amount. */
export interface RefundOrder {
  readonly transfer_id: TransferId
  readonly amount: bigint | undefined
  readonly reason: RefundReason
  readonly reason_details: string | null
}

export const refundOrderOf = (body: CreateRefund) =>
  Result.gen(function* () {
    const { amount, originalTransferId, reason, reasonDetails, reason_details, transfer_id } = body
    const order: RefundOrder = {
      transfer_id: yield* eitherNeeded(["transfer_id", transfer_id], ["originalTransferId", originalTransferId]),
      amount,
      reason,
      reason_details: (yield* either(["reason_details", reason_details], ["reasonDetails", reasonDetails])) ?? null
    }
    return order
  })

/** What narrows a list of refunds; every field given must match. */
export const RefundFilter = {
  status: Schema.optionalKey(RefundStatus),
  transfer_id: Schema.optionalKey(TransferId),
  account_id: Schema.optionalKey(AccountId),
  created_after: Schema.optionalKey(Bound),
  created_before: Schema.optionalKey(Bound)
}
export type RefundFilter = Schema.Struct.Type<typeof RefundFilter>

export class NotRefundable extends Schema.TaggedError<NotRefundable>()(
  "NOT_REFUNDABLE",
  { transfer_id: Schema.String, reason: Schema.Literals(["is_refund", "is_stream", "is_payment", "has_no_wallets"]) },
  { httpApiStatus: 422, title: "Money of this kind of transfer does not go back by a refund" }
) {}

export class RefundWindowExpired extends Schema.TaggedError<RefundWindowExpired>()(
  "REFUND_WINDOW_EXPIRED",
  { ended_at: Schema.String },
  { httpApiStatus: 422, title: "The transfer completed too long ago to be refunded" }
) {}

export class AmountExceedsRemaining extends Schema.TaggedError<AmountExceedsRemaining>()(
  "AMOUNT_EXCEEDS_REMAINING",
  { remaining: Schema.String, currency: Schema.String },
  { httpApiStatus: 422, title: "Less than that is left to refund" }
) {}

/** A transfer with everything that decides about refunds of it. */
export interface Refundable {
  readonly transfer: Transfer
  /** What refunds that are still to be paid will take, in micro-units. */
  readonly reserved: bigint
  /** How often refunds of it have changed. */
  readonly version: bigint
}

/** The fence of everything that happens to the refunds of a transfer. */
export const refundsScope = (transfer: TransferId): string => uuidFrom(`refunds ${transfer}`)

/** What may still be refunded, in micro-units. */
export const remainingOf = ({ reserved, transfer }: Refundable): bigint =>
  transfer.amount - transfer.refunded_amount - reserved

/** When a time ends that began with the completion of the transfer. */
export const endOf = ({ completed_at, updated_at }: Transfer, window: Duration.Duration): number =>
  (completed_at ?? updated_at).getTime() + Duration.toMillis(window)

/** Why no money of this transfer can go back at all, whatever the amount and the time. */
export const whyFixed = ({ transfer }: Refundable): StateTransitionInvalid | NotRefundable | undefined => {
  if (transfer.status !== "completed") {
    return new StateTransitionInvalid({ resource: "transfer", from: transfer.status, to: "refunded" })
  }
  const never = (reason: NotRefundable["reason"]) =>
    new NotRefundable({ transfer_id: toTypeId("tx", transfer.id), reason })
  if ("refunded_transfer_id" in transfer.protocol_metadata) return never("is_refund")
  if (transfer.type.startsWith("stream_")) return never("is_stream")
  // The receiver may be another tenant's, and part of the money is the platform's: nobody has decided how that goes back.
  if (transfer.protocol === "x402") return never("is_payment")
  return transfer.from_wallet_id === null || transfer.to_wallet_id === null ? never("has_no_wallets") : undefined
}

/** What is to be refunded: as much as is asked for, or all that is left. */
export const amountOf = (of: Refundable, asked: bigint | undefined): Result.Result<bigint, AmountExceedsRemaining> => {
  const remaining = remainingOf(of)
  return remaining <= 0n || (asked !== undefined && asked > remaining)
    ? Result.fail(exceeds(remaining, of.transfer.currency))
    : Result.succeed(asked ?? remaining)
}

export const exceeds = (remaining: bigint, currency: Currency) =>
  new AmountExceedsRemaining({ remaining: formatDecimal(remaining), currency })

/** The whole rule for a refund that is asked for; how much it is. What the receiver has is the ledger's to say. */
export const judgeRefund = (
  of: Refundable,
  asked: bigint | undefined,
  now: Date,
  window: Duration.Duration
): Result.Result<bigint, StateTransitionInvalid | NotRefundable | RefundWindowExpired | AmountExceedsRemaining> => {
  const fixed = whyFixed(of)
  if (fixed !== undefined) return Result.fail(fixed)
  const end = endOf(of.transfer, window)
  if (now.getTime() > end) return Result.fail(new RefundWindowExpired({ ended_at: dateOf(end).toISOString() }))
  return amountOf(of, asked)
}

/** What one refund moves, in micro-units. */
export interface RefundMoney {
  /** What leaves the receiver, in what the receiver got. */
  readonly given: bigint
  /** The part of the fee that comes back, in what the payer paid. */
  readonly fee: bigint
  /** What reaches the payer. */
  readonly amount: bigint
}

/**
 * The next `amount` of a transfer of which some was refunded before. Shares are differences of what was due after each refund, so all
 * refunds together move exactly what the transfer moved, however it is split. What the receiver gives is rounded up, and what comes
 * back of the fee down: the platform never pays for a part that nobody has given.
 */
export const moneyOf = (
  { amount: whole, destination_amount, fee, refunded_amount }: Transfer,
  amount: bigint
): RefundMoney => {
  const down = (total: bigint, refunded: bigint) => (total * refunded) / whole
  const up = (total: bigint, refunded: bigint) => (total * refunded + whole - 1n) / whole
  const share = (total: bigint, rounded: typeof down) =>
    rounded(total, refunded_amount + amount) - rounded(total, refunded_amount)
  return destination_amount === null
    ? { given: amount, fee: 0n, amount }
    : { given: share(destination_amount, up), fee: share(fee, down), amount }
}

/** The steps that bring the money back, at the rate it came at. */
export const refundSteps = (transfer: Transfer, money: RefundMoney): ReadonlyArray<Step> => {
  const { currency, from_wallet_id, to_wallet_id } = transfer
  const payer = from_wallet_id ?? ""
  const receiver = to_wallet_id ?? ""
  const step = (debit: string, credit: string, amount: bigint, of: Currency = currency): ReadonlyArray<Step> =>
    amount === 0n ? [] : [{ kind: "transfer", debit, credit, currency: of, amount, code: "refund" }]
  if (transfer.destination_amount === null) return step(receiver, payer, money.amount)
  const other = transfer.destination_currency ?? currency
  return [
    ...step(receiver, systemAccount("fx", other), money.given, other),
    ...step(systemAccount("fx", other), systemAccount("issuance", other), money.given, other),
    ...step(systemAccount("issuance", currency), systemAccount("fx", currency), money.amount - money.fee),
    ...step(systemAccount("fees", currency), systemAccount("fx", currency), money.fee),
    ...step(systemAccount("fx", currency), payer, money.amount)
  ]
}

/** How long money that a dispute awarded is asked for, and how often. */
export interface RefundRetries {
  readonly first: Duration.Duration
  readonly firstFor: Duration.Duration
  readonly later: Duration.Duration
  readonly laterFor: Duration.Duration
}

/** When the receiver is asked again for a refund that could not be paid now; undefined when it is given up. */
export const retryRefundAt = (created: Date, now: Date, retries: RefundRetries): Date | undefined => {
  const at = now.getTime()
  const often = created.getTime() + Duration.toMillis(retries.firstFor)
  const end = often + Duration.toMillis(retries.laterFor)
  if (at >= end) return undefined
  return dateOf(Math.min(end, at + Duration.toMillis(at < often ? retries.first : retries.later)))
}
