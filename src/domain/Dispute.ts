import { DateTime, type Duration, Result, Schema } from "effect"
import { Moment } from "./Instant.ts"
import { Actor } from "./CallerContext.ts"
import { Evidence, evidenceLimits, isTooMuch } from "./DisputeEvidence.ts"
import { AccountId, DisputeId, RefundId, toTypeId, TransferId } from "./Ids.ts"
import { Currency, Micros } from "./Money.ts"
import {
  type AmountExceedsRemaining,
  amountOf,
  endOf,
  type NotRefundable,
  type Refundable,
  whyFixed
} from "./Refund.ts"
import { StateTransitionInvalid } from "./Refusal.ts"
import type { Transfer } from "./Transfer.ts"
import { uuidFrom } from "./Uuid.ts"

export const DisputeStatus = Schema.Literals(["open", "under_review", "escalated", "resolved"])
export type DisputeStatus = typeof DisputeStatus.Type

export const DisputeReason = Schema.Literals([
  "service_not_received",
  "duplicate_charge",
  "unauthorized",
  "amount_incorrect",
  "quality_issue",
  "other"
])
export type DisputeReason = typeof DisputeReason.Type

/** What a dispute ends with. Only the first two move money here. */
export const Resolution = Schema.Literals(["full_refund", "partial_refund", "credit", "no_refund", "other"]).annotate({
  identifier: "DisputeResolution"
})
export type Resolution = typeof Resolution.Type

/** A payer's objection to a completed transfer. The amount is in what the payer paid. */
export const Dispute = Schema.Struct({
  id: DisputeId,
  transfer_id: TransferId,
  status: DisputeStatus,
  reason: DisputeReason,
  description: Schema.String,
  amount_disputed: Micros,
  currency: Currency,
  filed_by: Actor,
  filer_account_id: Schema.NullOr(AccountId),
  respondent_account_id: Schema.NullOr(AccountId),
  requested_resolution: Schema.NullOr(Resolution),
  evidence: Schema.Array(Evidence),
  response: Schema.NullOr(Schema.String),
  counter_evidence: Schema.Array(Evidence),
  escalation_reason: Schema.NullOr(Schema.String),
  response_window_ends_at: Moment,
  resolution: Schema.NullOr(Resolution),
  refund_id: Schema.NullOr(RefundId),
  notes: Schema.NullOr(Schema.String),
  created_at: Moment,
  updated_at: Moment,
  resolved_at: Schema.NullOr(Moment)
}).annotate({ identifier: "Dispute" })
export type Dispute = typeof Dispute.Type

export const disputeOnWire = Schema.encodeSync(Dispute)

export class DisputeWindowExpired extends Schema.TaggedError<DisputeWindowExpired>()(
  "DISPUTE_WINDOW_EXPIRED",
  { ended_at: Schema.String },
  { httpApiStatus: 422, title: "The transfer completed too long ago to be disputed" }
) {}

export class ResponseWindowExpired extends Schema.TaggedError<ResponseWindowExpired>()(
  "RESPONSE_WINDOW_EXPIRED",
  { ended_at: Schema.String },
  { httpApiStatus: 422, title: "The time to answer this dispute is over: it is resolved in the filer's favour" }
) {}

export class AlreadyDisputed extends Schema.TaggedError<AlreadyDisputed>()(
  "ALREADY_DISPUTED",
  { transfer_id: Schema.String },
  { httpApiStatus: 409, title: "The transfer has a dispute that is not resolved yet" }
) {}

export class AlreadyDecided extends Schema.TaggedError<AlreadyDecided>()(
  "DISPUTE_DECIDED",
  { transfer_id: Schema.String, reason: DisputeReason },
  { httpApiStatus: 409, title: "A dispute of the transfer for this reason was answered, and decided against the payer" }
) {}

export class EvidenceLimitReached extends Schema.TaggedError<EvidenceLimitReached>()(
  "EVIDENCE_LIMIT_REACHED",
  { limit: Schema.Int, bytes: Schema.Int },
  { httpApiStatus: 422, title: "The dispute has as much evidence as it can hold" }
) {}

/** Why a transfer cannot be disputed. */
export type NotDisputable =
  | StateTransitionInvalid
  | NotRefundable
  | DisputeWindowExpired
  | AlreadyDisputed
  | AlreadyDecided
  | AmountExceedsRemaining

/** What may happen to a dispute. */
export type DisputeTrigger = "responded" | "supplemented" | "escalated" | "resolved"

/** Every transition there is; what is not here cannot happen. */
const transitions: Readonly<Record<DisputeStatus, Partial<Record<DisputeTrigger, DisputeStatus>>>> = {
  open: { responded: "under_review", supplemented: "open", resolved: "resolved" },
  under_review: { supplemented: "under_review", escalated: "escalated", resolved: "resolved" },
  escalated: { supplemented: "escalated", resolved: "resolved" },
  resolved: {}
}

/** What a refusal says the dispute should have become. */
const wanted: Readonly<Record<DisputeTrigger, string>> = {
  responded: "under_review",
  supplemented: "supplemented",
  escalated: "escalated",
  resolved: "resolved"
}

/** The status after `trigger`; undefined when it cannot happen in this one. */
export const statusAfter = (status: DisputeStatus, trigger: DisputeTrigger): DisputeStatus | undefined =>
  transitions[status][trigger]

/** What becomes of some fields of a dispute. */
export type Change = Partial<Omit<Dispute, "id" | "created_at" | "updated_at" | "resolved_at">>

export const changed = (
  { status }: Dispute,
  trigger: DisputeTrigger,
  change: Change
): Result.Result<Change, StateTransitionInvalid> => {
  const after = statusAfter(status, trigger)
  return after === undefined
    ? Result.fail(new StateTransitionInvalid({ resource: "dispute", from: status, to: wanted[trigger] }))
    : Result.succeed({ ...change, status: after })
}

/** A transfer with everything that decides about disputes of it. */
export interface Disputable extends Refundable {
  /** How many disputes it ever had: the version of whether it may have another. */
  readonly disputes: bigint
  readonly disputed: boolean
  /** For what reasons there was one that the receiver answered, and that ended without a refund all the same. */
  readonly decided: ReadonlyArray<DisputeReason>
}

/** The transfer of a dispute with everything that decides how much of it may come back by that dispute. */
export interface Disputed extends Refundable {
  /** What was refunded, or promised, since the dispute was filed, in micro-units. */
  readonly since: bigint
}

/** The fence of everybody who opens a dispute of a transfer. */
export const disputesScope = (transfer: TransferId): string => uuidFrom(`disputes ${transfer}`)

/**
 * The whole rule for a dispute that is to be opened; how much it is about. A receiver who has won does not have to answer the same
 * again. What ended without an answer was withdrawn, or nobody came in time, and decides nothing.
 */
export const judgeDispute = (
  of: Disputable,
  { amount_disputed: asked, reason }: Pick<Dispute, "reason"> & { readonly amount_disputed: bigint | undefined },
  now: Date,
  window: Duration.Duration
): Result.Result<bigint, NotDisputable> => {
  const { transfer } = of
  const transfer_id = toTypeId("tx", transfer.id)
  if (transfer.status !== "completed") {
    return Result.fail(new StateTransitionInvalid({ resource: "transfer", from: transfer.status, to: "disputed" }))
  }
  // A dispute that nobody answers is resolved by a refund, so there must be one to make.
  const fixed = whyFixed(of)
  if (fixed !== undefined) return Result.fail(fixed)
  const ended = ifOver(transfer, now, window)
  if (ended !== undefined) return Result.fail(new DisputeWindowExpired({ ended_at: ended }))
  if (of.disputed) return Result.fail(new AlreadyDisputed({ transfer_id }))
  if (of.decided.includes(reason)) return Result.fail(new AlreadyDecided({ transfer_id, reason }))
  return amountOf(of, asked)
}

const ifOver = (transfer: Transfer, now: Date, window: Duration.Duration): string | undefined => {
  const end = endOf(transfer, window)
  return now.getTime() > end ? DateTime.formatIso(DateTime.makeUnsafe(end)) : undefined
}

/** The counterparty answers. From the moment the window ends it is too late, whether or not anybody has resolved the dispute yet. */
export const respond = (
  dispute: Dispute,
  { counter_evidence, response }: { readonly response: string; readonly counter_evidence: ReadonlyArray<Evidence> },
  now: Date
): Result.Result<Change, StateTransitionInvalid | ResponseWindowExpired> => {
  const late = tooLate(dispute, now)
  return late === undefined ? changed(dispute, "responded", { response, counter_evidence }) : Result.fail(late)
}

/** When it is too late to answer a dispute that nobody has answered, or to decide it; undefined once somebody has. */
export const windowEnd = ({ response_window_ends_at, status }: Dispute): Date | undefined =>
  status === "open" ? response_window_ends_at : undefined

/** Nobody has answered in time: the dispute is resolved in the filer's favour, as soon as somebody comes to it. */
export const tooLate = (dispute: Dispute, now: Date) => {
  const end = windowEnd(dispute)
  return end !== undefined && now >= end ? new ResponseWindowExpired({ ended_at: end.toISOString() }) : undefined
}

export const supplement = (
  dispute: Dispute,
  evidence: ReadonlyArray<Evidence>
): Result.Result<Change, StateTransitionInvalid | EvidenceLimitReached> => {
  const all = [...dispute.evidence, ...evidence]
  const after = changed(dispute, "supplemented", { evidence: all })
  return Result.isSuccess(after) && isTooMuch(all)
    ? Result.fail(new EvidenceLimitReached({ limit: evidenceLimits.side, bytes: evidenceLimits.bytes }))
    : after
}

export const escalate = (dispute: Dispute, reason: string | null): Result.Result<Change, StateTransitionInvalid> =>
  changed(dispute, "escalated", { escalation_reason: reason })
