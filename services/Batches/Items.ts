import { Option, Result, Schema } from "effect"
import type { BatchItem, BatchLine, Route } from "#domain/Batch.ts"
import { actorOf } from "#domain/CallerContext.ts"
import type { IdempotencyClaim, Posted } from "#domain/Command.ts"
import { type BatchId, TransferId, type WalletId } from "#domain/Ids.ts"
import type { PostingRefused, Superseded } from "#domain/PostingRefused.ts"
import type { Principal } from "#domain/Principal.ts"
import { codeOf, FailureReason, type PlainTransfer, type Transfer } from "#domain/Transfer.ts"
import type { Answer, LedgerCommand } from "../Ledger/Group.ts"
import * as Records from "../Transfers/Records.ts"
import type { KnownWallet } from "../Wallets/Known.ts"
import { remembered } from "../Transfers.ts"
import type { EarlierPayers } from "./Payers.ts"

/** What an item's transfer would be asked for with alone; to an account instead of a wallet where the item names one. */
export type ItemParameters = Pick<PlainTransfer, "type" | "amount" | "currency" | "memo"> &
  Pick<BatchItem, "to_wallet_id" | "to_account_id"> & { readonly from_wallet_id?: WalletId }

/** The caller's word what is one: the batch as a whole, and each item with each transfer under its key. */
export interface BatchClaims {
  readonly batch?: IdempotencyClaim | undefined
  /** The operation whose keys those of the items are. */
  readonly operation: string
  readonly item: (key: string, parameters: ItemParameters) => IdempotencyClaim
}

/** What all items of a batch have in common. `earlier` is empty when the paying wallet was named. */
export interface Context {
  readonly batch_id: BatchId
  readonly caller: Principal
  readonly claims: BatchClaims
  readonly earlier: EarlierPayers
}

/** What became of an item: its line, and its transfer unless an earlier request made that. */
export interface Outcome {
  readonly line: BatchLine
  readonly made: Transfer | undefined
}

/** An item as the ledger takes it, and what its answer means. */
export interface Placed {
  readonly command: LedgerCommand
  readonly outcome: (answer: Answer | undefined, at: Date) => Outcome
}

/** A refusal that ends the transfer, and not only the request for it. */
const concedes = ({ _tag }: PostingRefused | Superseded): boolean =>
  _tag === "INSUFFICIENT_BALANCE" || _tag === "WALLET_FROZEN" || _tag === "AMOUNT_TOO_LARGE"

/** What is kept with the key of a plain transfer, which is completed unless it says what it failed by. */
const readKept = Schema.decodeUnknownOption(
  Schema.toType(Schema.Struct({ transfer_id: TransferId, failure_reason: Schema.optionalKey(FailureReason) }))
)

/** A payer that was found by default counts as named: the same payment asked for alone has to name it. */
const claimOf = (
  { amount, currency, idempotency_key, memo, to_account_id, to_wallet_id }: BatchItem,
  from: KnownWallet | undefined,
  { claims, earlier }: Context
): IdempotencyClaim | undefined => {
  if (idempotency_key === undefined) return undefined
  const paid = earlier.get(idempotency_key)
  const from_wallet_id = paid === undefined ? from?.id : paid
  return claims.item(idempotency_key, {
    type: "internal",
    ...(from_wallet_id && { from_wallet_id }),
    ...(to_wallet_id && { to_wallet_id }),
    ...(to_account_id && { to_account_id }),
    amount,
    currency,
    ...(memo !== undefined && { memo })
  })
}

/** Places an item: one that has no way to go moves nothing, and is a transfer that failed all the same. */
export const place = (
  context: Context,
  index: number,
  id: TransferId,
  item: BatchItem,
  { failure, from, to }: Route<KnownWallet>
): Placed => {
  const { batch_id, caller } = context
  const { amount, currency, memo = null, to_account_id = null } = item
  const payee = failure === "account_not_found" ? null : to_account_id
  const idempotency = claimOf(item, from, context)
  const transferOf = (failure_reason: FailureReason | null, created_at: Date) =>
    Records.newTransfer({
      id,
      type: "internal",
      status: failure_reason === null ? "completed" : "failed",
      failure_reason,
      amount,
      currency,
      from_wallet_id: from?.id ?? null,
      to_wallet_id: to?.id ?? null,
      from_account_id: from?.account_id ?? null,
      to_account_id: to?.account_id ?? payee,
      memo,
      batch_id,
      initiated_by: actorOf(caller),
      created_at
    })
  const made = remembered(({ at, refused }: Posted) =>
    transferOf(failure ?? (refused === undefined ? null : Records.failureOf(refused)), at)
  )
  const isOff = failure !== undefined || from === undefined || to === undefined
  return {
    command: {
      id,
      steps: isOff
        ? []
        : [{ kind: "transfer", debit: from.id, credit: to.id, currency, amount, code: codeOf("internal") }],
      idempotency,
      concedes,
      result: (posted) => {
        if (idempotency === undefined) return undefined
        const { failure_reason } = made(posted)
        return { transfer_id: id, ...(failure_reason && { failure_reason }) }
      }
    },
    outcome: (answer, at) => {
      const line = (id: TransferId, failure_reason: FailureReason | null, replayed: boolean): BatchLine => ({
        index,
        id,
        status: failure_reason === null ? "completed" : "failed",
        failure_reason,
        replayed
      })
      const ended = (made: Transfer): Outcome => ({ line: line(id, made.failure_reason, false), made })
      if (answer === undefined) return ended(transferOf("rail_error", at))
      if (Result.isFailure(answer)) return ended(transferOf(Records.failureOf(answer.failure), at))
      if (!answer.success.replayed) return ended(made(answer.success))
      return Option.match(readKept(answer.success.result), {
        onNone: () => ended(transferOf("idempotency_key_reused", at)),
        onSome: ({ failure_reason = null, transfer_id }) => ({
          line: line(transfer_id, failure_reason, true),
          made: undefined
        })
      })
    }
  }
}
