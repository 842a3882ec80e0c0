import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { Moment } from "./Instant.ts"
import { FlowRate } from "./FlowRate.ts"
import { StreamId, TenantId, toTypeId, TransferId, WalletId } from "./Ids.ts"
import { Metadata } from "./Metadata.ts"
import { Amount, amountRefusals, Currency, formatDecimal, Micros, parseAmount } from "./Money.ts"
import { IdempotencyKey } from "./Text.ts"
import { Memo } from "./Transfer.ts"

export const StreamStatus = Schema.Literals(["active", "paused", "cancelled"])
export type StreamStatus = typeof StreamStatus.Type

/** Somebody paused it, or everything it could pay had accrued. */
export const PauseReason = Schema.Literals(["requested", "exhausted"])
export type PauseReason = typeof PauseReason.Type

export const AlertSeverity = Schema.Literals(["warning", "critical", "exhausted"])
export type AlertSeverity = typeof AlertSeverity.Type

/** How short of money a stream is. */
export const AlertLevel = Schema.Literals(["none", "warning", "critical", "exhausted"])
export type AlertLevel = typeof AlertLevel.Type

/**
 * Money that flows from one wallet to another, as it is at an instant. What was deposited is always the sum of `wrapped_balance`
 * (may still accrue), `buffer`, `recipient_balance` (accrued, to be withdrawn), `withdrawn` and `returned`.
 */
export const MoneyStream = Schema.Struct({
  id: StreamId,
  from_wallet_id: WalletId,
  to_wallet_id: WalletId,
  flow_rate: FlowRate,
  currency: Currency,
  status: StreamStatus,
  pause_reason: Schema.NullOr(PauseReason),
  deposited: Micros,
  wrapped_balance: Micros,
  buffer: Micros,
  recipient_balance: Micros,
  withdrawn: Micros,
  returned: Micros,
  runway_seconds: Schema.Int,
  exhausted_at: Schema.NullOr(Moment),
  latest_transfer_id: TransferId,
  metadata: Schema.Record(Schema.String, Schema.Json),
  created_at: Moment,
  updated_at: Moment,
  cancelled_at: Schema.NullOr(Moment)
}).annotate({ identifier: "MoneyStream" })
export type MoneyStream = typeof MoneyStream.Type

/**
 * What is kept of a stream: `accrued` of its whole life (10^-21 units) at `since`; what has accrued after that follows from the
 * rate. `alerted` is the last alert that still holds. All else is in micro-units.
 */
export const StreamState = Schema.Struct({
  id: Schema.toType(StreamId),
  tenant_id: Schema.toType(TenantId),
  from_wallet_id: Schema.toType(WalletId),
  to_wallet_id: Schema.toType(WalletId),
  currency: Currency,
  flow_rate: Schema.BigIntFromString,
  status: StreamStatus,
  pause_reason: Schema.NullOr(PauseReason),
  deposited: Schema.BigInt,
  buffer: Schema.BigInt,
  withdrawn: Schema.BigInt,
  returned: Schema.BigInt,
  accrued: Schema.BigIntFromString,
  since: Schema.Date,
  alerted: AlertLevel,
  latest_transfer_id: Schema.toType(TransferId),
  metadata: Schema.Record(Schema.String, Schema.Json),
  version: Schema.BigInt,
  changed_by: Schema.String,
  created_at: Schema.Date,
  updated_at: Schema.Date,
  cancelled_at: Schema.NullOr(Schema.Date)
})
export type StreamState = typeof StreamState.Type

/** An amount that may be nothing. */
export const AmountOrZero = Schema.Any.pipe(
  Schema.decodeTo(
    Schema.BigInt,
    SchemaTransformation.transformEffect<bigint, unknown>({
      decode: (input) => {
        const micros = parseAmount(input)
        if (micros === "AMOUNT_TOO_SMALL") return Effect.succeed(0n)
        return typeof micros === "bigint"
          ? Effect.succeed(micros)
          : Effect.fail(new SchemaIssue.InvalidValue({ message: amountRefusals[micros] }))
      },
      encode: (micros) => Effect.succeed(formatDecimal(micros))
    })
  )
).annotate({ identifier: "AmountOrZero" })

/** What a stream is made from. */
export const CreateStream = Schema.Struct({
  from_wallet_id: WalletId,
  to_wallet_id: WalletId,
  flow_rate: FlowRate,
  initial_deposit: Amount,
  currency: Schema.optionalKey(Currency),
  buffer: Schema.optionalKey(AmountOrZero),
  metadata: Schema.optionalKey(Metadata)
}).annotate({ identifier: "CreateStream" })
export type CreateStream = typeof CreateStream.Type

/** What is meant by what a new stream leaves out. */
export const streamDefaults = { currency: "USDC", buffer: 0n, metadata: {} } as const satisfies Required<
  Omit<CreateStream, "from_wallet_id" | "to_wallet_id" | "flow_rate" | "initial_deposit">
>

const memo = Schema.optionalKey(Schema.NullOr(Memo))
export const TopUpStream = Schema.Struct({ amount: Amount, memo }).annotate({ identifier: "TopUpStream" })
export type TopUpStream = typeof TopUpStream.Type
export const WithdrawFromStream = Schema.Struct({ amount: Schema.optionalKey(Amount), memo }).annotate({
  identifier: "WithdrawFromStream"
})
export type WithdrawFromStream = typeof WithdrawFromStream.Type
export const CancelStream = Schema.Struct({ memo }).annotate({ identifier: "CancelStream" })
export type CancelStream = typeof CancelStream.Type
export const ChangeStreamRate = Schema.Struct({
  flow_rate: FlowRate,
  idempotency_key: Schema.optionalKey(IdempotencyKey)
}).annotate({ identifier: "ChangeStreamRate" })

/** What narrows a list of streams; every field given must match. */
export const StreamFilter = {
  status: Schema.optionalKey(StreamStatus),
  from_wallet_id: Schema.optionalKey(WalletId),
  to_wallet_id: Schema.optionalKey(WalletId)
}
export type StreamFilter = Schema.Struct.Type<typeof StreamFilter>

export class BufferTooLarge extends Schema.TaggedError<BufferTooLarge>()(
  "BUFFER_TOO_LARGE",
  { buffer: Schema.String, initial_deposit: Schema.String },
  { httpApiStatus: 422, title: "The buffer must be smaller than the deposit, or nothing could flow" }
) {}

export class NothingAccrued extends Schema.TaggedError<NothingAccrued>()(
  "NOTHING_ACCRUED",
  { currency: Schema.String },
  { httpApiStatus: 422, title: "Nothing that could be withdrawn has accrued yet" }
) {}

export class AmountExceedsAccrued extends Schema.TaggedError<AmountExceedsAccrued>()(
  "AMOUNT_EXCEEDS_ACCRUED",
  { requested: Schema.String, available: Schema.String, currency: Schema.String },
  { httpApiStatus: 422, title: "Less than that has accrued" }
) {}

export class StreamExhausted extends Schema.TaggedError<StreamExhausted>()(
  "STREAM_EXHAUSTED",
  { stream_id: Schema.String },
  { httpApiStatus: 422, title: "Everything the stream could pay has accrued: top it up first" }
) {}

/** A request that names a stream and, beside it, a wallet or currency that is not the stream's. */
export class StreamMismatch extends Schema.TaggedError<StreamMismatch>()(
  "STREAM_MISMATCH",
  { param: Schema.String, expected: Schema.String, actual: Schema.String },
  { httpApiStatus: 422, title: "The stream has another wallet or currency there" }
) {}

const idOf = (id: WalletId | undefined) => (id === undefined ? undefined : toTypeId("wal", id))

/** Refuses an order that names something which the stream is not. */
export const asNamed = (
  stream: StreamState,
  named: { readonly [Name in "from_wallet_id" | "to_wallet_id"]?: WalletId } & { readonly currency?: Currency }
): Result.Result<void, StreamMismatch> => {
  for (const [param, expected, actual] of [
    ["currency", named.currency, stream.currency],
    ["from_wallet_id", idOf(named.from_wallet_id), idOf(stream.from_wallet_id)],
    ["to_wallet_id", idOf(named.to_wallet_id), idOf(stream.to_wallet_id)]
  ] as const) {
    if (expected !== undefined && actual !== undefined && expected !== actual) {
      return Result.fail(new StreamMismatch({ param, expected, actual }))
    }
  }
  return Result.succeed(undefined)
}
