import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { StreamId } from "#domain/Ids.ts"
import {
  AmountExceedsAccrued,
  BufferTooLarge,
  CancelStream,
  ChangeStreamRate,
  CreateStream,
  MoneyStream,
  NothingAccrued,
  StreamExhausted,
  StreamFilter,
  TopUpStream,
  WithdrawFromStream
} from "#domain/MoneyStream.ts"
import {
  AmountTooLarge,
  CurrencyMismatch,
  IdempotencyKeyReused,
  InsufficientBalance,
  SameWallet,
  WalletFrozen
} from "#domain/PostingRefused.ts"
import { Forbidden, NotFound, StateTransitionInvalid } from "#domain/Refusal.ts"
import { IdempotencyKey } from "#domain/Text.ts"
import { NetworkMismatch } from "#domain/Transfer.ts"
import { Authorization, movers, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { stream } from "#domain/Examples/Records.ts"
import { changedOnce, idempotencyHeaders, keyAlone } from "./Idempotency.ts"
import { page, pageQuery } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"
import { IdempotencyKeysDiffer } from "./Refusals.ts"

const params = { id: StreamId }
const idempotency_key = Schema.optionalKey(IdempotencyKey)
const created = MoneyStream.pipe(HttpApiSchema.status(201))
const read = { resource: "streams", action: "read", kinds: movers } as const
const write = { resource: "streams", action: "write", kinds: movers } as const

const create = HttpApiEndpoint.post("create", "/streams", {
  headers: idempotencyHeaders,
  payload: Schema.Struct({ ...CreateStream.fields, idempotency_key }),
  success: created,
  error: problems(
    NotFound,
    SameWallet,
    CurrencyMismatch,
    NetworkMismatch,
    BufferTooLarge,
    WalletFrozen,
    InsufficientBalance,
    AmountTooLarge,
    IdempotencyKeyReused,
    IdempotencyKeysDiffer
  )
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Start a money stream",
      description:
        "Takes `initial_deposit` from the paying wallet into the stream, which flows to the recipient from now on at `flow_rate`: a " +
        "decimal string of money per second with at most 18 decimals. `buffer` (none by default) is kept back and never flows. " +
        "Both wallets belong to the caller's tenant, hold `currency` (USDC by default) and live on one network. Accrual is exact; " +
        "only when money moves is it rounded down to a micro-unit, and what was cut off stays accrued. At any time `deposited` = " +
        "`wrapped_balance` (may still flow) + `buffer` + `recipient_balance` (accrued, to be withdrawn) + `withdrawn` + `returned`. " +
        "`runway_seconds` (at most 9007199254740991) is how long `wrapped_balance` lasts, `exhausted_at` when it ends, unless that is " +
        "after the year 9999. The event `stream.alert` tells when the runway falls below 24 hours " +
        "(`warning`), below one hour (`critical`) and to nothing (`exhausted`; the stream is then `paused`), each once until a " +
        "top-up or a lower rate lifts it again; a stream that starts below gets the gravest that applies at once. " +
        "`latest_transfer_id` is the transfer of the last money that moved.",
      body: {
        from_wallet_id: stream.from_wallet_id,
        to_wallet_id: stream.to_wallet_id,
        flow_rate: stream.flow_rate,
        initial_deposit: "0.50",
        currency: "USDC",
        buffer: "0.10",
        metadata: stream.metadata,
        idempotency_key: "contract-7781"
      },
      answer: {
        ...stream,
        deposited: "0.50",
        wrapped_balance: "0.40",
        buffer: "0.10",
        recipient_balance: "0.00",
        runway_seconds: 400,
        exhausted_at: "2026-01-02T03:10:45.678Z"
      }
    })
  )

const list = HttpApiEndpoint.get("list", "/streams", {
  query: { ...StreamFilter, ...pageQuery },
  success: page(MoneyStream)
})
  .annotate(Requires, read)
  .annotateMerge(
    documented({
      summary: "List money streams",
      description: "The streams of the caller's tenant as they are now, newest first; every filter given must match.",
      answer: { data: [stream], pagination: { page: 1, limit: 50, total: 1, totalPages: 1 } }
    })
  )

const get = HttpApiEndpoint.get("get", "/streams/:id", { params, success: MoneyStream, error: problem(NotFound) })
  .annotate(Requires, read)
  .annotateMerge(
    documented({
      summary: "Get a money stream",
      description: "The stream with everything that has accrued until now.",
      answer: stream
    })
  )

const topUp = HttpApiEndpoint.post("top_up", "/streams/:id/top-up", {
  params,
  headers: idempotencyHeaders,
  payload: Schema.Struct({ ...TopUpStream.fields, idempotency_key }),
  success: created,
  error: problems(
    NotFound,
    Forbidden,
    StateTransitionInvalid,
    AmountTooLarge,
    InsufficientBalance,
    WalletFrozen,
    IdempotencyKeyReused,
    IdempotencyKeysDiffer
  )
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Top a money stream up",
      description:
        "Takes more money from the paying wallet into the stream, by a `stream_start` transfer. A paused stream stays paused, also " +
        "one that had run dry: resume it. A cancelled one answers 409.",
      body: { amount: "0.25", memo: "October" },
      answer: {
        ...stream,
        deposited: "200.25",
        wrapped_balance: "83.85",
        runway_seconds: 83_850,
        exhausted_at: "2026-01-04T02:21:35.678Z"
      }
    })
  )

const pause = HttpApiEndpoint.post("pause", "/streams/:id/pause", {
  params,
  headers: idempotencyHeaders,
  payload: keyAlone,
  success: MoneyStream,
  error: problems(NotFound, Forbidden, StateTransitionInvalid, IdempotencyKeyReused, IdempotencyKeysDiffer)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Pause a money stream",
      description:
        "Nothing accrues while a stream is paused; what has accrued may be withdrawn. One that is paused already answers 409, also " +
        "when it has paused by itself. " +
        changedOnce,
      body: { idempotency_key: "pause-42" },
      bodyIsOptional: true,
      answer: { ...stream, status: "paused", pause_reason: "requested", exhausted_at: null }
    })
  )

const resume = HttpApiEndpoint.post("resume", "/streams/:id/resume", {
  params,
  headers: idempotencyHeaders,
  payload: keyAlone,
  success: MoneyStream,
  error: problems(
    NotFound,
    Forbidden,
    StateTransitionInvalid,
    StreamExhausted,
    IdempotencyKeyReused,
    IdempotencyKeysDiffer
  )
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Resume a money stream",
      description:
        "A paused stream flows again, from now on. One that has nothing left to flow answers 422 `STREAM_EXHAUSTED` until it is " +
        "topped up, an active one 409. " +
        changedOnce,
      body: { idempotency_key: "resumption-42" },
      bodyIsOptional: true,
      answer: stream
    })
  )

const changeRate = HttpApiEndpoint.post("rate", "/streams/:id/rate", {
  params,
  headers: idempotencyHeaders,
  payload: ChangeStreamRate,
  success: MoneyStream,
  error: problems(NotFound, Forbidden, StateTransitionInvalid, IdempotencyKeyReused, IdempotencyKeysDiffer)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Change the rate of a money stream",
      description: `The new rate counts from now on; what has accrued stays. A paused stream stays paused. ${changedOnce}`,
      body: { flow_rate: "0.000385802469135802", idempotency_key: "rate-42" },
      answer: {
        ...stream,
        flow_rate: "0.000385802469135802",
        runway_seconds: 216_691,
        exhausted_at: "2026-01-05T15:15:36.879Z"
      }
    })
  )

const withdraw = HttpApiEndpoint.post("withdraw", "/streams/:id/withdraw", {
  params,
  headers: idempotencyHeaders,
  payload: [Schema.Struct({ ...WithdrawFromStream.fields, idempotency_key }), Schema.Null],
  success: created,
  error: problems(
    NotFound,
    Forbidden,
    StateTransitionInvalid,
    NothingAccrued,
    AmountExceedsAccrued,
    IdempotencyKeyReused,
    IdempotencyKeysDiffer
  )
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Withdraw from a money stream",
      description:
        "Gives the recipient's wallet `amount` of what has accrued, or all of it when left out, by a `stream_withdraw` transfer: " +
        "`latest_transfer_id`. More than `recipient_balance` is refused with 422 and the amount that there is. The body may be left out.",
      body: { amount: "1.50" },
      bodyIsOptional: true,
      answer: { ...stream, recipient_balance: "84.90", withdrawn: "1.50" }
    })
  )

const cancel = HttpApiEndpoint.post("cancel", "/streams/:id/cancel", {
  params,
  headers: idempotencyHeaders,
  payload: [Schema.Struct({ ...CancelStream.fields, idempotency_key }), Schema.Null],
  success: created,
  error: problems(NotFound, Forbidden, StateTransitionInvalid, IdempotencyKeyReused, IdempotencyKeysDiffer)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Cancel a money stream",
      description:
        "Ends the stream for good: what has accrued goes to the recipient (a `stream_withdraw` transfer, if it is anything), all else, " +
        "the buffer included, back to the sender (a `stream_cancel` transfer, also of 0.00: `latest_transfer_id`), together or not at " +
        "all. The record stays. Cancelling twice answers 409, or the first answer under the same idempotency key. The " +
        "body may be left out.",
      body: { memo: "Contract ended" },
      bodyIsOptional: true,
      answer: {
        ...stream,
        status: "cancelled",
        wrapped_balance: "0.00",
        buffer: "0.00",
        recipient_balance: "0.00",
        withdrawn: "86.40",
        returned: "113.60",
        runway_seconds: 0,
        exhausted_at: null,
        updated_at: "2026-01-03T03:04:05.678Z",
        cancelled_at: "2026-01-03T03:04:05.678Z"
      }
    })
  )

export class StreamsApi extends HttpApiGroup.make("streams")
  .add(create, list, get, topUp, pause, resume, changeRate, withdraw, cancel)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Money streams",
      description: "Money that flows from one wallet to another by the second."
    })
  ) {}
