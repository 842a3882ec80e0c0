import { refund } from "#domain/Examples/Records.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { RefundId } from "#domain/Ids.ts"
import { AmountTooLarge, IdempotencyKeyReused, InsufficientBalance, WalletFrozen } from "#domain/PostingRefused.ts"
import {
  AmountExceedsRemaining,
  CreateRefund,
  NotRefundable,
  Refund,
  RefundFilter,
  RefundWindowExpired
} from "#domain/Refund.ts"
import { InvalidRequest, NotFound, StateTransitionInvalid } from "#domain/Refusal.ts"
import { Authorization, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { idempotencyHeaders } from "./Idempotency.ts"
import { cursorPage, cursorQuery } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"
import { IdempotencyKeysDiffer } from "./Refusals.ts"
import { spellings } from "./Spelling.ts"

const params = { id: RefundId }

const create = HttpApiEndpoint.post("create", "/refunds", {
  headers: idempotencyHeaders,
  payload: CreateRefund,
  success: Refund.pipe(HttpApiSchema.status(201)),
  error: problems(
    InvalidRequest,
    NotFound,
    StateTransitionInvalid,
    NotRefundable,
    RefundWindowExpired,
    AmountExceedsRemaining,
    InsufficientBalance,
    WalletFrozen,
    AmountTooLarge,
    IdempotencyKeyReused,
    IdempotencyKeysDiffer
  )
})
  .annotate(Requires, { resource: "transfers", action: "write" })
  .annotateMerge(
    spellings(
      documented({
        summary: "Refund a transfer",
        description:
          "Gives money of a `completed` transfer back to its payer, all that is left of it when `amount` is left out. `amount` is in " +
          "what the payer paid. Any number of refunds may be made within 90 days of completion, together never more than the " +
          "transfer. The receiver's wallet must hold the money: 422 `INSUFFICIENT_BALANCE` otherwise, and nothing is stored. The " +
          "money moves at once, as a new transfer from the receiver to the payer (`refund_transfer_id`); the refunded transfer stays " +
          "`completed` and shows `refunded_amount`. A `cross_border` transfer goes back at its own rate, its fee in proportion, so " +
          "that refunds of all of it reverse it exactly. Refunds, transfers of streams, paid calls (`protocol` `x402`) and what the " +
          "faucet gave cannot be refunded: 422 `NOT_REFUNDABLE` with the `reason`. With an idempotency key the refund is made once in " +
          "24 hours: a repetition answers what the first request answered, with `Idempotency-Replayed: true`. `originalTransferId` and " +
          "`reasonDetails` are accepted for `transfer_id` and `reason_details`.",
        body: {
          transfer_id: refund.transfer_id,
          amount: "2.50",
          reason: "customer_request",
          reason_details: "Ordered twice",
          idempotency_key: "refund-42"
        },
        answer: refund
      }),
      {
        needed: "transfer_id",
        others: { originalTransferId: "transfer_id", reasonDetails: "reason_details" }
      }
    )
  )

const list = HttpApiEndpoint.get("list", "/refunds", {
  query: { ...RefundFilter, ...cursorQuery(RefundId) },
  success: cursorPage(Refund, RefundId)
})
  .annotate(Requires, { resource: "transfers", action: "read" })
  .annotateMerge(
    documented({
      summary: "List refunds",
      description:
        "The refunds of the caller's tenant, newest first; every filter given must match. `account_id` finds refunds of transfers that " +
        "the account's wallets sent or received. `created_after` is inclusive, `created_before` is not. Pass `next_cursor` as " +
        "`cursor` to read on; it is null at the end.",
      answer: { data: [refund], pagination: { limit: 50, next_cursor: null } }
    })
  )

const get = HttpApiEndpoint.get("get", "/refunds/:id", { params, success: Refund, error: problem(NotFound) })
  .annotate(Requires, { resource: "transfers", action: "read" })
  .annotateMerge(
    documented({
      summary: "Get a refund",
      description:
        "The refund as it is now. `pending` is only what an unanswered dispute awarded while the receiver had too little or was " +
        "frozen: it is tried again hourly for a day, then daily for 14 days, and then `failed` with its `failure_reason`.",
      answer: refund
    })
  )

export class RefundsApi extends HttpApiGroup.make("refunds")
  .add(create, list, get)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({ title: "Refunds", description: "Money of completed transfers, back to whoever paid it." })
  ) {}
