import { DateTime, Duration, Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { toTypeId } from "#domain/Ids.ts"
import { formatDecimal } from "#domain/Money.ts"
import {
  isSignedFor,
  isSpent,
  PaymentAlreadyUsed,
  PaymentInProgress,
  PaymentRow,
  type ProofRefusal,
  SettlementPending,
  type Standing,
  standing
} from "#domain/Payment.ts"
import { readProof, type TokenKey } from "#domain/PaymentToken.ts"
import type { Snapshot } from "../Endpoints.ts"
import type { RailUnavailable } from "../Rail.ts"
import * as Claims from "./Claims.ts"
import type * as Delivery from "./Delivery.ts"
import type * as OnChain from "./OnChain.ts"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import type { PaymentPolicy } from "./Policy.ts"
import { paymentColumns } from "./Row.ts"
import type * as Settling from "./Settling.ts"

export interface Use {
  readonly snapshot: Snapshot
  readonly method: string
  /** Tells this request from others: an answer is repeated only to the same request. */
  readonly fingerprint: string
  /** Whether the request has a body, which takes its time to arrive. */
  readonly uploads?: boolean
}

/** A call that shows a proof of ours. */
export interface ProvenCall extends Use {
  readonly proof: string
}

/** What a payment is good for at this moment. `Granted` is given to one call at a time. */
export type Grant =
  | { readonly _tag: "Granted"; readonly payment: PaymentRow; readonly signed?: Authorization }
  /** Nothing was taken, and nothing will be for this payment. */
  | { readonly _tag: "Refused"; readonly reason: ProofRefusal }
  /** Charged before, and the answer may not have arrived. */
  | { readonly _tag: "Answered"; readonly payment: PaymentRow; readonly answer: Delivery.Answer }

export type UseRefused = PaymentInProgress | PaymentAlreadyUsed | SettlementPending | RailUnavailable

/** How often one payment may be tried: whoever needs more goes on with another. */
const maxAttempts = 1000

/** Takes payments for calls: each is used once, by one call at a time. */
export const make = Effect.fnUntraced(function* (options: {
  readonly key: TokenKey
  readonly policy: PaymentPolicy
  readonly settling: Effect.Success<ReturnType<typeof Settling.make>>
  readonly delivery: Effect.Success<typeof Delivery.make>
  readonly onChain: Effect.Success<ReturnType<typeof OnChain.make>>
}) {
  const { delivery, key, onChain, policy, settling } = options
  const take = yield* Claims.make
  const sql = yield* SqlClient.SqlClient

  const rowById = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: PaymentRow,
    execute: (id) => sql`SELECT ${sql.literal(paymentColumns)} FROM payments p WHERE p.id = ${id}`
  })
  /** The payment that a proof is of. */
  const provenBy = Effect.fnUntraced(function* (proof: string) {
    const id = readProof(key, proof)
    return id === undefined ? undefined : Option.getOrUndefined(yield* Effect.orDie(rowById(id)))
  })

  const leaseOf = ({ snapshot: { endpoint }, uploads = false }: Use) => {
    const answered = Duration.sum(Duration.millis(endpoint.timeoutMs), policy.leaseMargin)
    return uploads ? Duration.sum(answered, policy.uploadLife) : answered
  }

  const claimOf = (payment: string, call: Use): Claims.Claim => ({
    payment,
    endpoint: call.snapshot.endpoint.id,
    method: call.method,
    fingerprint: call.fingerprint,
    lease: leaseOf(call)
  })
  /** Nothing has to be reserved again, so whoever changes the row has it. */
  const takeFree = Effect.fnUntraced(function* ({ id }: PaymentRow, call: Use) {
    const { row, won } = yield* take(claimOf(id, call))
    if (row === undefined || !won) return yield* justTaken(id)
    return { _tag: "Granted", payment: row } satisfies Grant
  })
  const retake = (payment: PaymentRow, call: Use) =>
    settling.retake(payment, { fingerprint: call.fingerprint, lease: leaseOf(call) }).pipe(
      Effect.flatMap(
        (taken): Effect.Effect<Grant, PaymentInProgress> =>
          taken === undefined ? Effect.fail(justTaken(payment.id)) : Effect.succeed({ _tag: "Granted", payment: taken })
      ),
      Effect.catchTags({
        INSUFFICIENT_BALANCE: () => refused("insufficient_balance"),
        WALLET_FROZEN: () => refused("wallet_frozen"),
        NOT_FOUND: Effect.die,
        SAME_WALLET: Effect.die,
        CURRENCY_MISMATCH: Effect.die,
        AMOUNT_TOO_LARGE: Effect.die,
        HOLD_NOT_OPEN: Effect.die,
        IDEMPOTENCY_KEY_REUSED: Effect.die
      })
    )

  /** Nobody knows when a call will end: whoever waits for it looks again after as long as it has gone on, and at its end. */
  const underWay = ({ id, lease_until }: PaymentRow, at: Date, call: Use) => {
    const leasedMillis = Math.max(0, (lease_until ?? at).getTime() - at.getTime())
    const goneOn = Duration.toMillis(leaseOf(call)) - leasedMillis
    return inProgress(id, Math.min(goneOn, leasedMillis))
  }

  /**
   * The answer to a call that was charged, to the same request; undefined while it may be kept yet, which one that was charged before
   * it was whole is for as long as its call has the payment and does not say that it is over.
   */
  const storedFor = Effect.fnUntraced(function* (row: PaymentRow, at: Date) {
    const answer = yield* delivery.stored(row.id)
    if (Option.isSome(answer)) return { _tag: "Answered", payment: row, answer: answer.value } satisfies Grant
    const isOver = (row.lease_until ?? at) <= at || delivery.seenHere(row.id) !== undefined
    return isOver ? yield* used(row) : undefined
  })

  const standingFor = (row: PaymentRow, { fingerprint, method, snapshot }: Use, at: Date) =>
    standing(row, { endpoint: snapshot.endpoint.id, method, fingerprint }, at)

  /** What an earlier call did with the payment; undefined where it may be at it still, as far as the row says. */
  const doneBefore = Effect.fnUntraced(function* (
    row: PaymentRow,
    call: Use,
    at: Date,
    now: Standing
  ): Effect.fn.Return<Grant | undefined, UseRefused> {
    // Whose answer arrived, or whose connection broke, is back before the mark is written.
    const delivered = delivery.seenHere(row.id)
    switch (now._tag) {
      case "InProgress":
        if (delivered === undefined || row.state !== "captured") return undefined
        return yield* delivered ? used(row) : storedFor(row, at)
      case "Settling":
        return yield* settlementPending(row)
      case "Used":
        return yield* used(row)
      case "Answerable":
        return yield* delivered === true && isSpent(row, call) ? used(row) : storedFor(row, at)
      case "Refused":
      case "Usable":
      case "Reusable":
        return yield* refused("proof_unknown")
    }
  })

  /** What an earlier call did with the payment, or is doing; `proof_unknown` when it did nothing with it. Nothing is taken. */
  const told = Effect.fnUntraced(function* (
    row: PaymentRow,
    call: Use,
    at: Date,
    now: Standing = standingFor(row, call, at)
  ): Effect.fn.Return<Grant, UseRefused> {
    const done = yield* doneBefore(row, call, at, now)
    if (done !== undefined) return done
    // That the call is over may have been written since the row was read: then it is neither in the row nor among what is unwritten.
    const later = row.state === "captured" ? Option.getOrElse(yield* Effect.orDie(rowById(row.id)), () => row) : row
    const since = yield* DateTime.nowAsDate
    const doneSince = later === row ? undefined : yield* doneBefore(later, call, since, standingFor(later, call, since))
    return doneSince ?? (yield* underWay(later, since, call))
  })

  /** The chain is asked anew: what it would have given then it may not give now. */
  const retakeOnChain = Effect.fnUntraced(function* (
    payment: PaymentRow,
    call: Use,
    signed: Authorization | undefined
  ): Effect.fn.Return<Grant, UseRefused> {
    if (onChain === undefined || signed === undefined) return yield* refused("proof_unknown")
    const reason = yield* onChain.refusal(signed, call.snapshot.endpoint.timeoutMs)
    if (reason === undefined) {
      const taken = yield* onChain.retake(payment, call.fingerprint, leaseOf(call))
      return taken === undefined ? yield* justTaken(payment.id) : { _tag: "Granted", payment: taken }
    }
    // A copy may have been taken, and settled, while the chain was asked: then that is what it told.
    const later = Option.getOrElse(yield* Effect.orDie(rowById(payment.id)), () => payment)
    return yield* later.state === "released" ? refused(reason) : told(later, call, yield* DateTime.nowAsDate)
  })

  /** What becomes of a call whose payment was there before it; `signed` where its payer signed it. */
  const judge = Effect.fnUntraced(function* (
    row: PaymentRow,
    call: Use,
    at: Date,
    signed?: Authorization
  ): Effect.fn.Return<Grant, UseRefused> {
    const now = standingFor(row, call, at)
    const isFree = now._tag === "Usable" || now._tag === "Reusable"
    // Something else under the same nonce: neither what the money was reserved for nor what may be taken says so any more.
    if (isFree && signed !== undefined && !isSignedFor(row, signed)) return yield* refused("proof_unknown")
    switch (now._tag) {
      case "Refused":
        return yield* refused(now.reason)
      case "Usable":
        // A proof of ours was free when it was asked for: another call took it meanwhile.
        return yield* row.protocol === "native" ? justTaken(row.id) : takeFree(row, call)
      case "Reusable":
        if (row.attempt >= maxAttempts) return yield* refused("proof_expired")
        return yield* row.rail === "chain" ? retakeOnChain(row, call, signed) : retake(row, call)
      default:
        return yield* told(row, call, at, now)
    }
  })

  const claim = Effect.fnUntraced(function* (call: ProvenCall) {
    const payment = readProof(key, call.proof)
    if (payment === undefined) return yield* refused("proof_unknown")
    const claimed = yield* take(claimOf(payment, call))
    if (claimed.row === undefined) return yield* refused("proof_unknown")
    if (claimed.won) return { _tag: "Granted", payment: claimed.row } satisfies Grant
    return yield* judge(claimed.row, call, claimed.at)
  })

  /** What became of a proof; takes nothing. */
  const recall = Effect.fnUntraced(function* (call: ProvenCall) {
    const row = yield* provenBy(call.proof)
    return yield* row === undefined ? refused("proof_unknown") : told(row, call, yield* DateTime.nowAsDate)
  })

  return { provenBy, claim, judge, told, recall, leaseOf }
})

export const refused = (reason: ProofRefusal): Effect.Effect<Grant> => Effect.succeed({ _tag: "Refused", reason })

const justTaken = (id: string) => inProgress(id, 1000)

const inProgress = (id: string, retryAfterMillis: number) =>
  new PaymentInProgress({
    payment_id: toTypeId("pay", id),
    retry_after: Math.min(60, Math.max(1, Math.ceil(retryAfterMillis / 1000)))
  })

const settlementPending = ({ id, transaction }: PaymentRow) =>
  new SettlementPending({ payment_id: toTypeId("pay", id), transaction, retry_after: 2 })

const used = (payment: PaymentRow) =>
  new PaymentAlreadyUsed({
    payment_id: toTypeId("pay", payment.id),
    charged: formatDecimal(payment.charged ?? 0n),
    currency: payment.currency,
    origin_status: payment.origin_status
  })
