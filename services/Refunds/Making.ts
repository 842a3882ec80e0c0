import type { Actor } from "#domain/CallerContext.ts"
import type { Fence, Posted, Step } from "#domain/Command.ts"
import type { EventDraft } from "#domain/Event.ts"
import { type RefundId, type TenantId, toTypeId, type TransferId } from "#domain/Ids.ts"
import { moneyOf, type Refund, type Refundable, type RefundMoney, refundsScope, refundSteps } from "#domain/Refund.ts"
import type { FailureReason, Transfer } from "#domain/Transfer.ts"
import type { CompanionRow } from "../Ledger/Companion.ts"
import { remembered } from "../Transfers.ts"
import { endedEvents, insertTransfer, newTransfer, transferEvent } from "../Transfers/Records.ts"
import { refundEvent, updateTransfer, writeRefund } from "./Records.ts"

/** A refund that is wanted, or one that was kept because it could not be paid. */
export interface Wanted {
  readonly tenant_id: TenantId
  readonly of: Refundable
  readonly refund: Pick<Refund, "id" | "amount" | "reason" | "reason_details" | "dispute_id">
  /** When it was kept; a new one is as old as its command. */
  readonly created_at?: Date | undefined
}

/** What a command has to do for a refund, for whoever posts it, alone or with more. */
export interface RefundParts {
  readonly id: RefundId
  readonly steps: ReadonlyArray<Step>
  readonly fence: Fence
  readonly refund: (posted: Posted) => Refund
  readonly rows: (posted: Posted) => ReadonlyArray<CompanionRow>
  readonly events: (posted: Posted) => ReadonlyArray<EventDraft>
}

/** Pays the refund, as the transfer `id`. */
export const paying = (wanted: Wanted, id: TransferId, initiated_by: Actor): RefundParts => {
  const { of, refund, tenant_id } = wanted
  const money = moneyOf(of.transfer, refund.amount)
  const made = remembered(({ at }) => ({
    pending: pendingOf(wanted, at),
    refund: { ...pendingOf(wanted, at), status: "completed" as const, refund_transfer_id: id, completed_at: at },
    transfer: transferBack(of.transfer, money, { id, refund_id: refund.id, initiated_by, at }),
    original: {
      ...of.transfer,
      refunded_amount: of.transfer.refunded_amount + refund.amount,
      updated_at: at
    }
  }))
  return {
    id: refund.id,
    steps: refundSteps(of.transfer, money),
    fence: fenceOf(of),
    refund: (posted) => made(posted).refund,
    rows: (posted) => {
      const { original, refund, transfer } = made(posted)
      return [
        writeRefund(tenant_id, original, refund, null),
        insertTransfer(tenant_id, transfer),
        updateTransfer(original, of.version + 1n)
      ]
    },
    events: (posted) => {
      const { original, pending, refund, transfer } = made(posted)
      return [
        ...(wanted.created_at === undefined ? [refundEvent(tenant_id, "created", pending)] : []),
        ...endedEvents(tenant_id, transfer),
        refundEvent(tenant_id, "completed", refund),
        transferEvent(tenant_id, "refunded", original)
      ]
    }
  }
}

/** Keeps the refund for `due_at`, because it cannot be paid now. */
export const owing = (wanted: Wanted, due_at: (at: Date) => Date): RefundParts => ({
  id: wanted.refund.id,
  steps: [],
  fence: fenceOf(wanted.of),
  refund: ({ at }) => pendingOf(wanted, at),
  rows: ({ at }) => [
    writeRefund(wanted.tenant_id, wanted.of.transfer, pendingOf(wanted, at), due_at(at)),
    updateTransfer(wanted.of.transfer, wanted.of.version + 1n)
  ],
  events: ({ at }) => [refundEvent(wanted.tenant_id, "created", pendingOf(wanted, at))]
})

/** Gives a kept refund up. */
export const failing = (wanted: Wanted, failure_reason: FailureReason): RefundParts => {
  const failed = (at: Date): Refund => ({ ...pendingOf(wanted, at), status: "failed", failure_reason })
  return {
    id: wanted.refund.id,
    steps: [],
    fence: fenceOf(wanted.of),
    refund: ({ at }) => failed(at),
    rows: ({ at }) => [
      writeRefund(wanted.tenant_id, wanted.of.transfer, failed(at), null),
      updateTransfer(wanted.of.transfer, wanted.of.version + 1n)
    ],
    events: ({ at }) => [refundEvent(wanted.tenant_id, "failed", failed(at))]
  }
}

const fenceOf = ({ transfer, version }: Refundable): Fence => ({
  scope: refundsScope(transfer.id),
  expected: version
})

const pendingOf = ({ created_at, of: { transfer }, refund }: Wanted, at: Date): Refund => ({
  ...refund,
  transfer_id: transfer.id,
  currency: transfer.currency,
  status: "pending",
  failure_reason: null,
  refund_transfer_id: null,
  created_at: created_at ?? at,
  completed_at: null
})

const transferBack = (
  original: Transfer,
  { amount, given }: RefundMoney,
  about: {
    readonly id: TransferId
    readonly refund_id: RefundId
    readonly initiated_by: Actor
    readonly at: Date
  }
): Transfer => ({
  ...newTransfer({
    id: about.id,
    type: "internal",
    status: "completed",
    amount: given,
    currency: original.destination_currency ?? original.currency,
    from_wallet_id: original.to_wallet_id,
    to_wallet_id: original.from_wallet_id,
    from_account_id: original.to_account_id,
    to_account_id: original.from_account_id,
    protocol_metadata: {
      refund_id: toTypeId("rf", about.refund_id),
      refunded_transfer_id: toTypeId("tx", original.id)
    },
    initiated_by: about.initiated_by,
    created_at: about.at
  }),
  ...(original.destination_amount === null
    ? {}
    : { protocol: "fx", destination_amount: amount, destination_currency: original.currency })
})
