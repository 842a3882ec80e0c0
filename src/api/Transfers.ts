import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { TransferId } from "#domain/Ids.ts"
import {
  AmountTooLarge,
  CurrencyMismatch,
  IdempotencyKeyReused,
  SameWallet,
  WalletFrozen
} from "#domain/PostingRefused.ts"
import { InvalidRequest, NotFound, StateTransitionInvalid } from "#domain/Refusal.ts"
import { NetworkMismatch, Transfer, TransferFilter } from "#domain/Transfer.ts"
import { CreateTransfer } from "#domain/TransferOrder.ts"
import { Authorization, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { idempotencyHeaders } from "./Idempotency.ts"
import { cursorPage, cursorQuery } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"
import { IdempotencyKeysDiffer } from "./Refusals.ts"

const params = { id: TransferId }

/** A transfer for examples. */
export const transfer = {
  id: "tx_01h455vb4pex5vsknk084sn02q",
  type: "internal",
  status: "completed",
  amount: "12.50",
  currency: "USDC",
  from_wallet_id: "wal_01h455vb4pex5vsknk084sn02r",
  to_wallet_id: "wal_01h455vb4pex5vsknk084sn02s",
  from_account_id: "acc_01h455vb4pex5vsknk084sn02t",
  to_account_id: "acc_01h455vb4pex5vsknk084sn02v",
  memo: "Invoice 42",
  quote_id: null,
  destination_amount: null,
  destination_currency: null,
  fee: "0.00",
  batch_id: null,
  stream_id: null,
  scheduled_at: null,
  initiated_by: { type: "api_key", id: "key_01h455vb4pex5vsknk084sn02w" },
  protocol: "internal",
  protocol_metadata: {},
  failure_reason: null,
  refunded_amount: "0.00",
  created_at: "2026-01-02T03:04:05.678Z",
  updated_at: "2026-01-02T03:04:05.678Z",
  completed_at: "2026-01-02T03:04:05.678Z"
} as const

const create = HttpApiEndpoint.post("create", "/transfers", {
  headers: idempotencyHeaders,
  payload: CreateTransfer,
  success: Transfer.pipe(HttpApiSchema.status(201)),
  error: problems(
    InvalidRequest,
    NotFound,
    SameWallet,
    CurrencyMismatch,
    NetworkMismatch,
    WalletFrozen,
    AmountTooLarge,
    IdempotencyKeyReused,
    IdempotencyKeysDiffer
  )
})
  .annotate(Requires, { resource: "transfers", action: "write" })
  .annotateMerge(
    documented({
      summary: "Create a transfer",
      description:
        "Moves money between two wallets of the caller's tenant. `internal` (the default), `wrap` and `unwrap` move it within one " +
        "currency and network, at once: the answer is already `completed`, or `failed` with `failure_reason` `insufficient_funds`. " +
        "A request that could never succeed (unknown, same or frozen wallet, another currency or network) is refused and creates " +
        "nothing. `amount` is what leaves the paying wallet. With an idempotency key, in the body or as header, the transfer is " +
        "made once in 24 hours: a repetition answers what the first request answered, with `Idempotency-Replayed: true`.",
      body: {
        type: "internal",
        from_wallet_id: transfer.from_wallet_id,
        to_wallet_id: transfer.to_wallet_id,
        amount: "12.50",
        currency: "USDC",
        memo: "Invoice 42",
        idempotency_key: "invoice-42"
      },
      answer: transfer
    })
  )

const list = HttpApiEndpoint.get("list", "/transfers", {
  query: { ...TransferFilter, ...cursorQuery(TransferId) },
  success: cursorPage(Transfer, TransferId)
})
  .annotate(Requires, { resource: "transfers", action: "read" })
  .annotateMerge(
    documented({
      summary: "List transfers",
      description:
        "The transfers of the caller's tenant, newest first; every filter given must match. `account_id` finds what the account's " +
        "wallets sent or received. `created_after` is inclusive, `created_before` is not. Pass `next_cursor` as `cursor` to read " +
        "on; it is null at the end.",
      answer: { data: [transfer], pagination: { limit: 50, next_cursor: null } }
    })
  )

const get = HttpApiEndpoint.get("get", "/transfers/:id", { params, success: Transfer, error: problem(NotFound) })
  .annotate(Requires, { resource: "transfers", action: "read" })
  .annotateMerge(documented({ summary: "Get a transfer", description: "The transfer as it is now.", answer: transfer }))

const cancel = HttpApiEndpoint.post("cancel", "/transfers/:id/cancel", {
  params,
  success: Transfer,
  error: problems(NotFound, StateTransitionInvalid)
})
  .annotate(Requires, { resource: "transfers", action: "write" })
  .annotateMerge(
    documented({
      summary: "Cancel a transfer",
      description:
        "Withdraws a `pending` transfer before it is submitted to settlement; the money is free again. In any other status 409 " +
        "`STATE_TRANSITION_INVALID`: what the ledger moves at once cannot be cancelled, only refunded.",
      answer: { ...transfer, type: "cross_border", status: "cancelled", completed_at: null, protocol: "fx" }
    })
  )

export class TransfersApi extends HttpApiGroup.make("transfers")
  .add(create, list, get, cancel)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({ title: "Transfers", description: "Money from one wallet to another, in every way there is." })
  ) {}
