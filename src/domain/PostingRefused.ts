import { Schema } from "effect"
import type { NotFound } from "./Refusal.ts"

export class SameWallet extends Schema.TaggedError<SameWallet>()(
  "SAME_WALLET",
  { wallet_id: Schema.String },
  { httpApiStatus: 422, title: "Payer and payee are the same wallet" }
) {}

export class CurrencyMismatch extends Schema.TaggedError<CurrencyMismatch>()(
  "CURRENCY_MISMATCH",
  { expected: Schema.String, actual: Schema.String },
  { httpApiStatus: 422, title: "The wallet holds another currency" }
) {}

export class WalletFrozen extends Schema.TaggedError<WalletFrozen>()(
  "WALLET_FROZEN",
  { wallet_id: Schema.String },
  {
    httpApiStatus: 403,
    title: "The wallet receives but does not spend: it is frozen, or whoever has its key spends its money"
  }
) {}

export class InsufficientBalance extends Schema.TaggedError<InsufficientBalance>()(
  "INSUFFICIENT_BALANCE",
  { required: Schema.String, available: Schema.String, currency: Schema.String },
  { httpApiStatus: 422, title: "The wallet's available balance is too small" }
) {}

export class AmountTooLarge extends Schema.TaggedError<AmountTooLarge>()(
  "AMOUNT_TOO_LARGE",
  { maximum: Schema.String },
  { httpApiStatus: 422, title: "The amount is larger than allowed" }
) {}

export class HoldNotOpen extends Schema.TaggedError<HoldNotOpen>()(
  "HOLD_NOT_OPEN",
  { hold_id: Schema.String, state: Schema.String },
  { httpApiStatus: 409, title: "The hold was already captured, released or expired" }
) {}

export class IdempotencyKeyReused extends Schema.TaggedError<IdempotencyKeyReused>()(
  "IDEMPOTENCY_KEY_REUSED",
  { key: Schema.String },
  { httpApiStatus: 409, title: "This idempotency key was used with other parameters" }
) {}

/** A fence has moved on: what the command was decided on is no longer so, and whoever decided has to look again. */
export class Superseded extends Schema.TaggedError<Superseded>()(
  "SUPERSEDED",
  { scope: Schema.String },
  { httpApiStatus: 409, title: "Somebody else changed this at the same time" }
) {}

/** Why a command moves nothing. A refused command stores nothing, so its id and key stay free. */
export type PostingRefused =
  | NotFound
  | SameWallet
  | CurrencyMismatch
  | WalletFrozen
  | InsufficientBalance
  | AmountTooLarge
  | HoldNotOpen
  | IdempotencyKeyReused

/** Whether it is another refusal than the one of a key that was used before: to whoever has checked the rest, a defect. */
export const isUnexpected = (refusal: PostingRefused): refusal is Exclude<PostingRefused, IdempotencyKeyReused> =>
  refusal._tag !== "IDEMPOTENCY_KEY_REUSED"
