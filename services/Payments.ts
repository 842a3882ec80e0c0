import { Clock, Context, DateTime, Duration, Effect, Layer, Option, Schedule, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { type EndpointId, toTypeId } from "#domain/Ids.ts"
import { formatDecimal } from "#domain/Money.ts"
import {
  type Paid,
  type Pay,
  Payment,
  PaymentAlreadyUsed,
  PaymentInProgress,
  PaymentRow,
  type ProofRefusal,
  type Standing,
  standing
} from "#domain/Payment.ts"
import { readProof, requestOf, sealTerms, tokenKey } from "#domain/PaymentToken.ts"
import type { IdempotencyClaim } from "#domain/Command.ts"
import type { PostingRefused } from "#domain/PostingRefused.ts"
import type { Principal } from "#domain/Principal.ts"
import type { NotFound } from "#domain/Refusal.ts"
import { Deployment } from "./Deployment.ts"
import { Endpoints, type Snapshot } from "./Endpoints.ts"
import { Ledger } from "./Ledger.ts"
import * as Claims from "./Payments/Claims.ts"
import * as Delivery from "./Payments/Delivery.ts"
import * as Due from "./Payments/Due.ts"
import * as Paying from "./Payments/Paying.ts"
import { PaymentPolicy } from "./Payments/Policy.ts"
import * as Settling from "./Payments/Settling.ts"
import { Secrets } from "./Secrets.ts"

export type { PayRefused } from "./Payments/Paying.ts"
export type { Answer } from "./Payments/Delivery.ts"

/** A call that shows a proof. The fingerprint tells it from other calls: an answer is repeated only to the same call. */
export interface ProvenCall {
  readonly proof: string
  readonly endpoint: Snapshot["endpoint"]
  readonly method: string
  readonly fingerprint: string
}

/** What a proof is good for at this moment. `Granted` is given to one call at a time. */
export type Grant =
  | { readonly _tag: "Granted"; readonly payment: PaymentRow }
  /** Nothing was taken, and nothing will be for this proof. */
  | { readonly _tag: "Refused"; readonly reason: ProofRefusal }
  /** Charged before, and the answer may not have arrived. */
  | { readonly _tag: "Answered"; readonly payment: PaymentRow; readonly answer: Delivery.Answer }

/** What a proof is worth, to whoever holds it. */
export interface Verdict {
  readonly payment: PaymentRow | undefined
  readonly reason: ProofRefusal | "proof_used" | "proof_in_use" | undefined
}

/** Payments for calls: reserved, used once, then charged or given back. */
export class Payments extends Context.Service<
  Payments,
  {
    /** A new payment request of this endpoint; nothing is stored. */
    request(snapshot: Snapshot, method: string): string
    /** Reserves the price in the caller's wallet. Paying one payment request twice is one payment. */
    pay(
      caller: Principal,
      pay: Pay,
      idempotency?: IdempotencyClaim
    ): Effect.Effect<{ readonly paid: Paid; readonly replayed: boolean }, Paying.PayRefused>
    /** Takes the payment for this call until it is captured or released, or its lease ends. */
    claim(call: ProvenCall): Effect.Effect<Grant, PaymentInProgress | PaymentAlreadyUsed>
    /** Gives a claim back as if it had never been made: the origin was not called. */
    unclaim(payment: PaymentRow): Effect.Effect<void>
    /** Charges the price at the payer's count, at most what is reserved: micro-units. Refused when the lease had ended. */
    capture(
      payment: PaymentRow,
      originStatus: number,
      answer: Delivery.Answer | undefined
    ): Effect.Effect<bigint, PostingRefused>
    /** Gives the money back; the proof may be used again until it expires. */
    release(payment: PaymentRow, failure: string, originStatus?: number): Effect.Effect<void>
    /** Says whether the last byte of a charged answer left for the caller; recorded soon, not now. */
    seen(payment: string, delivered: boolean): void
    verify(proof: string): Effect.Effect<Verdict>
    /** Payments of an endpoint of the caller's tenant, newest first, from before `before`. */
    list(
      caller: Principal,
      endpoint: EndpointId,
      range: { readonly limit: number; readonly before?: string | undefined }
    ): Effect.Effect<ReadonlyArray<Payment>, NotFound>
    /** Ends calls whose process died and payments nobody used; how many. */
    readonly resolveDue: Effect.Effect<number>
  }
>()("turnpike/services/Payments") {
  static readonly layer = Layer.effect(
    Payments,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* Ledger
      const endpoints = yield* Endpoints
      const policy = yield* PaymentPolicy
      const clock = yield* Clock.Clock
      const { publicUrl } = yield* Deployment
      const { secret } = yield* Secrets
      const key = tokenKey(yield* secret("payments"))

      const pay = yield* Paying.make({ key, publicUrl, policy, ledger, endpoints })
      const settling = Settling.make(ledger, policy)
      const take = yield* Claims.make
      const delivery = yield* Delivery.make
      const resolveDue = yield* Due.make(ledger, settling.release)

      // Requests of one second share their terms, and so the seal on them.
      const seals = new WeakMap<Snapshot, Map<string, { readonly issuedAt: number; readonly terms: string }>>()
      const request = (snapshot: Snapshot, method: string): string => {
        const now = clock.currentTimeMillisUnsafe()
        const issuedAt = Math.ceil(now / 1000) * 1000
        const byMethod = seals.get(snapshot) ?? new Map<string, { issuedAt: number; terms: string }>()
        if (byMethod.size === 0) seals.set(snapshot, byMethod)
        let seal = byMethod.get(method)
        if (seal?.issuedAt !== issuedAt) {
          const { basePrice: limit, id } = snapshot.endpoint
          seal = { issuedAt, terms: sealTerms(key, { endpoint: id, method, limit, issuedAt }) }
          byMethod.set(method, seal)
        }
        return requestOf(seal.terms, now)
      }

      const retake = (payment: PaymentRow, claim: Claims.Claim) =>
        settling.retake(payment, claim).pipe(
          Effect.flatMap(
            (taken): Effect.Effect<Grant, PaymentInProgress> =>
              taken === undefined
                ? Effect.fail(inProgress(payment.id, 1000))
                : Effect.succeed({ _tag: "Granted", payment: taken })
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
      const claim = Effect.fn("Payments.claim")(function* ({ endpoint, fingerprint, method, proof }: ProvenCall) {
        const payment = readProof(key, proof)
        if (payment === undefined) return yield* refused("proof_unknown")
        const lease = Duration.sum(Duration.millis(endpoint.timeoutMs), policy.leaseMargin)
        const wanted: Claims.Claim = { payment, endpoint: endpoint.id, method, fingerprint, lease }
        const { at, row, won } = yield* take(wanted)
        if (row === undefined) return yield* refused("proof_unknown")
        if (won) return { _tag: "Granted", payment: row } satisfies Grant
        const now = standing(row, { endpoint: endpoint.id, method, fingerprint }, at)
        switch (now._tag) {
          case "Refused":
            return yield* refused(now.reason)
          case "InProgress":
            if (delivery.isSeen(row.id)) return yield* used(row)
            return yield* inProgress(row.id, now.retryAfterMillis)
          // It was free when this statement began, and another call took it meanwhile.
          case "Usable":
            return yield* inProgress(row.id, 1000)
          case "Reusable":
            return yield* retake(row, wanted)
          case "Used":
            return yield* used(row)
          case "Undelivered": {
            const answer = yield* delivery.stored(row.id)
            if (Option.isNone(answer)) return yield* used(row)
            return { _tag: "Answered", payment: row, answer: answer.value } satisfies Grant
          }
        }
      })

      const unclaim = Effect.fn("Payments.unclaim")(
        ({ attempt, id }: PaymentRow) =>
          sql`UPDATE payments SET state = 'authorized', lease_until = NULL
            WHERE id = ${id} AND attempt = ${attempt} AND state = 'in_flight'`,
        Effect.orDie,
        Effect.asVoid
      )

      const rowById = SqlSchema.findOneOption({
        Request: Schema.String,
        Result: PaymentRow,
        execute: (id) => sql`SELECT ${sql.literal(Claims.paymentColumns)} FROM payments p WHERE p.id = ${id}`
      })
      const verify = Effect.fn("Payments.verify")(function* (proof: string): Effect.fn.Return<Verdict> {
        const id = readProof(key, proof)
        if (id === undefined) return { payment: undefined, reason: "proof_unknown" }
        const row = Option.getOrUndefined(yield* Effect.orDie(rowById(id)))
        if (row === undefined) return { payment: undefined, reason: "proof_unknown" }
        const at = DateTime.toDate(DateTime.makeUnsafe(clock.currentTimeMillisUnsafe()))
        const now = standing(row, { endpoint: row.endpoint_id, method: row.method, fingerprint: "" }, at)
        return { payment: row, reason: verdicts(now) }
      })

      const listPage = SqlSchema.findAll({
        Request: Schema.Struct({ endpoint: Schema.String, before: Schema.String, limit: Schema.Int }),
        Result: Schema.toType(Payment),
        execute: ({ endpoint, before, limit }) =>
          sql`SELECT p.id, p.endpoint_id, p.state AS status, p.payer_wallet_id, p.payee_wallet_id, p.amount, p.charged,
              p.currency, p.network, p.method, p.origin_status, p.failure, p.created_at, p.completed_at
            FROM payments p WHERE p.endpoint_id = ${endpoint} AND p.id < ${before} ORDER BY p.id DESC LIMIT ${limit}`
      })
      const list = Effect.fn("Payments.list")(function* (
        caller: Principal,
        endpoint: EndpointId,
        range: { readonly limit: number; readonly before?: string | undefined }
      ) {
        yield* endpoints.get(caller, endpoint)
        const before = range.before ?? "ffffffff-ffff-ffff-ffff-ffffffffffff"
        return yield* Effect.orDie(listPage({ endpoint, before, limit: range.limit }))
      })

      const dropOld = Effect.flatMap(DateTime.nowAsDate, delivery.dropOld)

      return Payments.of({
        request,
        pay,
        claim,
        unclaim,
        capture: settling.capture,
        release: settling.release,
        seen: delivery.seen,
        verify,
        list,
        resolveDue: Effect.tap(resolveDue, dropOld)
      })
    })
  )

  /** Ends what is due, every second. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.gen(function* () {
      const { resolveDue } = yield* Payments
      yield* resolveDue.pipe(
        Effect.catchCause((cause) => Effect.logError("Due payments could not be resolved", cause)),
        Effect.repeat(Schedule.spaced("1 second")),
        Effect.forkScoped
      )
    })
  )
}

const refused = (reason: ProofRefusal): Effect.Effect<Grant> => Effect.succeed({ _tag: "Refused", reason })

const inProgress = (id: string, retryAfterMillis: number) =>
  new PaymentInProgress({
    payment_id: toTypeId("pay", id),
    retry_after: Math.min(60, Math.max(1, Math.ceil(retryAfterMillis / 1000)))
  })

const used = (payment: PaymentRow) =>
  new PaymentAlreadyUsed({
    payment_id: toTypeId("pay", payment.id),
    charged: formatDecimal(payment.charged ?? 0n),
    currency: payment.currency,
    origin_status: payment.origin_status
  })

const verdicts = (now: Standing): Verdict["reason"] => {
  switch (now._tag) {
    case "Usable":
    case "Reusable":
      return undefined
    case "Refused":
      return now.reason
    case "InProgress":
      return "proof_in_use"
    case "Used":
    case "Undelivered":
      return "proof_used"
  }
}
