import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { IdempotencyClaim } from "#domain/Command.ts"
import type { StreamId } from "#domain/Ids.ts"
import type {
  AmountExceedsAccrued,
  CancelStream,
  CreateStream,
  MoneyStream,
  NothingAccrued,
  StreamExhausted,
  StreamFilter,
  StreamMismatch,
  TopUpStream,
  WithdrawFromStream
} from "#domain/MoneyStream.ts"
import { asNamed, streamDefaults } from "#domain/MoneyStream.ts"
import * as Change from "#domain/MoneyStream/Change.ts"
import { shownAt } from "#domain/MoneyStream/Flow.ts"
import type { AmountTooLarge, IdempotencyKeyReused, InsufficientBalance, WalletFrozen } from "#domain/PostingRefused.ts"
import type { Principal } from "#domain/Principal.ts"
import type { Forbidden, NotFound, StateTransitionInvalid } from "#domain/Refusal.ts"
import type { Transfer } from "#domain/Transfer.ts"
import type { StreamCancelOrder, StreamStartOrder, StreamWithdrawOrder } from "#domain/TransferOrder.ts"
import { Ledger } from "./Ledger.ts"
import { Lookout } from "./Lookout.ts"
import * as Changing from "./MoneyStreams/Changing.ts"
import * as Opening from "./MoneyStreams/Opening.ts"
import * as Records from "./MoneyStreams/Records.ts"
import * as Turns from "./Turns.ts"
import { Wallets } from "./Wallets.ts"

/** A stream after money moved, the transfer that tells it, and whether both are the stored result of an earlier request. */
export interface Moved {
  readonly stream: MoneyStream
  readonly transfer: Transfer
  readonly replayed: boolean
}

/** Why a stream is not changed; it stays as it was. */
type SteeringRefused = NotFound | Forbidden | StateTransitionInvalid | IdempotencyKeyReused

/** A stream after a change that moved no money, and whether it is the stored result of an earlier request. */
export type Steered = Omit<Moved, "transfer">

/**
 * Money that flows by the second, each stream with a ledger account of its own. What has accrued follows from the clock; it moves
 * when it is withdrawn. Every method sees streams of which the caller reaches one end; what only the other end may do is `Forbidden`.
 */
export class MoneyStreams extends Context.Service<
  MoneyStreams,
  {
    /** Opens a stream that flows at once. */
    open(caller: Principal, stream: CreateStream, claim?: IdempotencyClaim): Effect.Effect<Moved, Opening.OpenRefused>
    /** The same by a transfer, which fails when the payer has too little. */
    start(
      caller: Principal,
      order: StreamStartOrder,
      claim?: IdempotencyClaim
    ): Effect.Effect<
      { readonly transfer: Transfer; readonly replayed: boolean },
      Exclude<Opening.OpenRefused, InsufficientBalance>
    >
    /** The stream as it is now. */
    get(caller: Principal, id: StreamId): Effect.Effect<MoneyStream, NotFound>
    /** Newest first, with the number of all that match. */
    list(
      caller: Principal,
      filter: StreamFilter,
      range: { readonly limit: number; readonly offset: number }
    ): Effect.Effect<{ readonly streams: ReadonlyArray<MoneyStream>; readonly total: number }>
    /** Takes more money from the sender. A paused stream stays paused. */
    topUp(
      caller: Principal,
      id: StreamId,
      request: TopUpStream,
      claim?: IdempotencyClaim
    ): Effect.Effect<
      Moved,
      | NotFound
      | Forbidden
      | StateTransitionInvalid
      | AmountTooLarge
      | InsufficientBalance
      | WalletFrozen
      | IdempotencyKeyReused
    >
    pause(caller: Principal, id: StreamId, claim?: IdempotencyClaim): Effect.Effect<Steered, SteeringRefused>
    resume(
      caller: Principal,
      id: StreamId,
      claim?: IdempotencyClaim
    ): Effect.Effect<Steered, SteeringRefused | StreamExhausted>
    /** Another rate from now on, in 10^-18 units a second. */
    changeRate(
      caller: Principal,
      id: StreamId,
      rate: bigint,
      claim?: IdempotencyClaim
    ): Effect.Effect<Steered, SteeringRefused>
    /** Gives the recipient what has accrued, or this much of it. */
    withdraw(
      caller: Principal,
      id: StreamId,
      request: WithdrawFromStream,
      claim?: IdempotencyClaim
    ): Effect.Effect<
      Moved,
      NotFound | Forbidden | StateTransitionInvalid | NothingAccrued | AmountExceedsAccrued | IdempotencyKeyReused
    >
    /** Ends the stream: what has accrued goes to the recipient, all else back to the sender. The transfer is the second of these. */
    cancel(
      caller: Principal,
      id: StreamId,
      request: CancelStream,
      claim?: IdempotencyClaim
    ): Effect.Effect<Moved, NotFound | Forbidden | StateTransitionInvalid | IdempotencyKeyReused>
    /** The same by transfers, which may repeat what never changes of the stream. */
    transfer(
      caller: Principal,
      order: StreamWithdrawOrder | StreamCancelOrder,
      claim?: IdempotencyClaim
    ): Effect.Effect<
      Moved,
      | NotFound
      | Forbidden
      | StreamMismatch
      | StateTransitionInvalid
      | NothingAccrued
      | AmountExceedsAccrued
      | IdempotencyKeyReused
    >
    /** Gives the alerts that are due, each once, and pauses what has run dry; how many. Any number of processes may. */
    readonly alertDue: Effect.Effect<number>
  }
>()("turnpike/services/MoneyStreams") {
  static readonly layerWorker = Layer.effectDiscard(
    Effect.gen(function* () {
      const { alertDue } = yield* MoneyStreams
      const { keep } = yield* Lookout
      const sql = yield* SqlClient.SqlClient
      const isDue = (now: Date) => sql`(SELECT min(next_alert_at) FROM streams) <= ${now}`
      yield* keep({ failed: "Streams could not be looked after", isDue, step: alertDue, every: "2 seconds" })
    })
  )

  static readonly layer = Layer.effect(
    MoneyStreams,
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const wallets = yield* Wallets
      const inTurn = yield* Turns.make
      const opening = yield* Opening.make(ledger, wallets, inTurn)
      const { alertDue, answerKept, change, find } = yield* Changing.make(ledger, wallets, inTurn)
      const records = yield* Records.reader

      const open = Effect.fn("MoneyStreams.open")(function* (
        caller: Principal,
        wanted: CreateStream,
        claim?: IdempotencyClaim
      ) {
        const { initial_deposit: deposit, ...stream } = { ...streamDefaults, ...wanted }
        return yield* withStream(yield* opening(caller, { ...stream, deposit, memo: null, mayFail: false }, claim))
      })

      const start = Effect.fn("MoneyStreams.start")(function* (
        caller: Principal,
        { amount: deposit, buffer = streamDefaults.buffer, memo = null, type: _, ...stream }: StreamStartOrder,
        claim?: IdempotencyClaim
      ) {
        const wanted = { ...stream, buffer, deposit, metadata: {}, memo, mayFail: true }
        return yield* Effect.catchTag(opening(caller, wanted, claim), "INSUFFICIENT_BALANCE", Effect.die)
      })

      const get = Effect.fn("MoneyStreams.get")(function* (caller: Principal, id: StreamId) {
        return shownAt(yield* find(caller, id), yield* DateTime.nowAsDate)
      })

      const list = Effect.fn("MoneyStreams.list")(
        (caller: Principal, filter: StreamFilter, range: { readonly limit: number; readonly offset: number }) =>
          records.list(caller, { ...filter, ...range })
      )

      const topUp = Effect.fn("MoneyStreams.topUp")(function* (
        caller: Principal,
        id: StreamId,
        { amount, memo }: TopUpStream,
        claim?: IdempotencyClaim
      ) {
        const changed = yield* change(caller, id, {
          decide: (stream, now) => Change.topUp(stream, now, amount),
          transfers: ({ taken }) => [["top_up", taken]],
          memo,
          claim,
          refuse: Effect.fail
        })
        return yield* withTransfer(changed)
      })

      const pause = Effect.fn("MoneyStreams.pause")((caller: Principal, id: StreamId, claim?: IdempotencyClaim) =>
        Effect.map(change(caller, id, { decide: Change.pause, claim, refuse: ofKey }), steered)
      )
      const resume = Effect.fn("MoneyStreams.resume")((caller: Principal, id: StreamId, claim?: IdempotencyClaim) =>
        Effect.map(change(caller, id, { decide: Change.resume, claim, refuse: ofKey }), steered)
      )
      const changeRate = Effect.fn("MoneyStreams.changeRate")(
        (caller: Principal, id: StreamId, rate: bigint, claim?: IdempotencyClaim) => {
          const decide: typeof Change.pause = (stream, now) => Change.changeRate(stream, now, rate)
          return Effect.map(change(caller, id, { decide, claim, refuse: ofKey }), steered)
        }
      )

      const withdraw = Effect.fn("MoneyStreams.withdraw")(function* (
        caller: Principal,
        id: StreamId,
        { amount, memo }: WithdrawFromStream,
        claim?: IdempotencyClaim
      ) {
        const changed = yield* change(caller, id, {
          by: "recipient",
          decide: (stream, now) => Change.withdraw(stream, now, amount),
          transfers: ({ paid }) => [["withdraw", paid]],
          memo,
          claim,
          refuse: ofKey
        })
        return yield* withTransfer(changed)
      })

      const cancel = Effect.fn("MoneyStreams.cancel")(function* (
        caller: Principal,
        id: StreamId,
        { memo }: CancelStream,
        claim?: IdempotencyClaim
      ) {
        const changed = yield* change(caller, id, {
          decide: Change.cancel,
          transfers: ({ paid, returned }) => [
            ...(paid > 0n ? [["withdraw", paid] as const] : []),
            ["cancel", returned]
          ],
          memo,
          claim,
          refuse: ofKey
        })
        return yield* withTransfer(changed)
      })

      const transfer = Effect.fn("MoneyStreams.transfer")(function* (
        caller: Principal,
        order: StreamWithdrawOrder | StreamCancelOrder,
        claim?: IdempotencyClaim
      ) {
        const named = yield* Effect.result(
          Effect.flatMap(find(caller, order.stream_id), (stream) => Effect.fromResult(asNamed(stream, order)))
        )
        if (named._tag === "Failure") {
          // It may name what it does under a key of something else.
          const known = claim === undefined ? Option.none() : yield* ledger.recall(claim)
          return yield* Option.isSome(known) ? withTransfer(yield* answerKept(known.value)) : Effect.fail(named.failure)
        }
        return yield* order.type === "stream_withdraw"
          ? withdraw(caller, order.stream_id, order, claim)
          : cancel(caller, order.stream_id, order, claim)
      })

      return MoneyStreams.of({
        open,
        start,
        get,
        list,
        topUp,
        pause,
        resume,
        changeRate,
        withdraw,
        cancel,
        transfer,
        alertDue: alertDue.pipe(Effect.withSpan("MoneyStreams.alertDue"))
      })
    })
  )
}

/** A stream's own money is there, and no wallet is too full for it: only the key can be refused. */
const ofKey = (refusal: Changing.LedgerRefused): Effect.Effect<never, IdempotencyKeyReused> =>
  refusal._tag === "IDEMPOTENCY_KEY_REUSED" ? Effect.fail(refusal) : Effect.die(refusal)

const steered = ({ replayed, stream }: Changing.Changed): Steered => ({ stream, replayed })

const withTransfer = ({ transfer, ...changed }: Changing.Changed): Effect.Effect<Moved> =>
  transfer === undefined
    ? Effect.die("Money of a stream moved without a transfer")
    : Effect.succeed({ ...changed, transfer })

const withStream = ({ stream, ...opened }: Opening.Opened): Effect.Effect<Moved> =>
  stream === undefined ? Effect.die("A stream was opened and is not there") : Effect.succeed({ ...opened, stream })
