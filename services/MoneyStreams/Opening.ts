import { DateTime, Effect, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { StreamId, toTypeId, TransferId, type WalletId } from "#domain/Ids.ts"
import { available } from "#domain/LedgerAccount.ts"
import type { Metadata } from "#domain/Metadata.ts"
import { type Currency, formatDecimal } from "#domain/Money.ts"
import type { BufferTooLarge, MoneyStream } from "#domain/MoneyStream.ts"
import { start, startedAt } from "#domain/MoneyStream/Change.ts"
import { shownAt } from "#domain/MoneyStream/Flow.ts"
import {
  type AmountTooLarge,
  type IdempotencyKeyReused,
  InsufficientBalance,
  WalletFrozen
} from "#domain/PostingRefused.ts"
import type { Principal } from "#domain/Principal.ts"
import type { Transfer } from "#domain/Transfer.ts"
import type { Ledger } from "../Ledger.ts"
import { newId } from "../NewId.ts"
import { type Apart, endsOf } from "../Transfers/Ends.ts"
import type * as Turns from "../Turns.ts"
import type { Wallets } from "../Wallets.ts"
import { moving, opening, readKept } from "./Moving.ts"

/** A stream to be opened; amounts are micro-units, the rate in 10^-18 units a second. */
export interface Wanted {
  readonly from_wallet_id: WalletId
  readonly to_wallet_id: WalletId
  readonly currency: Currency
  readonly flow_rate: bigint
  readonly deposit: bigint
  readonly buffer: bigint
  readonly metadata: Metadata
  readonly memo: string | null
  /** Whether too little money makes a failed transfer, and not a refusal that stores nothing. */
  readonly mayFail: boolean
}

/** The new stream, unless the transfer that was to open it failed. */
export interface Opened {
  readonly stream: MoneyStream | undefined
  readonly transfer: Transfer
  readonly replayed: boolean
}

export type OpenRefused =
  | Apart
  | BufferTooLarge
  | WalletFrozen
  | InsufficientBalance
  | AmountTooLarge
  | IdempotencyKeyReused

/** Opens streams, each with a ledger account of its own. */
export const make = Effect.fnUntraced(function* (
  ledger: Ledger["Service"],
  wallets: Wallets["Service"],
  inTurn: Effect.Success<typeof Turns.make>
) {
  const sql = yield* SqlClient.SqlClient

  /** Refuses what the ledger would refuse, before an account is opened for it. */
  const checkPayer = Effect.fnUntraced(function* (id: WalletId, { deposit: amount, mayFail }: Wanted) {
    const payer = yield* Effect.orDie(ledger.account(id))
    if (payer.frozen) return yield* new WalletFrozen({ wallet_id: toTypeId("wal", id) })
    if (mayFail || available(payer) >= amount) return
    const [required, at_most] = [formatDecimal(amount), formatDecimal(available(payer))]
    return yield* new InsufficientBalance({ required, available: at_most, currency: payer.currency })
  })

  /** The stream as it would begin now. */
  const plan = Effect.fnUntraced(function* (caller: Principal, wanted: Wanted) {
    const { deposit, mayFail: _, memo: __, ...given } = wanted
    const { from, to } = yield* endsOf(wallets, caller, wanted)
    const id = yield* newId(StreamId)
    const transfer_id = yield* newId(TransferId)
    const now = yield* DateTime.nowAsDate
    const change = yield* Effect.fromResult(
      start({ id, tenant_id: caller.tenant_id, deposit, transfer_id, ...given }, now)
    )
    yield* checkPayer(from.id, wanted)
    return { change, from, id, to, transfer_id }
  })

  const openOnce = Effect.fnUntraced(function* (
    caller: Principal,
    wanted: Wanted,
    claim: IdempotencyClaim | undefined
  ): Effect.fn.Return<Opened, OpenRefused> {
    const known = claim === undefined ? Option.none() : yield* ledger.recall(claim)
    if (Option.isSome(known)) return yield* answerKept(known.value)
    const planned = yield* Effect.result(plan(caller, wanted))
    if (Result.isFailure(planned)) {
      // Another process may have opened it under the same key since we looked, with the money that is missing now.
      const since = claim === undefined ? Option.none() : yield* ledger.recall(claim)
      return yield* Option.isSome(since) ? answerKept(since.value) : Effect.fail(planned.failure)
    }
    const { change, from, id, to, transfer_id } = planned.success
    const { deposit, mayFail, memo } = wanted
    yield* sql.withTransaction(ledger.open({ id, purpose: "stream", currency: wanted.currency })).pipe(Effect.orDie)
    const setting = { caller, from, to, memo }
    const money = moving("start", transfer_id, deposit, change.stream, setting)
    const posted = yield* ledger.post(opening(change, money, claim, mayFail)).pipe(
      Effect.catchTags({
        NOT_FOUND: Effect.die,
        SAME_WALLET: Effect.die,
        CURRENCY_MISMATCH: Effect.die,
        HOLD_NOT_OPEN: Effect.die
      })
    )
    if (posted.replayed && posted.result !== undefined) {
      // Under its own id it was this very call, whose first answer was lost on the way from the database.
      return { ...(yield* answerKept(posted.result)), replayed: posted.command_id !== transfer_id }
    }
    const transfer = money.transfer(posted)
    if (transfer.status === "failed") return { stream: undefined, transfer, replayed: false }
    const { stream } = startedAt(change, posted.at)
    return { stream: shownAt(stream, posted.at), transfer, replayed: false }
  })

  const answerKept = Effect.fnUntraced(function* (result: unknown) {
    const { stream, transfer } = yield* readKept(result)
    if (transfer === null)
      return yield* Effect.die("An answer about the opening of a stream was kept without its transfer")
    return { stream: stream ?? undefined, transfer, replayed: true }
  })

  return (caller: Principal, wanted: Wanted, claim: IdempotencyClaim | undefined) => {
    const opened = openOnce(caller, wanted, claim)
    // Requests under one key wait for the first of them: each would open an account of its own.
    return claim === undefined ? opened : inTurn(`${claim.tenant_id} ${claim.operation} ${claim.key}`)(opened)
  }
})
