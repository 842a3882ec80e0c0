import { Result, Schema } from "effect"
import { DisputeReason, DisputeStatus, Resolution } from "./Dispute.ts"
import type { Verdict } from "./DisputeEnd.ts"
import { Evidence, evidenceLimits, isTooMuch } from "./DisputeEvidence.ts"
import { TransferId } from "./Ids.ts"
import { Amount } from "./Money.ts"
import { InvalidRequest } from "./Refusal.ts"
import { either, eitherNeeded } from "./Spelling.ts"
import { filled, IdempotencyKey, text } from "./Text.ts"

const Filled = (longest: number) => filled(longest, { expected: "text that is not blank" })
const SomeEvidence = Schema.Array(Evidence).check(
  Schema.isMaxLength(evidenceLimits.request),
  Schema.makeFilter((evidence) => (isTooMuch(evidence) ? "must be at most 32 KiB as JSON" : undefined))
)
const optional = {
  amount: Schema.optionalKey(Amount),
  resolution: Schema.optionalKey(Resolution),
  flag: Schema.optionalKey(Schema.Boolean)
}

/** A dispute as it is asked for. Here and below the camel-case fields are other spellings of their neighbours. */
export const OpenDispute = Schema.Struct({
  transfer_id: Schema.optionalKey(TransferId),
  transferId: Schema.optionalKey(TransferId),
  reason: DisputeReason,
  description: Filled(2000),
  amount_disputed: optional.amount,
  amountDisputed: optional.amount,
  evidence: Schema.optionalKey(SomeEvidence),
  requested_resolution: optional.resolution,
  requestedResolution: optional.resolution,
  idempotency_key: Schema.optionalKey(IdempotencyKey)
})
export type OpenDispute = typeof OpenDispute.Type

/** A dispute to open: of everything that is left where there is no amount. */
export interface DisputeOrder {
  readonly transfer_id: TransferId
  readonly reason: DisputeReason
  readonly description: string
  readonly amount_disputed: bigint | undefined
  readonly evidence: ReadonlyArray<Evidence>
  readonly requested_resolution: Resolution | null
}

export const disputeOrderOf = (body: OpenDispute) =>
  Result.gen(function* () {
    const { amountDisputed, amount_disputed, description, evidence = [], reason } = body
    const { requestedResolution, requested_resolution, transferId, transfer_id } = body
    const requested = either(
      ["requested_resolution", requested_resolution],
      ["requestedResolution", requestedResolution]
    )
    const order: DisputeOrder = {
      transfer_id: yield* eitherNeeded(["transfer_id", transfer_id], ["transferId", transferId]),
      reason,
      description,
      amount_disputed: yield* either(["amount_disputed", amount_disputed], ["amountDisputed", amountDisputed]),
      evidence,
      requested_resolution: (yield* requested) ?? null
    }
    return order
  })

export const RespondToDispute = Schema.Struct({
  response: Filled(2000),
  counter_evidence: Schema.optionalKey(SomeEvidence),
  counterEvidence: Schema.optionalKey(SomeEvidence),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
})
export type RespondToDispute = typeof RespondToDispute.Type

export const responseOf = ({ counterEvidence, counter_evidence, response }: RespondToDispute) =>
  Result.map(either(["counter_evidence", counter_evidence], ["counterEvidence", counterEvidence]), (evidence = []) => ({
    response,
    counter_evidence: evidence
  }))

export const AddEvidence = Schema.Struct({
  evidence: SomeEvidence.check(Schema.isMinLength(1)),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
})

export const EscalateDispute = Schema.Struct({
  reason: Schema.optionalKey(Schema.NullOr(text(1000))),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
})

/** `cancel_mandate` is taken because others have it: there are no mandates here that it could cancel. */
export const ResolveDispute = Schema.Struct({
  resolution: Resolution,
  refund_amount: optional.amount,
  refundAmount: optional.amount,
  cancel_mandate: optional.flag,
  cancelMandate: optional.flag,
  notes: Schema.optionalKey(Schema.NullOr(text(1000))),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
})
export type ResolveDispute = typeof ResolveDispute.Type

/** The verdict, or what contradicts itself in it: an amount belongs to a partial refund and to nothing else. */
export const verdictOf = (body: ResolveDispute) =>
  Result.gen(function* () {
    const { cancelMandate, cancel_mandate, notes = null, refundAmount, refund_amount, resolution } = body
    const amount = yield* either(["refund_amount", refund_amount], ["refundAmount", refundAmount])
    yield* either(["cancel_mandate", cancel_mandate], ["cancelMandate", cancelMandate])
    const isPart = resolution === "partial_refund"
    if ((amount !== undefined) !== isPart) {
      const message = isPart ? "is needed for a partial_refund" : `does not belong to ${resolution}`
      return yield* Result.fail(new InvalidRequest({ errors: [{ path: "refund_amount", message }] }))
    }
    const verdict: Verdict = { resolution, refund_amount: amount, notes }
    return verdict
  })

/** What narrows a list of disputes; every field given must match. */
export const DisputeFilter = {
  status: Schema.optionalKey(DisputeStatus),
  transfer_id: Schema.optionalKey(TransferId),
  due_soon: Schema.optionalKey(Schema.Literals(["true", "false"]))
}
export type DisputeFilter = Schema.Struct.Type<typeof DisputeFilter>
