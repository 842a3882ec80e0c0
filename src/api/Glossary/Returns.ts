import { shared } from "./Money.ts"
import type { Terms } from "./Terms.ts"

const iso = "ISO 8601 with seconds and with Z or an offset"

const refund = {
  reason: "Why money goes back; it is kept, and nothing depends on it",
  details: "Why, in words for people"
} as const

const refunds: Terms = {
  Refund: {
    transfer_id: "The transfer whose money goes back",
    amount: "What reaches the payer, in what the payer paid",
    currency: "Of `amount`: the refunded transfer's own",
    reason: `${refund.reason}. Where a dispute awarded it, what is nearest to the dispute's`,
    reason_details: `${refund.details}; null when none was given`,
    status:
      "`pending`: awarded by a dispute that nobody responded to, while the receiver's wallet could not pay; tried again " +
      "hourly for a day, then daily for 14 days. `failed`: given up then",
    failure_reason:
      "Why it could not be paid, the wallet that had received being the payer here; null unless `failed`: " +
      `${shared.failures}`,
    refund_transfer_id: "The transfer from the receiver back to the payer; null unless `completed`",
    dispute_id: "The dispute that awarded it; null where somebody made it",
    completed_at: "When the money was back; null until then, and for good when it `failed`"
  },
  "refunds.create": {
    transfer_id: "A `completed` transfer whose money is to go back, within 90 days of its completion",
    amount: "What is to reach the payer, in what the payer paid; all that is left of the transfer when left out",
    reason: refund.reason,
    reason_details: `${refund.details}; none when null or left out`
  },
  "refunds.list": {
    status: "Only refunds of this status",
    transfer_id: "Only refunds of this transfer",
    account_id: "Only refunds of transfers that wallets of this account, or of its agents, paid or received",
    created_after: `Only refunds made then or later; ${iso}`,
    created_before: `Only refunds made earlier than that; ${iso}`
  }
}

const dispute = {
  reason:
    "What the objection is. The same reason cannot be given again once a dispute for it was responded to and resolved with `no_refund`",
  description: "What happened, in the filer's words",
  evidence: "What speaks for the filer",
  counter: "What speaks for the respondent",
  limit: "at most 50 pieces and 32 KiB as JSON in all",
  requested:
    "What the filer asks for. If nobody responds, `no_refund` is granted; all else is a refund of what is disputed and was not refunded meanwhile",
  resolution: "`full_refund` and `partial_refund` make a refund; `credit`, `no_refund` and `other` move no money"
} as const

const disputes: Terms = {
  Dispute: {
    transfer_id: "The transfer that is objected to",
    status:
      "`open`: waits for the respondent until `response_window_ends_at`. `under_review`: responded to. `escalated`: passed on " +
      "to somebody else to decide. `resolved`: ended, by `resolution`",
    reason: dispute.reason,
    description: dispute.description,
    amount_disputed: "How much of the transfer it is about, in what the payer paid",
    currency: "Of `amount_disputed`: the transfer's own",
    filed_by: "Who opened it",
    filer_account_id: "The account that paid; for an agent's wallet the one that the agent belongs to",
    respondent_account_id:
      "The account that received, and is to respond; for an agent's wallet the one that the agent belongs to",
    requested_resolution: `${dispute.requested}. Null when nothing was asked for`,
    evidence: `${dispute.evidence}; ${dispute.limit}`,
    response: "The respondent's answer; null until there is one",
    counter_evidence: `${dispute.counter}; empty until there is a response`,
    escalation_reason: "Why it was escalated; null where it was not, or nothing was said",
    response_window_ends_at:
      "Until when the respondent may answer, 30 days after it was opened; unanswered, it is resolved in the filer's favour",
    resolution: `How it ended; null until then. ${dispute.resolution}`,
    refund_id: "The refund that the resolution made; null until then, and where it made none",
    notes: "What whoever resolved it said, or that nobody answered in time; null otherwise",
    resolved_at: "When it was resolved; null until then"
  },
  DisputeEvidence: {
    type: "What kind of thing it is, in the sender's words, such as `receipt` or `log`",
    description: "What it shows",
    url: "Where it is; not fetched by us",
    content: "What it says, as text"
  },
  "disputes.create": {
    transfer_id: "A `completed` transfer to object to, within 120 days of its completion",
    reason: dispute.reason,
    description: dispute.description,
    amount_disputed: "How much it is about, in what the payer paid; all that was not refunded yet when left out",
    evidence: `${dispute.evidence}, at most 32 KiB as JSON; more may be added later`,
    requested_resolution: `${dispute.requested}. Left out: a refund`
  },
  "disputes.list": {
    status: "Only disputes of this status",
    transfer_id: "Only disputes of this transfer",
    due_soon: "`true`: only `open` disputes whose time to respond ends within 72 hours. `false` is as if left out"
  },
  "disputes.respond": {
    response: "The respondent's answer; there is one only",
    counter_evidence: `${dispute.counter}, at most 32 KiB as JSON; none when left out, and none can be added later`
  },
  "disputes.evidence": { evidence: `What else speaks for the filer; with what there is ${dispute.limit}` },
  "disputes.escalate": { reason: "Why, for people; none when null or left out" },
  "disputes.resolve": {
    resolution: `How it ends. ${dispute.resolution}`,
    refund_amount:
      "What is refunded of the disputed amount, in what the payer paid. Needed for `partial_refund`, and taken by no other",
    cancel_mandate: "Taken, and changes nothing: there are no mandates here",
    notes: "What to say about it, for people; none when null or left out"
  }
}

/** Of refunds and disputes. */
export const returns: Terms = { ...refunds, ...disputes }
