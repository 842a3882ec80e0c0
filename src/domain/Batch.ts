import { Schema } from "effect"
import { Moment } from "./Instant.ts"
import { AccountId, BatchId, TransferId, WalletId } from "./Ids.ts"
import { Amount, Currency, formatDecimal } from "./Money.ts"
import type { Network } from "./Network.ts"
import { IdempotencyKey } from "./Text.ts"
import { FailureReason, Memo, type Transfer, TransferStatus } from "./Transfer.ts"

/** The most transfers of one batch. */
export const maxItems = 1000

const oneDestination = Schema.makeFilter<{ readonly to_wallet_id?: string; readonly to_account_id?: string }>(
  ({ to_account_id, to_wallet_id }) =>
    (to_account_id === undefined) !== (to_wallet_id === undefined)
      ? undefined
      : "must name either to_account_id or to_wallet_id"
)

/** One transfer of a batch, to a wallet or to whichever wallet the account receives this currency in. */
export const BatchItem = Schema.Struct({
  to_account_id: Schema.optionalKey(AccountId),
  to_wallet_id: Schema.optionalKey(WalletId),
  amount: Amount,
  currency: Currency,
  memo: Schema.optionalKey(Schema.NullOr(Memo)),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
})
  .check(oneDestination)
  .annotate({ identifier: "BatchItem" })
export type BatchItem = typeof BatchItem.Type

export const CreateBatch = Schema.Struct({
  transfers: Schema.Array(BatchItem).check(Schema.isMinLength(1), Schema.isMaxLength(maxItems)),
  from_wallet_id: Schema.optionalKey(WalletId),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
}).annotate({ identifier: "CreateBatch" })
export type CreateBatch = typeof CreateBatch.Type

/** What became of an item. `index` is its place in the request, from 0; `id` names its transfer, which an earlier request made if it is `replayed`. */
export const BatchLine = Schema.Struct({
  index: Schema.Int,
  id: TransferId,
  status: TransferStatus,
  failure_reason: Schema.NullOr(FailureReason),
  replayed: Schema.Boolean
}).annotate({ identifier: "BatchLine" })
export type BatchLine = typeof BatchLine.Type

export const BatchStatus = Schema.Literals(["completed", "partially_completed", "failed"])
export type BatchStatus = typeof BatchStatus.Type

/** Transfers that were asked for together and succeed or fail each alone. `completed` and `failed` count those `replayed` too. */
export const Batch = Schema.Struct({
  batch_id: BatchId,
  total: Schema.Int,
  completed: Schema.Int,
  failed: Schema.Int,
  replayed: Schema.Int,
  status: BatchStatus,
  transfers: Schema.Array(BatchLine),
  created_at: Moment
}).annotate({ identifier: "Batch" })
export type Batch = typeof Batch.Type

/** The record of a batch, from what became of its items. */
export const batchOf = (batch_id: BatchId, created_at: Date, transfers: ReadonlyArray<BatchLine>): Batch => {
  const total = transfers.length
  const completed = transfers.filter(({ status }) => status === "completed").length
  return {
    batch_id,
    total,
    completed,
    failed: total - completed,
    replayed: transfers.filter(({ replayed }) => replayed).length,
    status: completed === total ? "completed" : completed === 0 ? "failed" : "partially_completed",
    transfers,
    created_at
  }
}

/** What the transfers that a batch made itself add up to, by currency and outcome; decimals. */
export const amountsOf = (made: ReadonlyArray<Transfer>) => {
  const currencies = [...new Set(made.map(({ currency }) => currency))].sort()
  const sum = (currency: Currency, status: "completed" | "failed") =>
    formatDecimal(
      made.reduce((sum, one) => (one.currency === currency && one.status === status ? sum + one.amount : sum), 0n)
    )
  return currencies.map((currency) => ({
    currency,
    completed: sum(currency, "completed"),
    failed: sum(currency, "failed")
  }))
}

/** What a route depends on of a wallet. */
export interface Party {
  readonly id: WalletId
  readonly currency: Currency
  readonly network: Network
}

/** Whom an item is for: the wallet it names, or the wallets of the account it names, one for each network. */
export type Destination<Wallet extends Party> =
  | { readonly wallet: Wallet | undefined }
  | { readonly isKnown: boolean; readonly wallets: ReadonlyArray<Wallet> }

/** Between which wallets an item moves money, or what it fails by before any money is asked for. */
export interface Route<Wallet extends Party> {
  readonly from: Wallet | undefined
  readonly to: Wallet | undefined
  readonly failure: FailureReason | undefined
}

/** `payers` are the wallets that may pay, the preferred one first; the one on the destination's network does. */
export const routeOf = <Wallet extends Party>(
  currency: Currency,
  payers: ReadonlyArray<Wallet>,
  destination: Destination<Wallet>
): Route<Wallet> => {
  const [first] = payers
  const fails = (failure: FailureReason, from = first, to?: Wallet) => ({ from, to, failure })
  if ("wallet" in destination) {
    const to = destination.wallet
    if (to === undefined) return fails("wallet_not_found")
    const from = payers.find(({ network }) => network === to.network) ?? first
    if (from === undefined) return fails("wallet_not_found", from, to)
    if (from.id === to.id) return fails("same_wallet", from, to)
    if (from.currency !== currency || to.currency !== currency) return fails("currency_mismatch", from, to)
    return { from, to, failure: from.network === to.network ? undefined : "network_mismatch" }
  }
  if (!destination.isKnown) return fails("account_not_found")
  if (first === undefined) return fails("wallet_not_found")
  if (first.currency !== currency) return fails("currency_mismatch")
  for (const from of payers) {
    const to = destination.wallets.find(({ network }) => network === from.network)
    if (to !== undefined) return { from, to, failure: from.id === to.id ? "same_wallet" : undefined }
  }
  return fails("no_receiving_wallet")
}
