import { DateTime, Schema } from "effect"
import type { Step } from "./Command.ts"
import { QuoteId, TenantId, toTypeId, WalletId } from "./Ids.ts"
import { systemAccount } from "./LedgerAccount.ts"
import { Currency, Micros } from "./Money.ts"
import { Network } from "./Network.ts"
import { flat } from "./Price.ts"
import { type FailureReason, Transfer, type TransferStatus } from "./Transfer.ts"

/**
 * Where a settlement stands. `submitting`: the rail is asked for the first time. `submitted`: the rail has it. `unknown`: nobody knows
 * whether the rail has it. `unresolved`: asked about for too long, and left to the operator.
 */
export const SettlementState = Schema.Literals([
  "pending",
  "submitting",
  "submitted",
  "unknown",
  "unresolved",
  "completed",
  "failed",
  "cancelled"
])
export type SettlementState = typeof SettlementState.Type

/** Not known yet; `again_at` is when the rail expects to know. */
export interface Pending {
  readonly _tag: "Pending"
  readonly again_at?: Date | undefined
}
/** The money arrived. */
export interface Completed {
  readonly _tag: "Completed"
  /** What the rail calls it. */
  readonly rail_reference: string
}
/** No money moved by this settlement, and none ever will. */
export interface Rejected {
  readonly _tag: "Rejected"
  readonly reason: FailureReason
}
export type Outcome = Pending | Completed | Rejected

/** `taken`: it is about to be submitted. `unanswered`: the rail was asked, and nothing was learned. */
export type SettlementEvent =
  | "taken"
  | "cancelled"
  | "sent"
  | "unanswered"
  | "settled"
  | "rejected"
  | "given_up"
  | "resumed"

const answers = { settled: "completed", rejected: "failed", given_up: "unresolved" } as const
const transitions: Readonly<Record<SettlementState, Partial<Record<SettlementEvent, SettlementState>>>> = {
  pending: { taken: "submitting", cancelled: "cancelled" },
  submitting: { ...answers, sent: "submitted", unanswered: "unknown" },
  // What the rail once had it has, although it does not answer now.
  submitted: { ...answers, sent: "submitted", unanswered: "submitted" },
  unknown: { ...answers, sent: "submitted", unanswered: "unknown" },
  unresolved: { settled: "completed", rejected: "failed", resumed: "unknown" },
  completed: {},
  failed: {},
  cancelled: {}
}

/** The state after the event; undefined when it cannot happen in this one, or changes nothing any more. */
export const stateAfter = (state: SettlementState, event: SettlementEvent): SettlementState | undefined =>
  transitions[state][event]

/** What the transfer of a settlement in this state says. */
export const transferStatusOf = (state: SettlementState): TransferStatus => {
  switch (state) {
    case "pending":
    case "completed":
    case "failed":
    case "cancelled":
      return state
    default:
      return "processing"
  }
}

/** What an answer of the rail is to a settlement; undefined is no answer. */
export const eventOf = (outcome: Outcome | undefined): SettlementEvent => {
  switch (outcome?._tag) {
    case "Completed":
      return "settled"
    case "Rejected":
      return "rejected"
    case "Pending":
      return "sent"
    case undefined:
      return "unanswered"
  }
}

/** States of a settlement that was begun and has not ended. */
export const underWay: ReadonlyArray<SettlementState> = ["submitting", "submitted", "unknown", "unresolved"]

/** What a rail is told of a settlement. Amounts are micro-units; `fee` is the part of `send_amount` that stays here. */
export interface SettlementOrder {
  /** One reference is settled once, however often it is submitted. */
  readonly reference: string
  readonly quote_id: QuoteId
  readonly from: End
  readonly to: End
  readonly send_amount: bigint
  readonly fee: bigint
  readonly receive_amount: bigint
  readonly memo: string | null
  readonly created_at: Date
}
export interface End {
  readonly wallet_id: WalletId
  readonly currency: Currency
  readonly network: Network
  readonly address: string
}

const Row = Schema.Struct({
  ...Transfer.fields,
  from_wallet_id: WalletId,
  to_wallet_id: WalletId,
  quote_id: QuoteId,
  destination_amount: Micros,
  destination_currency: Currency,
  tenant_id: TenantId,
  version: Schema.BigInt,
  state: SettlementState,
  attempts: Schema.Int,
  unanswered: Schema.Int,
  due_at: Schema.DateFromString,
  give_up_at: Schema.NullOr(Schema.DateFromString),
  from_network: Network,
  from_address: Schema.String,
  to_network: Network,
  to_address: Schema.String
})
/**
 * A transfer with where its settlement stands. `attempts`: how often it was taken, which also tells its leases apart. `unanswered`:
 * how often in a row the rail gave no answer.
 */
export const Settlement = Schema.toType(Row)
export type Settlement = typeof Settlement.Type

/** What the rail is told. */
export const orderOf = (settlement: Settlement): SettlementOrder => ({
  reference: toTypeId("tx", settlement.id),
  quote_id: settlement.quote_id,
  from: {
    wallet_id: settlement.from_wallet_id,
    currency: settlement.currency,
    network: settlement.from_network,
    address: settlement.from_address
  },
  to: {
    wallet_id: settlement.to_wallet_id,
    currency: settlement.destination_currency,
    network: settlement.to_network,
    address: settlement.to_address
  },
  send_amount: settlement.amount,
  fee: settlement.fee,
  receive_amount: settlement.destination_amount,
  memo: settlement.memo,
  created_at: settlement.created_at
})

interface Promised {
  readonly id: string
  readonly from_wallet_id: string
  readonly currency: Currency
}
/** Money that its payer has promised to the books of foreign exchange until the settlement ends. */
const held = ({ currency, from_wallet_id, id }: Promised) => ({
  hold: id,
  debit: from_wallet_id,
  credit: systemAccount("fx", currency),
  currency,
  code: "cross_border"
})

/** Reserves what is sent, under the transfer's own id. The hold ends with the settlement, and not by itself. */
export const holding = (transfer: Promised & { readonly amount: bigint }): ReadonlyArray<Step> => [
  { kind: "hold", ...held(transfer), price: flat(transfer.amount), expires_at: endless }
]
/** No settlement is open for so long: the ledger itself releases what has expired. */
const endless = DateTime.toDate(DateTime.makeUnsafe("9999-01-01T00:00:00Z"))

/**
 * What settles: the payer's money leaves over the rail in one currency and comes back in the other, through the books of foreign
 * exchange, which are as empty afterwards as before.
 */
export const settling = (settlement: Settlement): ReadonlyArray<Step> => {
  const { amount, currency, destination_amount, destination_currency, fee, to_wallet_id } = settlement
  const move = (currency: Currency, debit: string, credit: string, amount: bigint, code = "cross_border"): Step => ({
    kind: "transfer",
    debit,
    credit,
    currency,
    amount,
    code
  })
  const [fx, fxThere] = [systemAccount("fx", currency), systemAccount("fx", destination_currency)]
  return [
    { kind: "capture", ...held(settlement) },
    ...(fee === 0n ? [] : [move(currency, fx, systemAccount("fees", currency), fee, "fee")]),
    move(currency, fx, systemAccount("issuance", currency), amount - fee),
    move(destination_currency, systemAccount("issuance", destination_currency), fxThere, destination_amount),
    move(destination_currency, fxThere, to_wallet_id, destination_amount)
  ]
}

/** Gives the payer back what was reserved. */
export const releasing = (settlement: Promised): ReadonlyArray<Step> => [
  { kind: "release", ...held(settlement), as: "released" }
]

/** The order has no rail here to be settled over. */
export class CrossBorderUnavailable extends Schema.TaggedError<CrossBorderUnavailable>()(
  "CROSS_BORDER_UNAVAILABLE",
  {},
  { httpApiStatus: 422, title: "This server has no settlement rail, so it makes no cross_border transfers" }
) {}

/** The transfer says something else than its quote. */
export class QuoteMismatch extends Schema.TaggedError<QuoteMismatch>()(
  "QUOTE_MISMATCH",
  { field: Schema.Literals(["amount", "currency"]), quoted: Schema.String, given: Schema.String },
  { httpApiStatus: 422, title: "The transfer contradicts its quote; leave out amount and currency, the quote has them" }
) {}
