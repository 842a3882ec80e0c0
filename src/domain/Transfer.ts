import { Schema } from "effect"
import { Actor } from "./CallerContext.ts"
import { AccountId, BatchId, QuoteId, StreamId, toTypeId, TransferId, WalletId } from "./Ids.ts"
import { Bound, Moment } from "./Instant.ts"
import { Amount, Currency, formatDecimal, Micros } from "./Money.ts"
import type { Network } from "./Network.ts"
import { CurrencyMismatch, SameWallet } from "./PostingRefused.ts"
import { text } from "./Text.ts"

export const TransferType = Schema.Literals([
  "internal",
  "cross_border",
  "wrap",
  "unwrap",
  "stream_start",
  "stream_withdraw",
  "stream_cancel"
])
export type TransferType = typeof TransferType.Type

export const TransferStatus = Schema.Literals(["pending", "processing", "completed", "failed", "cancelled"])
export type TransferStatus = typeof TransferStatus.Type

/** Why no money arrived. What a ledger move can fail by is among them. */
export const FailureReason = Schema.Literals([
  "insufficient_funds",
  "wallet_frozen",
  "wallet_not_found",
  "account_not_found",
  "no_receiving_wallet",
  "same_wallet",
  "currency_mismatch",
  "network_mismatch",
  "amount_too_large",
  "idempotency_key_reused",
  "rail_error",
  "compliance_block",
  "rejected_by_recipient",
  "rail_timeout"
])
export type FailureReason = typeof FailureReason.Type

export const TransferProtocol = Schema.Literals(["internal", "x402", "ucp", "a2a", "stream", "fx"])
export type TransferProtocol = typeof TransferProtocol.Type

/**
 * Money of one wallet for another. `amount` is what the payer gives, in `currency`; `destination_amount` what arrives where that is
 * another currency or less a fee.
 */
export const Transfer = Schema.Struct({
  id: TransferId,
  type: TransferType,
  status: TransferStatus,
  amount: Micros,
  currency: Currency,
  from_wallet_id: Schema.NullOr(WalletId),
  to_wallet_id: Schema.NullOr(WalletId),
  from_account_id: Schema.NullOr(AccountId),
  to_account_id: Schema.NullOr(AccountId),
  memo: Schema.NullOr(Schema.String),
  quote_id: Schema.NullOr(QuoteId),
  destination_amount: Schema.NullOr(Micros),
  destination_currency: Schema.NullOr(Currency),
  fee: Micros,
  batch_id: Schema.NullOr(BatchId),
  stream_id: Schema.NullOr(StreamId),
  scheduled_at: Schema.NullOr(Moment),
  initiated_by: Actor,
  protocol: TransferProtocol,
  protocol_metadata: Schema.Record(Schema.String, Schema.Json),
  failure_reason: Schema.NullOr(FailureReason),
  refunded_amount: Micros,
  created_at: Moment,
  updated_at: Moment,
  completed_at: Schema.NullOr(Moment)
}).annotate({ identifier: "Transfer" })
export type Transfer = typeof Transfer.Type

const typeId = (prefix: string, id: string | null) => (id === null ? null : toTypeId(prefix, id))
const money = (micros: bigint | null) => (micros === null ? null : formatDecimal(micros))
const iso = (date: Date | null) => (date === null ? null : date.toISOString())

/** A transfer as callers see it. */
// Written out, because encoding by schema costs several times as much.
export const transferOnWire = (transfer: Transfer): typeof Transfer.Encoded => ({
  id: toTypeId("tx", transfer.id),
  type: transfer.type,
  status: transfer.status,
  amount: formatDecimal(transfer.amount),
  currency: transfer.currency,
  from_wallet_id: typeId("wal", transfer.from_wallet_id),
  to_wallet_id: typeId("wal", transfer.to_wallet_id),
  from_account_id: typeId("acc", transfer.from_account_id),
  to_account_id: typeId("acc", transfer.to_account_id),
  memo: transfer.memo,
  quote_id: typeId("qt", transfer.quote_id),
  destination_amount: money(transfer.destination_amount),
  destination_currency: transfer.destination_currency,
  fee: formatDecimal(transfer.fee),
  batch_id: typeId("bat", transfer.batch_id),
  stream_id: typeId("str", transfer.stream_id),
  scheduled_at: iso(transfer.scheduled_at),
  initiated_by: transfer.initiated_by,
  protocol: transfer.protocol,
  protocol_metadata: transfer.protocol_metadata,
  failure_reason: transfer.failure_reason,
  refunded_amount: formatDecimal(transfer.refunded_amount),
  created_at: transfer.created_at.toISOString(),
  updated_at: transfer.updated_at.toISOString(),
  completed_at: iso(transfer.completed_at)
})

/** What may happen to a transfer. */
export type TransferTrigger = "submitted" | "settled" | "rejected" | "cancelled"

/** Every transition there is; what is not here cannot happen. */
const transitions: Readonly<Record<TransferStatus, Partial<Record<TransferTrigger, TransferStatus>>>> = {
  pending: { submitted: "processing", cancelled: "cancelled" },
  processing: { settled: "completed", rejected: "failed" },
  completed: {},
  failed: {},
  cancelled: {}
}

/** The status after `trigger`; undefined when it cannot happen in this one. */
export const statusAfter = (status: TransferStatus, trigger: TransferTrigger): TransferStatus | undefined =>
  transitions[status][trigger]

/** Text beside a transfer, kept as it came. */
export const Memo = text(1000)

const plain = ["internal", "wrap", "unwrap"] as const

/** A move between two wallets of one currency and network, which the ledger makes at once. */
export const PlainTransfer = Schema.Struct({
  type: Schema.Literals(plain),
  from_wallet_id: WalletId,
  to_wallet_id: WalletId,
  amount: Amount,
  currency: Currency,
  memo: Schema.optionalKey(Schema.NullOr(Memo))
})
export type PlainTransfer = typeof PlainTransfer.Type

/** What the statements of both wallets call the entry of a plain transfer. */
export const codeOf = (type: PlainTransfer["type"]): string => (type === "internal" ? "transfer" : type)

/** What narrows a list of transfers; every field given must match. */
export const TransferFilter = {
  status: Schema.optionalKey(TransferStatus),
  type: Schema.optionalKey(TransferType),
  from_wallet_id: Schema.optionalKey(WalletId),
  to_wallet_id: Schema.optionalKey(WalletId),
  account_id: Schema.optionalKey(AccountId),
  batch_id: Schema.optionalKey(BatchId),
  created_after: Schema.optionalKey(Bound),
  created_before: Schema.optionalKey(Bound)
}
export type TransferFilter = Schema.Struct.Type<typeof TransferFilter>

export class NetworkMismatch extends Schema.TaggedError<NetworkMismatch>()(
  "NETWORK_MISMATCH",
  { from: Schema.String, to: Schema.String },
  {
    httpApiStatus: 422,
    title: "The two are on different networks; between wallets a cross_border transfer with a quote reaches across"
  }
) {}

/** As much of a wallet as decides what can be moved to another at once. */
interface End {
  readonly id: WalletId
  readonly currency: Currency
  readonly network: Network
}

/** Why this currency cannot be moved at once from one wallet to the other; undefined when it can. */
export const whyApart = (
  from: End,
  to: End,
  currency: Currency
): SameWallet | CurrencyMismatch | NetworkMismatch | undefined => {
  if (from.id === to.id) return new SameWallet({ wallet_id: toTypeId("wal", from.id) })
  for (const { currency: actual } of [from, to]) {
    if (actual !== currency) return new CurrencyMismatch({ expected: currency, actual })
  }
  return from.network === to.network ? undefined : new NetworkMismatch({ from: from.network, to: to.network })
}
