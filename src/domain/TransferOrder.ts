import { Result, Schema } from "effect"
import { fromTypeId, QuoteId, StreamId, WalletId } from "./Ids.ts"
import { Amount, Currency, parseAmount } from "./Money.ts"
import { FlowRate } from "./FlowRate.ts"
import { InvalidRequest } from "./Refusal.ts"
import { IdempotencyKey } from "./Text.ts"
import { AmountOrZero } from "./MoneyStream.ts"
import { Memo, type PlainTransfer, TransferType } from "./Transfer.ts"

/** What a transfer is made from. Which fields there must be depends on `type`, which is `internal` when left out. */
export const CreateTransfer = Schema.Struct({
  type: Schema.optionalKey(TransferType),
  from_wallet_id: Schema.optionalKey(WalletId),
  to_wallet_id: Schema.optionalKey(WalletId),
  amount: Schema.optionalKey(Amount),
  currency: Schema.optionalKey(Currency),
  memo: Schema.optionalKey(Schema.NullOr(Memo)),
  quote_id: Schema.optionalKey(QuoteId),
  stream_id: Schema.optionalKey(StreamId),
  flow_rate: Schema.optionalKey(FlowRate),
  buffer: Schema.optionalKey(AmountOrZero),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
}).annotate({ identifier: "CreateTransfer" })
export type CreateTransfer = typeof CreateTransfer.Type

/**
 * What the schema makes of the body of nearly every transfer: an internal one of the fields it needs, and perhaps a plain key. Undefined of
 * any other body, and of a wrong one. Written out, because the schema takes several times as long, which is much of a small request.
 */
export const readPlainly = (body: unknown): CreateTransfer | undefined => {
  if (!isRecord(body)) return undefined
  const { idempotency_key, type } = body
  const from_wallet_id = walletIn(body["from_wallet_id"])
  const to_wallet_id = walletIn(body["to_wallet_id"])
  const amount = parseAmount(body["amount"])
  const currency = Currency.literals.find((known) => known === body["currency"])
  if (from_wallet_id === undefined || to_wallet_id === undefined || currency === undefined) return undefined
  if (typeof amount !== "bigint" || (type !== undefined && type !== "internal")) return undefined
  if (idempotency_key !== undefined && !isPlainKey(idempotency_key)) return undefined
  const order = {
    from_wallet_id,
    to_wallet_id,
    amount,
    currency,
    ...(type !== undefined && { type: "internal" as const }),
    ...(idempotency_key !== undefined && { idempotency_key })
  }
  // With another field it is none of these.
  return Object.keys(body).length === Object.keys(order).length ? order : undefined
}

const isRecord = (body: unknown): body is { readonly [field: string]: unknown } =>
  typeof body === "object" && body !== null
const isPlainKey = (key: unknown): key is string => typeof key === "string" && /^[!-~]{1,255}$/.test(key)
const walletIn = (value: unknown): WalletId | undefined =>
  typeof value === "string" ? (fromTypeId("wal", value) as WalletId | undefined) : undefined

type Field = Exclude<keyof CreateTransfer, "type" | "memo" | "idempotency_key">
type With<Needed extends Field, Allowed extends Field = never> = Required<Pick<CreateTransfer, Needed>> &
  Pick<CreateTransfer, Allowed | "memo">

export type CrossBorderOrder = { readonly type: "cross_border" } & With<
  "from_wallet_id" | "to_wallet_id" | "quote_id",
  "amount" | "currency"
>
export type StreamStartOrder = { readonly type: "stream_start" } & With<
  "from_wallet_id" | "to_wallet_id" | "amount" | "currency" | "flow_rate",
  "buffer"
>
export type StreamWithdrawOrder = { readonly type: "stream_withdraw" } & With<
  "stream_id",
  "from_wallet_id" | "to_wallet_id" | "amount" | "currency"
>
export type StreamCancelOrder = { readonly type: "stream_cancel" } & With<
  "stream_id",
  "from_wallet_id" | "to_wallet_id" | "currency"
>
export type TransferOrder =
  | PlainTransfer
  | CrossBorderOrder
  | StreamStartOrder
  | StreamWithdrawOrder
  | StreamCancelOrder

const fields: ReadonlyArray<Field> = [
  "from_wallet_id",
  "to_wallet_id",
  "amount",
  "currency",
  "quote_id",
  "stream_id",
  "flow_rate",
  "buffer"
]
const plain = { needed: ["from_wallet_id", "to_wallet_id", "amount", "currency"], allowed: [] }
const rules: Readonly<
  Record<TransferType, { readonly needed: ReadonlyArray<string>; readonly allowed: ReadonlyArray<string> }>
> = {
  internal: plain,
  wrap: plain,
  unwrap: plain,
  cross_border: { needed: ["from_wallet_id", "to_wallet_id", "quote_id"], allowed: ["amount", "currency"] },
  stream_start: {
    needed: ["from_wallet_id", "to_wallet_id", "amount", "currency", "flow_rate"],
    allowed: ["buffer"]
  },
  stream_withdraw: { needed: ["stream_id"], allowed: ["from_wallet_id", "to_wallet_id", "amount", "currency"] },
  stream_cancel: { needed: ["stream_id"], allowed: ["from_wallet_id", "to_wallet_id", "currency"] }
}

/** Whether the transfer acts on a money stream. */
export const isOfStream = ({ type }: TransferOrder): boolean =>
  type === "stream_start" || type === "stream_withdraw" || type === "stream_cancel"

/** What is asked for, or every field that its type lacks or does not take. */
export const orderOf = ({
  idempotency_key: _,
  type = "internal",
  ...given
}: CreateTransfer): Result.Result<TransferOrder, InvalidRequest> => {
  const { allowed, needed } = rules[type]
  const errors = fields.flatMap((path) => {
    const isGiven = given[path] !== undefined
    if (needed.includes(path)) return isGiven ? [] : [{ path, message: `is needed for a transfer of type ${type}` }]
    return isGiven && !allowed.includes(path)
      ? [{ path, message: `does not belong to a transfer of type ${type}` }]
      : []
  })
  // The table above is what makes it one of these.
  return errors.length === 0
    ? Result.succeed({ type, ...given } as TransferOrder)
    : Result.fail(new InvalidRequest({ errors }))
}
