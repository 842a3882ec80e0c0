import { Context, DateTime, Effect, Layer, type Result } from "effect"
import type { IdempotencyClaim } from "#domain/Command.ts"
import {
  type Change,
  type Dispute,
  escalate,
  type EvidenceLimitReached,
  type NotDisputable,
  respond,
  type ResponseWindowExpired,
  supplement,
  windowEnd
} from "#domain/Dispute.ts"
import type { NotDecidable, Verdict } from "#domain/DisputeEnd.ts"
import type { DisputeFilter, DisputeOrder } from "#domain/DisputeOrder.ts"
import type { Evidence } from "#domain/DisputeEvidence.ts"
import type { DisputeId } from "#domain/Ids.ts"
import type { AmountTooLarge, IdempotencyKeyReused, InsufficientBalance, WalletFrozen } from "#domain/PostingRefused.ts"
import type { Principal } from "#domain/Principal.ts"
import type { NotFound, StateTransitionInvalid } from "#domain/Refusal.ts"
import * as Changing from "./Disputes/Changing.ts"
import * as Opening from "./Disputes/Opening.ts"
import { DisputePolicy } from "./Disputes/Policy.ts"
import * as Records from "./Disputes/Records.ts"
import * as Settling from "./Disputes/Settling.ts"
import { newUuid } from "./NewId.ts"
import { deciding, movesNothing } from "./Refunds/Deciding.ts"
import * as Turns from "./Turns.ts"
import { upkeep } from "./Upkeep.ts"

/** Why a dispute is not opened; nothing is stored then. */
export type OpeningRefused = NotFound | NotDisputable | IdempotencyKeyReused

/** Why a dispute is not changed. */
export type ChangeRefused = NotFound | StateTransitionInvalid | IdempotencyKeyReused

/** Why a dispute is not resolved; it stays as it was. */
export type ResolvingRefused =
  | NotFound
  | NotDecidable
  | InsufficientBalance
  | WalletFrozen
  | AmountTooLarge
  | IdempotencyKeyReused

/** Objections of payers to completed transfers. Every method sees the caller's tenant only. */
export class Disputes extends Context.Service<
  Disputes,
  {
    /** Opens the one dispute that a transfer may have at a time; for a reason that was decided against the payer none any more. */
    open(
      caller: Principal,
      order: DisputeOrder,
      claim?: IdempotencyClaim
    ): Effect.Effect<Changing.Disputed, OpeningRefused>
    get(caller: Principal, id: DisputeId): Effect.Effect<Dispute, NotFound>
    /** Newest first, with the number of all that match. */
    list(
      caller: Principal,
      filter: DisputeFilter,
      range: { readonly limit: number; readonly offset: number }
    ): Effect.Effect<{ readonly disputes: ReadonlyArray<Dispute>; readonly total: number }>
    /** The counterparty's answer, after which nothing happens by itself any more. */
    respond(
      caller: Principal,
      id: DisputeId,
      answer: { readonly response: string; readonly counter_evidence: ReadonlyArray<Evidence> },
      claim?: IdempotencyClaim
    ): Effect.Effect<Changing.Disputed, ChangeRefused | ResponseWindowExpired>
    addEvidence(
      caller: Principal,
      id: DisputeId,
      evidence: ReadonlyArray<Evidence>,
      claim?: IdempotencyClaim
    ): Effect.Effect<Changing.Disputed, ChangeRefused | EvidenceLimitReached>
    escalate(
      caller: Principal,
      id: DisputeId,
      reason: string | null,
      claim?: IdempotencyClaim
    ): Effect.Effect<Changing.Disputed, ChangeRefused>
    /** Ends the dispute, together with the refund that the verdict awards. */
    resolve(
      caller: Principal,
      id: DisputeId,
      verdict: Verdict,
      claim?: IdempotencyClaim
    ): Effect.Effect<Changing.Disputed, ResolvingRefused>
    /** Resolves disputes in the filer's favour that nobody answered in time, at most 50; how many were due. */
    readonly resolveDue: Effect.Effect<number>
  }
>()("turnpike/services/Disputes") {
  static readonly layer = Layer.effect(
    Disputes,
    Effect.gen(function* () {
      const policy = yield* DisputePolicy
      const records = yield* Records.make
      const inTurn = yield* Turns.make
      const changing = yield* Changing.make(records)
      const opening = yield* Opening.make(records)
      const settling = yield* Settling.make(changing)

      const get = Effect.fn("Disputes.get")(function* (caller: Principal, id: DisputeId) {
        return Records.shown(yield* changing.find(caller.tenant_id, id))
      })

      const list = Effect.fn("Disputes.list")(function* (
        caller: Principal,
        filter: DisputeFilter,
        range: { readonly limit: number; readonly offset: number }
      ) {
        const soon = DateTime.toDate(DateTime.addDuration(yield* DateTime.now, policy.soon))
        return yield* records.list({ ...filter, ...range, tenant_id: caller.tenant_id, soon })
      })

      const open = Effect.fn("Disputes.open")(function* (
        caller: Principal,
        order: DisputeOrder,
        claim?: IdempotencyClaim
      ) {
        const attempt = yield* opening(caller, order, claim)
        return yield* attempt.pipe(deciding, inTurn(order.transfer_id))
      })

      /** A change that moves no money. */
      const plain = Effect.fnUntraced(function* <E extends { readonly _tag: string }>(
        { tenant_id }: Principal,
        id: DisputeId,
        claim: IdempotencyClaim | undefined,
        decide: (row: Dispute, now: Date) => Result.Result<Change, E>,
        untilOf: (row: Dispute) => Date | undefined = () => undefined
      ) {
        const changed = changing.change({ tenant_id, id, command_id: newUuid(), claim }, (row) =>
          Effect.flatMap(DateTime.nowAsDate, (now) =>
            Effect.map(Effect.fromResult(decide(row, now)), (change) => ({ change, until: untilOf(row) }))
          )
        )
        return yield* changed.pipe(movesNothing, deciding, inTurn(id))
      })
      const answer = Effect.fn("Disputes.respond")(
        (caller: Principal, id: DisputeId, given: Parameters<typeof respond>[1], claim?: IdempotencyClaim) =>
          plain(caller, id, claim, (dispute, now) => respond(dispute, given, now), windowEnd)
      )
      const addEvidence = Effect.fn("Disputes.addEvidence")(
        (caller: Principal, id: DisputeId, evidence: ReadonlyArray<Evidence>, claim?: IdempotencyClaim) =>
          plain(caller, id, claim, (dispute) => supplement(dispute, evidence))
      )
      const passOn = Effect.fn("Disputes.escalate")(
        (caller: Principal, id: DisputeId, reason: string | null, claim?: IdempotencyClaim) =>
          plain(caller, id, claim, (dispute) => escalate(dispute, reason))
      )

      const resolve = Effect.fn("Disputes.resolve")(function* (
        caller: Principal,
        id: DisputeId,
        verdict: Verdict,
        claim?: IdempotencyClaim
      ) {
        const attempt = yield* settling.resolve(caller, id, verdict, claim)
        return yield* attempt.pipe(deciding, inTurn(id))
      })

      const resolveDue = Effect.gen(function* () {
        const now = yield* DateTime.now
        const until = DateTime.toDate(DateTime.addDuration(now, policy.lease))
        const due = yield* records.takeDue(DateTime.toDate(now), until, batch)
        const resolved = ({ id, tenant_id }: (typeof due)[number]) =>
          settling.resolveByDefault(tenant_id, id).pipe(
            Effect.flatMap(deciding),
            inTurn(id),
            Effect.catchCause((cause) => Effect.logError("A dispute could not be resolved", { id }, cause))
          )
        yield* Effect.forEach(due, resolved, { concurrency: 10, discard: true })
        return due.length
      }).pipe(Effect.withSpan("Disputes.resolveDue"))

      return Disputes.of({ open, get, list, respond: answer, addEvidence, escalate: passOn, resolve, resolveDue })
    })
  )

  /** Resolves what nobody answered in time. Any number of processes may. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.gen(function* () {
      const { resolveDue } = yield* Disputes
      yield* upkeep(
        "Disputes could not be resolved",
        Effect.repeat(resolveDue, { while: (resolved) => resolved === batch }),
        "30 seconds"
      )
    })
  )
}

const batch = 50
