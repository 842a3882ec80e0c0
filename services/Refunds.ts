import { Context, DateTime, Effect, Layer, Option, Result, Schema } from "effect"
import { type Actor, actorOf } from "#domain/CallerContext.ts"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { RefundId, type TenantId, toTypeId, TransferId } from "#domain/Ids.ts"
import type { AmountTooLarge, IdempotencyKeyReused, InsufficientBalance, WalletFrozen } from "#domain/PostingRefused.ts"
import type { Principal } from "#domain/Principal.ts"
import {
  type AmountExceedsRemaining,
  judgeRefund,
  type NotRefundable,
  Refund,
  type RefundFilter,
  refundOnWire,
  type RefundOrder,
  type RefundWindowExpired,
  retryRefundAt
} from "#domain/Refund.ts"
import { NotFound, type StateTransitionInvalid } from "#domain/Refusal.ts"
import { Ledger } from "./Ledger.ts"
import { newId } from "./NewId.ts"
import { deciding, expectRefusals, needsNoKey } from "./Refunds/Deciding.ts"
import * as Making from "./Refunds/Making.ts"
import { RefundPolicy } from "./Refunds/Policy.ts"
import * as Records from "./Refunds/Records.ts"
import * as Turns from "./Turns.ts"
import { failureOf } from "./Transfers/Records.ts"
import { upkeep } from "./Upkeep.ts"

/** A refund, and whether it is the stored result of an earlier request. */
export interface Refunded {
  readonly refund: Refund
  readonly replayed: boolean
}

/** Why a refund is refused; nothing is stored then. */
export type RefundRefused =
  | NotFound
  | StateTransitionInvalid
  | NotRefundable
  | RefundWindowExpired
  | AmountExceedsRemaining
  | InsufficientBalance
  | WalletFrozen
  | AmountTooLarge
  | IdempotencyKeyReused

/** Money of completed transfers back to whoever paid it. Every method sees the caller's tenant only. */
export class Refunds extends Context.Service<
  Refunds,
  {
    /** Moves the money back at once, from the receiver's wallet to the payer's. */
    create(caller: Principal, order: RefundOrder, claim?: IdempotencyClaim): Effect.Effect<Refunded, RefundRefused>
    get(caller: Principal, id: RefundId): Effect.Effect<Refund, NotFound>
    /** Newest first, from before `before`. */
    list(
      caller: Principal,
      filter: RefundFilter,
      range: { readonly limit: number; readonly before?: RefundId | undefined }
    ): Effect.Effect<ReadonlyArray<Refund>>
    /** Tries pending refunds again whose time has come, at most 50, and gives up those that were tried for long; how many. */
    readonly retryDue: Effect.Effect<number>
  }
>()("turnpike/services/Refunds") {
  static readonly layer = Layer.effect(
    Refunds,
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const policy = yield* RefundPolicy
      const records = yield* Records.make
      const inTurn = yield* Turns.make

      const get = Effect.fn("Refunds.get")(function* (caller: Principal, id: RefundId) {
        const found = yield* records.find(caller.tenant_id, id)
        if (Option.isSome(found)) return found.value
        return yield* new NotFound({ resource: "refund", id: toTypeId("rf", id) })
      })

      const refundable = Effect.fnUntraced(function* (tenant_id: TenantId, id: TransferId) {
        const found = yield* records.refundable(tenant_id, id)
        if (Option.isSome(found)) return found.value
        return yield* new NotFound({ resource: "transfer", id: toTypeId("tx", id) })
      })

      const create = Effect.fn("Refunds.create")(function* (
        caller: Principal,
        order: RefundOrder,
        claim?: IdempotencyClaim
      ) {
        const { tenant_id } = caller
        const id = yield* newId(RefundId)
        const transfer_id = yield* newId(TransferId)
        const judge = Effect.gen(function* () {
          const of = yield* refundable(tenant_id, order.transfer_id)
          const judged = judgeRefund(of, order.amount, yield* DateTime.nowAsDate, policy.window)
          return { of, amount: yield* Effect.fromResult(judged) }
        })
        const attempt = Effect.gen(function* () {
          const judged = yield* Effect.result(judge)
          if (Result.isFailure(judged)) {
            const earlier = claim === undefined ? Option.none() : yield* ledger.recall(claim)
            if (Option.isNone(earlier)) return yield* judged.failure
            return { refund: yield* decode(earlier.value), replayed: true }
          }
          const { reason, reason_details } = order
          const { amount, of } = judged.success
          const refund = { id, amount, reason, reason_details, dispute_id: null }
          const parts = Making.paying({ tenant_id, of, refund }, transfer_id, actorOf(caller))
          const posted = yield* ledger
            .post({
              ...parts,
              id: transfer_id,
              fences: [parts.fence],
              idempotency: claim,
              result: (done) => (claim === undefined ? undefined : refundOnWire(parts.refund(done)))
            })
            .pipe(expectRefusals)
          if (!posted.replayed) return { refund: parts.refund(posted), replayed: false }
          // Under its own id it was this very call, whose first answer was lost on the way from the database.
          if (posted.command_id === transfer_id) {
            return { refund: yield* Effect.orDie(get(caller, id)), replayed: false }
          }
          return { refund: yield* decode(posted.result), replayed: true }
        })
        return yield* attempt.pipe(deciding, inTurn(order.transfer_id))
      })

      const list = Effect.fn("Refunds.list")(function* (
        caller: Principal,
        filter: RefundFilter,
        { before, limit }: { readonly limit: number; readonly before?: RefundId | undefined }
      ) {
        return yield* records.list({ ...filter, tenant_id: caller.tenant_id, limit, before })
      })

      /** Pays a pending refund, or says when it is tried again, or gives it up. */
      const retry = Effect.fnUntraced(function* ({ id, tenant_id, transfer_id: refunded }: Records.DueRefund) {
        const transfer_id = yield* newId(TransferId)
        const attempt = Effect.gen(function* () {
          // Read first: whoever ends the refund after this supersedes us, and who has ended it before is seen by what is read next.
          const of = yield* refundable(tenant_id, refunded)
          const found = yield* records.find(tenant_id, id)
          if (Option.isNone(found) || found.value.status !== "pending") return
          const refund = found.value
          const { created_at } = refund
          const wanted = { tenant_id, of, refund, created_at }
          const post = (parts: Making.RefundParts) =>
            ledger.post({ ...parts, id: transfer_id, fences: [parts.fence] }).pipe(expectRefusals, needsNoKey)
          const paid = yield* Effect.result(post(Making.paying(wanted, transfer_id, platform)))
          if (Result.isSuccess(paid)) return
          if (paid.failure._tag === "SUPERSEDED") return yield* paid.failure
          const again = retryRefundAt(created_at, yield* DateTime.nowAsDate, policy)
          if (again === undefined) yield* post(Making.failing(wanted, failureOf(paid.failure)))
          else yield* records.postpone(refund, again)
        })
        yield* attempt.pipe(deciding)
      })
      const retryDue = Effect.gen(function* () {
        const now = yield* DateTime.now
        const until = DateTime.toDate(DateTime.addDuration(now, policy.lease))
        const due = yield* records.takeDue(DateTime.toDate(now), until, batch)
        const tried = (one: Records.DueRefund) =>
          retry(one).pipe(
            Effect.catchCause((cause) => Effect.logError("A refund could not be tried again", { id: one.id }, cause))
          )
        yield* Effect.forEach(due, tried, { concurrency: 10, discard: true })
        return due.length
      }).pipe(Effect.withSpan("Refunds.retryDue"))

      return Refunds.of({ create, get, list, retryDue })
    })
  )

  /** Tries pending refunds again. Any number of processes may. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.gen(function* () {
      const { retryDue } = yield* Refunds
      yield* upkeep(
        "Refunds could not be tried again",
        Effect.repeat(retryDue, { while: (tried) => tried === batch }),
        "30 seconds"
      )
    })
  )
}

const batch = 50

/** Who refunds what nobody is there to refund. */
const platform: Actor = { type: "system", id: "refunds" }

const decode = (stored: unknown) => Effect.orDie(Schema.decodeUnknownEffect(Refund)(stored))
