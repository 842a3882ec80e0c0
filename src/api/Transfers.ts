import { transfer } from "#domain/Examples/Records.ts"
import { InsufficientScope } from "#domain/Credential.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { TransferId } from "#domain/Ids.ts"
import { AmountExceedsAccrued, BufferTooLarge, NothingAccrued, StreamMismatch } from "#domain/MoneyStream.ts"
import {
  AmountTooLarge,
  CurrencyMismatch,
  IdempotencyKeyReused,
  SameWallet,
  WalletFrozen
} from "#domain/PostingRefused.ts"
import { QuoteAlreadyUsed, QuoteExpired } from "#domain/Quote.ts"
import { Forbidden, InvalidRequest, NotFound, StateTransitionInvalid } from "#domain/Refusal.ts"
import { CrossBorderUnavailable, QuoteMismatch } from "#domain/Settlement.ts"
import { NetworkMismatch, Transfer, TransferFilter } from "#domain/Transfer.ts"
import { CreateTransfer } from "#domain/TransferOrder.ts"
import { Authorization, movers, onlookers, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { changedOnce, idempotencyHeaders, keyAlone } from "./Idempotency.ts"
import { cursorPage, cursorQuery } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"
import { IdempotencyKeysDiffer } from "./Refusals.ts"

const params = { id: TransferId }

/** What cross_border is; with the outcomes that the sandbox's rail can be asked for, as a payment provider has test cards. */
const crossBorder =
  "\n\n`cross_border` goes to another currency or network: it takes `quote_id` from `POST /v1/quotes` with both wallets, and the " +
  "rate, the amounts and the fee are the quote's (`amount` and `currency` may repeat what it says). The quote must not have ended " +
  "or been used, and each wallet must hold its currency. One that fails for insufficient funds has used its quote. The answer is `pending`, with the money reserved; about a second later it " +
  "is submitted to settlement (`processing`), until then it can be cancelled; 2 to 5 seconds after its creation (on a live server " +
  "as long as the rail takes) it is `completed`, or `failed` and the money free again.\n\n" +
  "The sandbox's rail does what the memo says: `simulate:insufficient_funds`, `simulate:rail_error`, `simulate:compliance_block` " +
  "or `simulate:rejected_by_recipient` anywhere in it is rejected with that `failure_reason`; `simulate:unknown` loses its first " +
  "answers and completes; `simulate:slow` takes a minute; `simulate:stay_pending` is not submitted for a minute, so that there is " +
  "time to cancel. Amounts sent that end in `.000001`, `.000002`, `.000003` or `.000004` are rejected like the first four memos."

const streams =
  "\n\n`stream_start` opens a money stream between the wallets with `amount` as its deposit, at `flow_rate` a second and less " +
  "`buffer`; the answer has its `stream_id`, or is `failed` with `insufficient_funds` and has opened none. `stream_withdraw` with a " +
  "`stream_id` gives the recipient what has accrued, or `amount` of it; `stream_cancel` ends the stream and is the transfer of what " +
  "went back to the sender. Wallets and currency may be repeated and must be the stream's. Transfers of a stream name both its " +
  "wallets, though the money waits in the stream between them; what a cancelled stream returns has no `from_wallet_id`. These three " +
  "types take the scope `streams:write` too."

export const createTransfer = HttpApiEndpoint.post("create", "/transfers", {
  headers: idempotencyHeaders,
  payload: CreateTransfer,
  success: Transfer.pipe(HttpApiSchema.status(201)),
  error: problems(
    InvalidRequest,
    InsufficientScope,
    Forbidden,
    NotFound,
    SameWallet,
    CurrencyMismatch,
    NetworkMismatch,
    WalletFrozen,
    AmountTooLarge,
    QuoteMismatch,
    QuoteExpired,
    QuoteAlreadyUsed,
    CrossBorderUnavailable,
    StateTransitionInvalid,
    BufferTooLarge,
    StreamMismatch,
    NothingAccrued,
    AmountExceedsAccrued,
    IdempotencyKeyReused,
    IdempotencyKeysDiffer
  )
})
  .annotate(Requires, { resource: "transfers", action: "write", kinds: movers })
  .annotateMerge(
    documented({
      summary: "Create a transfer",
      description:
        "Moves money between two wallets of the caller's tenant. An agent pays from its own: from its first wallet, of this currency and " +
        "on the receiver's network if it has one, when it leaves `from_wallet_id` out. `internal` (the default), `wrap` and `unwrap` move it within one " +
        "currency and network, at once: the answer is already `completed`, or `failed` with `failure_reason` `insufficient_funds`. " +
        "A request that could never succeed (unknown, same or frozen wallet, another currency or network) is refused and creates " +
        "nothing. `amount` is what leaves the paying wallet. With an idempotency key, in the body or as header, the transfer is " +
        "made once in 24 hours: a repetition answers what the first request answered, with `Idempotency-Replayed: true`." +
        crossBorder +
        streams,
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
  .annotate(Requires, { resource: "transfers", action: "read", kinds: onlookers })
  .annotateMerge(
    documented({
      summary: "List transfers",
      description:
        "The transfers of the caller's tenant, newest first; every filter given must match. `account_id` finds what the account's " +
        "wallets sent or received. `created_after` is inclusive, `created_before` is not. Pass `next_cursor` as `cursor` to read " +
        "on; it is null at the end. A transfer gets its id before it is committed, so one may appear, a moment later, below one " +
        "that was listed already: to miss none take webhooks, or read the last fifteen seconds again.\n\nListed is what was ordered as " +
        "a transfer: by a batch, a schedule, a refund or a stream, too. Money that moved otherwise can be read by its id and is not listed here: paid calls are in `GET /v1/x402/endpoints/{id}/payments`, and they, " +
        "what the faucet gave and what the facilitator settled in `GET /v1/wallets/{id}/entries` of the wallets they moved.",
      answer: { data: [transfer], pagination: { limit: 50, next_cursor: null } }
    })
  )

const get = HttpApiEndpoint.get("get", "/transfers/:id", { params, success: Transfer, error: problem(NotFound) })
  .annotate(Requires, { resource: "transfers", action: "read", kinds: onlookers })
  .annotateMerge(
    documented({
      summary: "Get a transfer",
      description:
        "The transfer as it is now. Every `transfer_id` of a statement can be read, also of what the faucet gave, and of what a paid " +
        "call was charged or the facilitator settled (`protocol` `x402`), though lists show only what was ordered as a transfer. Where " +
        "the platform took a fee of a paid call, `destination_amount` is what its receiver got.",
      answer: transfer
    })
  )

const cancel = HttpApiEndpoint.post("cancel", "/transfers/:id/cancel", {
  params,
  headers: idempotencyHeaders,
  payload: keyAlone,
  success: Transfer,
  error: problems(NotFound, Forbidden, StateTransitionInvalid, IdempotencyKeyReused, IdempotencyKeysDiffer)
})
  .annotate(Requires, { resource: "transfers", action: "write", kinds: movers })
  .annotateMerge(
    documented({
      summary: "Cancel a transfer",
      description:
        "Withdraws a `pending` transfer before it is submitted to settlement; the money is free again. In any other status 409 " +
        "`STATE_TRANSITION_INVALID`: what the ledger moves at once cannot be cancelled, only refunded. " +
        changedOnce,
      body: { idempotency_key: "cancellation-42" },
      bodyIsOptional: true,
      answer: {
        ...transfer,
        type: "cross_border",
        status: "cancelled",
        amount: "100.00",
        quote_id: "qt_01h455vb4pex5vsknk084sn02x",
        destination_amount: "91.31115",
        destination_currency: "EURC",
        fee: "0.25",
        protocol: "fx",
        protocol_metadata: { rate: "0.91540000" },
        updated_at: "2026-01-02T03:04:06.012Z",
        completed_at: null
      }
    })
  )

export class TransfersApi extends HttpApiGroup.make("transfers")
  .add(createTransfer, list, get, cancel)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({ title: "Transfers", description: "Money from one wallet to another, in every way there is." })
  ) {}
