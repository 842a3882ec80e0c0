import { Result } from "effect"
import {
  changed,
  type Change,
  type Dispute,
  type DisputeReason,
  type Disputed,
  type Resolution,
  type ResponseWindowExpired,
  tooLate
} from "./Dispute.ts"
import { StateTransitionInvalid } from "./Refusal.ts"
import {
  type AmountExceedsRemaining,
  exceeds,
  type NotRefundable,
  type RefundReason,
  remainingOf,
  whyFixed
} from "./Refund.ts"

/** Why a dispute cannot end so. */
export type NotResolvable = StateTransitionInvalid | NotRefundable | AmountExceedsRemaining

/** Why nobody may end a dispute so. */
export type NotDecidable = NotResolvable | ResponseWindowExpired

/** How somebody decides a dispute; `refund_amount` is there for a partial refund and for nothing else. */
export interface Verdict {
  readonly resolution: Resolution
  readonly refund_amount: bigint | undefined
  readonly notes: string | null
}

/** A dispute that ends, and the refund that goes with it, in micro-units. */
export interface Resolved {
  readonly change: Change
  readonly refund: bigint | undefined
}

/** Ends a dispute as somebody decides, which nobody does any more when the time to answer is over and nobody has. */
export const decide = (
  dispute: Dispute,
  verdict: Verdict,
  of: Disputed,
  now: Date
): Result.Result<Resolved, NotDecidable> => {
  const late = tooLate(dispute, now)
  return late === undefined ? resolve(dispute, verdict, of) : Result.fail(late)
}

/**
 * Ends a dispute. A full refund is of everything that is disputed and was not refunded since, as far as it is left of the transfer; a
 * partial one may not be of more.
 */
export const resolve = (
  dispute: Dispute,
  { notes, refund_amount, resolution }: Verdict,
  of: Disputed
): Result.Result<Resolved, NotResolvable> => {
  const change = changed(dispute, "resolved", { resolution, notes })
  if (Result.isFailure(change)) return Result.fail(change.failure)
  if (resolution !== "full_refund" && resolution !== "partial_refund") {
    return Result.succeed({ change: change.success, refund: undefined })
  }
  const fixed = whyFixed(of)
  if (fixed !== undefined) return Result.fail(fixed)
  const most = awardable(dispute, of)
  const refund = resolution === "full_refund" ? most : (refund_amount ?? most)
  return most <= 0n || refund > most
    ? Result.fail(exceeds(most, dispute.currency))
    : Result.succeed({ change: change.success, refund })
}

/**
 * Ends a dispute that nobody answered in time in the filer's favour: by what was asked for, or by everything that is disputed. Where as
 * much has come back meanwhile there is nothing left to refund.
 */
export const resolveByDefault = (dispute: Dispute, of: Disputed): Result.Result<Resolved, NotResolvable> => {
  if (dispute.status !== "open") {
    return Result.fail(new StateTransitionInvalid({ resource: "dispute", from: dispute.status, to: "resolved" }))
  }
  const verdict = (resolution: Resolution, notes: string) =>
    resolve(dispute, { resolution, refund_amount: undefined, notes }, of)
  const { requested_resolution: requested } = dispute
  if (requested === "no_refund") return verdict("no_refund", "Not answered in time; no refund was requested.")
  return awardable(dispute, of) > 0n
    ? verdict(requested === "partial_refund" ? "partial_refund" : "full_refund", "Not answered in time.")
    : verdict("no_refund", "Not answered in time; what is disputed had been refunded before.")
}

const awardable = ({ amount_disputed }: Dispute, of: Disputed): bigint => {
  const remaining = remainingOf(of)
  const owed = amount_disputed - of.since
  const most = remaining < owed ? remaining : owed
  return most > 0n ? most : 0n
}

/** What a refund that a dispute awards is said to be for. */
export const refundReasonOf: Readonly<Record<DisputeReason, RefundReason>> = {
  service_not_received: "service_not_rendered",
  duplicate_charge: "duplicate_payment",
  unauthorized: "other",
  amount_incorrect: "error",
  quality_issue: "other",
  other: "other"
}
