import { flow, Effect, Schema } from "effect"
import { actorOf } from "#domain/CallerContext.ts"
import type { IdempotencyClaim, Posted, Step } from "#domain/Command.ts"
import { type Change, startedAt } from "#domain/MoneyStream/Change.ts"
import { MoneyStream, type StreamState } from "#domain/MoneyStream.ts"
import type { TransferId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import { Transfer, transferOnWire } from "#domain/Transfer.ts"
import type { LedgerCommand } from "../Ledger/Group.ts"
import { once } from "../Ledger/Once.ts"
import { newUuid } from "../NewId.ts"
import * as TransferRecords from "../Transfers/Records.ts"
import { remembered } from "../Transfers.ts"
import type { KnownWallet } from "../Wallets/Known.ts"
import { alertEvent, insertStream, streamEvent, streamOnWire, updateStream } from "./Records.ts"

/** Who acts, between which wallets, and what is written beside the money. */
export interface Setting {
  readonly caller: Principal
  readonly from: KnownWallet
  readonly to: KnownWallet
  readonly memo: string | null
}

export type MoneyAction = "start" | "top_up" | "withdraw" | "cancel"

const types = {
  start: "stream_start",
  top_up: "stream_start",
  withdraw: "stream_withdraw",
  cancel: "stream_cancel"
} as const

/** One movement between a wallet and a stream, as a step of the ledger and as a transfer. */
export interface Moving {
  readonly id: TransferId
  readonly amount: bigint
  readonly step: Step
  /** The record, of when it was posted and of what came of it. */
  readonly transfer: (posted: Posted) => Transfer
}

/**
 * Transfers of a stream name both ends of the stream, although the money waits in the stream between them; what a cancelled stream
 * returns comes from no wallet.
 */
export const moving = (
  action: MoneyAction,
  id: TransferId,
  amount: bigint,
  stream: StreamState,
  { caller, from, memo, to }: Setting
): Moving => {
  const type = types[action]
  const into = action === "start" || action === "top_up"
  const between =
    action === "cancel" ? { to_wallet_id: from.id, to_account_id: from.account_id } : TransferRecords.between(from, to)
  return {
    id,
    amount,
    step: {
      kind: "transfer",
      debit: into ? from.id : stream.id,
      credit: into ? stream.id : action === "cancel" ? from.id : to.id,
      currency: stream.currency,
      amount,
      code: type
    },
    transfer: ({ at, movements, refused }) => {
      const failed = refused !== undefined || movements[0]?.kind === "refuse"
      return TransferRecords.newTransfer({
        id,
        type,
        status: failed ? "failed" : "completed",
        failure_reason: failed ? "insufficient_funds" : null,
        amount,
        currency: stream.currency,
        ...between,
        memo,
        stream_id: failed ? null : stream.id,
        initiated_by: actorOf(caller),
        protocol: "stream",
        protocol_metadata: { action },
        created_at: at
      })
    }
  }
}

/** What is kept with an idempotency key, and answered to whoever asks again. */
const kept = (stream: StreamState | undefined, now: Date, transfer: Transfer | undefined) => ({
  stream: stream === undefined ? null : streamOnWire(stream, now),
  transfer: transfer === undefined ? null : transferOnWire(transfer)
})

/** The same, read again. */
export const readKept = flow(
  Schema.decodeUnknownEffect(Schema.Struct({ stream: Schema.NullOr(MoneyStream), transfer: Schema.NullOr(Transfer) })),
  Effect.orDie
)

/**
 * The command that opens a stream with its first money, from which moment on it flows, however long that was waited for. Where it may
 * fail, too little money is an outcome and not a refusal.
 */
export const opening = (
  planned: Change,
  deposit: Moving,
  claim: IdempotencyClaim | undefined,
  mayFail: boolean
): LedgerCommand & { readonly fences?: undefined } => {
  const { tenant_id } = planned.stream
  const begun = remembered(({ at, refused }) => (refused === undefined ? startedAt(planned, at) : undefined))
  return {
    id: deposit.id,
    steps: [deposit.step],
    idempotency: claim,
    ...(mayFail ? { concedes: TransferRecords.isInsufficient } : {}),
    result: (posted) =>
      claim === undefined ? undefined : kept(begun(posted)?.stream, posted.at, deposit.transfer(posted)),
    rows: (posted) => {
      const made = begun(posted)
      return [
        TransferRecords.insertTransfer(tenant_id, deposit.transfer(posted)),
        ...(made === undefined ? [] : [insertStream(made.stream)])
      ]
    },
    events: (posted) => {
      const made = begun(posted)
      return [
        ...TransferRecords.endedEvents(tenant_id, deposit.transfer(posted)),
        ...(made === undefined ? [] : [streamEvent("started", made.stream), ...made.alerts.map(alertEvent)])
      ]
    }
  }
}

/**
 * The command that takes a stream from the version it was read at to the next, with the money that moves for it, before `until` or not
 * at all. One movement has the command's own id; several are commands of their own within it, so that each is found by the id of its
 * transfer.
 */
export const changing = (
  before: StreamState,
  change: Change,
  now: Date,
  movings: ReadonlyArray<Moving>,
  claim?: IdempotencyClaim,
  until?: Date
): { readonly command: LedgerCommand; readonly stream: StreamState } => {
  const { tenant_id } = before
  const [first] = movings
  const last = movings.at(-1)
  const only = movings.length === 1 && first !== undefined && first.amount > 0n ? first : undefined
  const id = only?.id ?? newUuid()
  const stream = { ...change.stream, changed_by: id, latest_transfer_id: last?.id ?? before.latest_transfer_id }
  const alerts = change.alerts.map((alert) => (alert.stream === change.stream ? { ...alert, stream } : alert))
  const real = movings.filter(({ amount }) => amount > 0n)
  const command: LedgerCommand = {
    id,
    steps: only === undefined ? [] : [only.step],
    ...(only === undefined && real.length > 0 ? { items: real.map(({ id, step }) => ({ id, steps: [step] })) } : {}),
    fences: [{ scope: before.id, expected: before.version, ...(until && { until }) }],
    ...(claim !== undefined
      ? { idempotency: claim, result: (posted) => kept(stream, now, last?.transfer(posted)) }
      : last === undefined && once(tenant_id, id)),
    rows: (posted) => [
      ...movings.map(({ transfer }) => TransferRecords.insertTransfer(tenant_id, transfer(posted))),
      updateStream(stream)
    ],
    events: (posted) => [
      ...movings.flatMap(({ transfer }) => TransferRecords.endedEvents(tenant_id, transfer(posted))),
      ...alerts.map(alertEvent),
      ...(stream.status === "cancelled" ? [streamEvent("ended", stream)] : [])
    ]
  }
  return { command, stream }
}
