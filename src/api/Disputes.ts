import { dispute as opened } from "#domain/Examples/Records.ts"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  AlreadyDecided,
  AlreadyDisputed,
  Dispute,
  DisputeWindowExpired,
  EvidenceLimitReached,
  ResponseWindowExpired
} from "#domain/Dispute.ts"
import {
  AddEvidence,
  DisputeFilter,
  EscalateDispute,
  OpenDispute,
  ResolveDispute,
  RespondToDispute
} from "#domain/DisputeOrder.ts"
import { DisputeId } from "#domain/Ids.ts"
import { AmountTooLarge, IdempotencyKeyReused, InsufficientBalance, WalletFrozen } from "#domain/PostingRefused.ts"
import { AmountExceedsRemaining, NotRefundable } from "#domain/Refund.ts"
import { InvalidRequest, NotFound, StateTransitionInvalid } from "#domain/Refusal.ts"
import { Authorization, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { idempotencyHeaders } from "./Idempotency.ts"
import { page, pageQuery } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"
import { IdempotencyKeysDiffer } from "./Refusals.ts"
import { spellings } from "./Spelling.ts"

const params = { id: DisputeId }

const log = { type: "log", description: "Delivered on 2 January", content: "200 OK" } as const
const answered = {
  ...opened,
  status: "under_review",
  response: "The report was sent by mail",
  counter_evidence: [log],
  updated_at: "2026-01-03T03:04:05.678Z"
} as const
const write = { resource: "transfers", action: "write" } as const
const read = { resource: "transfers", action: "read" } as const

const create = HttpApiEndpoint.post("create", "/disputes", {
  headers: idempotencyHeaders,
  payload: OpenDispute,
  success: Dispute.pipe(HttpApiSchema.status(201)),
  error: problems(
    InvalidRequest,
    NotFound,
    StateTransitionInvalid,
    NotRefundable,
    DisputeWindowExpired,
    AlreadyDisputed,
    AlreadyDecided,
    AmountExceedsRemaining,
    IdempotencyKeyReused,
    IdempotencyKeysDiffer
  )
})
  .annotate(Requires, write)
  .annotateMerge(
    spellings(
      documented({
        summary: "Open a dispute",
        description:
          "Objects to a `completed` transfer within 120 days of completion. What cannot be refunded cannot be disputed: refunds, " +
          "transfers of streams, paid calls (`protocol` `x402`) and what the faucet gave are 422 `NOT_REFUNDABLE`. `amount_disputed` " +
          "is in what the payer paid, all that was not refunded yet when left out. A transfer has one unresolved dispute at a time " +
          "(409 `ALREADY_DISPUTED`), and none for a `reason` for which one was responded to and resolved with `no_refund` " +
          "(409 `DISPUTE_DECIDED`); one that ended without a response may be filed again. The filer is the payer's account, the respondent the receiver's, who has 30 days to respond " +
          "(`response_window_ends_at`); otherwise the dispute is resolved in the filer's favour, with the refund: what was asked " +
          "for, or everything disputed, less what was refunded of the transfer meanwhile. Opening moves no money. With an idempotency key the dispute is opened once in 24 hours. " +
          "`transferId`, `amountDisputed` and `requestedResolution` are accepted for the fields shown.",
        body: {
          transfer_id: opened.transfer_id,
          reason: "service_not_received",
          description: opened.description,
          amount_disputed: "2.50",
          evidence: opened.evidence,
          requested_resolution: "full_refund",
          idempotency_key: "dispute-42"
        },
        answer: opened
      }),
      {
        needed: "transfer_id",
        others: {
          transferId: "transfer_id",
          amountDisputed: "amount_disputed",
          requestedResolution: "requested_resolution"
        }
      }
    )
  )

const list = HttpApiEndpoint.get("list", "/disputes", {
  query: { ...DisputeFilter, ...pageQuery },
  success: page(Dispute)
})
  .annotate(Requires, read)
  .annotateMerge(
    documented({
      summary: "List disputes",
      description:
        "The disputes of the caller's tenant, newest first; every filter given must match. `due_soon=true` finds those whose time to " +
        "respond ends within 72 hours.",
      answer: { data: [opened], pagination: { page: 1, limit: 50, total: 1, totalPages: 1 } }
    })
  )

const get = HttpApiEndpoint.get("get", "/disputes/:id", { params, success: Dispute, error: problem(NotFound) })
  .annotate(Requires, read)
  .annotateMerge(documented({ summary: "Get a dispute", description: "The dispute as it is now.", answer: opened }))

const respond = HttpApiEndpoint.post("respond", "/disputes/:id/respond", {
  params,
  headers: idempotencyHeaders,
  payload: RespondToDispute,
  success: Dispute,
  error: problems(
    InvalidRequest,
    NotFound,
    StateTransitionInvalid,
    ResponseWindowExpired,
    IdempotencyKeyReused,
    IdempotencyKeysDiffer
  )
})
  .annotate(Requires, write)
  .annotateMerge(
    spellings(
      documented({
        summary: "Respond to a dispute",
        description:
          "The counterparty's answer to an `open` dispute, which is `under_review` from then on and no longer resolved by itself. When " +
          "`response_window_ends_at` has passed it is too late: 422 `RESPONSE_WINDOW_EXPIRED`. `counterEvidence` is accepted for " +
          "`counter_evidence`. With an idempotency key a repetition answers what the first request answered.",
        body: { response: answered.response, counter_evidence: [log], idempotency_key: "response-42" },
        answer: answered
      }),
      { others: { counterEvidence: "counter_evidence" } }
    )
  )

const evidence = HttpApiEndpoint.post("evidence", "/disputes/:id/evidence", {
  params,
  headers: idempotencyHeaders,
  payload: AddEvidence,
  success: Dispute,
  error: problems(NotFound, StateTransitionInvalid, EvidenceLimitReached, IdempotencyKeyReused, IdempotencyKeysDiffer)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Add evidence to a dispute",
      description:
        "Adds up to 20 pieces to the evidence of a dispute that is not resolved; a dispute holds 50 pieces, which are 32 KiB as JSON at " +
        "most. The respondent's counter evidence comes with the response. A piece has a type, a description, and where it is (`url`) or what it says (`content`, up " +
        "to 4,000 characters). With an idempotency key they are added once, and a repetition answers what the first request answered.",
      body: { evidence: opened.evidence, idempotency_key: "evidence-42" },
      answer: opened
    })
  )

const escalate = HttpApiEndpoint.post("escalate", "/disputes/:id/escalate", {
  params,
  headers: idempotencyHeaders,
  payload: [EscalateDispute, Schema.Null],
  success: Dispute,
  error: problems(NotFound, StateTransitionInvalid, IdempotencyKeyReused, IdempotencyKeysDiffer)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Escalate a dispute",
      description:
        "Passes a dispute that is `under_review` on to somebody else to decide: it is `escalated` from then on. The body may be left " +
        "out. With an idempotency key a repetition answers what the first request answered.",
      body: { reason: "The parties do not agree", idempotency_key: "escalation-42" },
      bodyIsOptional: true,
      answer: { ...answered, status: "escalated", escalation_reason: "The parties do not agree" }
    })
  )

const resolve = HttpApiEndpoint.post("resolve", "/disputes/:id/resolve", {
  params,
  headers: idempotencyHeaders,
  payload: ResolveDispute,
  success: Dispute,
  error: problems(
    InvalidRequest,
    NotFound,
    StateTransitionInvalid,
    NotRefundable,
    AmountExceedsRemaining,
    ResponseWindowExpired,
    InsufficientBalance,
    WalletFrozen,
    AmountTooLarge,
    IdempotencyKeyReused,
    IdempotencyKeysDiffer
  )
})
  .annotate(Requires, write)
  .annotateMerge(
    spellings(
      documented({
        summary: "Resolve a dispute",
        description:
          "Ends a dispute. `full_refund` refunds the disputed amount less what was refunded of the transfer since the dispute was " +
          "opened, and `partial_refund` `refund_amount` of that, at once and whatever the age of the transfer: `refund_id` names the " +
          "refund. When less than that, or nothing, is left to refund: 422 `AMOUNT_EXCEEDS_REMAINING`. When the respondent's wallet " +
          "has too little (422 `INSUFFICIENT_BALANCE`) or is frozen (403 `WALLET_FROZEN`) nothing happens and the dispute " +
          "stays as it was. `credit`, `no_refund` and `other` move no money. One that nobody responded to before " +
          "`response_window_ends_at` is resolved in the filer's favour and by nobody else: 422 `RESPONSE_WINDOW_EXPIRED`. With an idempotency key the dispute is resolved once, " +
          "and a repetition answers what the first request answered. `refundAmount` is accepted for `refund_amount`. " +
          "`cancel_mandate` (or `cancelMandate`) is accepted and changes nothing: disputes here have no mandates.",
        body: { resolution: "partial_refund", refund_amount: "1.50", notes: "Half of it was delivered" },
        answer: {
          ...answered,
          status: "resolved",
          resolution: "partial_refund",
          refund_id: "rf_01h455vb4pex5vsknk084sn02x",
          notes: "Half of it was delivered",
          updated_at: "2026-01-04T03:04:05.678Z",
          resolved_at: "2026-01-04T03:04:05.678Z"
        }
      }),
      { others: { refundAmount: "refund_amount", cancelMandate: "cancel_mandate" } }
    )
  )

export class DisputesApi extends HttpApiGroup.make("disputes")
  .add(create, list, get, respond, evidence, escalate, resolve)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({ title: "Disputes", description: "Objections of payers to completed transfers." })
  ) {}
