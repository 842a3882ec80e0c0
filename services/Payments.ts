import { Clock, Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema, type Statement } from "effect/sql"
import { type EndpointId, highestUuid } from "#domain/Ids.ts"
import { dateOf } from "#domain/Instant.ts"
import {
  type Paid,
  type Pay,
  type Payment,
  PaymentRow,
  type ProofRefusal,
  recordOf,
  type SettlementPending,
  type SettlementRefused,
  type Standing,
  standing
} from "#domain/Payment.ts"
import type { PaymentFailure } from "#domain/PaymentFailure.ts"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import { requestOf, sealTerms, tokenKey } from "#domain/PaymentToken.ts"
import type { IdempotencyClaim } from "#domain/Command.ts"
import type { IdempotencyKeyReused, PostingRefused } from "#domain/PostingRefused.ts"
import type { Principal } from "#domain/Principal.ts"
import type { NotFound } from "#domain/Refusal.ts"
import { Deployment } from "./Deployment.ts"
import { Endpoints, type Snapshot } from "./Endpoints.ts"
import { Ledger } from "./Ledger.ts"
import { Lookout } from "./Lookout.ts"
import * as Delivery from "./Payments/Delivery.ts"
import * as Due from "./Payments/Due.ts"
import { eachDue } from "./Payments/EachDue.ts"
import * as Keeping from "./Payments/Keeping.ts"
import * as OnChain from "./Payments/OnChain.ts"
import * as Paying from "./Payments/Paying.ts"
import { PaymentPolicy } from "./Payments/Policy.ts"
import { paymentColumns } from "./Payments/Row.ts"
import * as Settling from "./Payments/Settling.ts"
import * as Signed from "./Payments/Signed.ts"
import * as Using from "./Payments/Using.ts"
import { Secrets } from "./Secrets.ts"
import { upkeep } from "./Upkeep.ts"
import { Wallets } from "./Wallets.ts"

export type { PayRefused } from "./Payments/Paying.ts"
export type { Answer } from "./Payments/Delivery.ts"
export type { Charge, OriginAnswer } from "./Payments/Settling.ts"
export type { SignedCall } from "./Payments/Signed.ts"
export type { Grant, ProvenCall, UseRefused } from "./Payments/Using.ts"

/** What a 402 names for the native flow. Requests of one second share their terms; `issuedAt` is milliseconds since 1970. */
export interface NewRequest {
  readonly request: string
  readonly terms: string
  readonly issuedAt: number
}

/** What a proof is worth, to whoever holds it. */
export interface Verdict {
  readonly payment: PaymentRow | undefined
  readonly reason: ProofRefusal | "proof_used" | "proof_in_use" | undefined
}

/** Payments for calls: reserved, used once, then charged or given back. */
export class Payments extends Context.Service<
  Payments,
  {
    /** A new payment request of this endpoint, and the sealed terms in it; nothing is stored. */
    request(snapshot: Snapshot, method: string): NewRequest
    /** Reserves the price in the caller's wallet. Paying one payment request twice is one payment. */
    pay(
      caller: Principal,
      pay: Pay,
      idempotency?: IdempotencyClaim
    ): Effect.Effect<{ readonly paid: Paid; readonly replayed: boolean }, Paying.PayRefused>
    /** Takes the payment for this call until it is captured or released, or its lease ends. */
    claim(call: Using.ProvenCall): Effect.Effect<Using.Grant, Using.UseRefused>
    /** Reserves what its payer signed and takes it for this call, in one step; copies of it get what became of the first. */
    present(call: Signed.SignedCall): Effect.Effect<Using.Grant, Using.UseRefused | IdempotencyKeyReused>
    /** What became of a signed payment that was brought before, whether or not it would still be accepted. */
    again(call: Signed.SignedCall): Effect.Effect<Using.Grant | undefined, Using.UseRefused>
    /** What an earlier call did with its payment, or is doing, where no call is served any more. Takes nothing. */
    recall(call: Using.ProvenCall | Signed.SignedCall): Effect.Effect<Using.Grant, Using.UseRefused>
    /** Gives a claim back as if it had never been made: the origin was not called, or its caller had left by then. */
    unclaim(payment: PaymentRow, failure?: "not_called" | "caller_gone"): Effect.Effect<void>
    /**
     * Charges the price at the payer's count, at most what is reserved. Refused when the lease had ended. Money on a
     * chain moves by what its payer `signed`, which may be refused or take longer than a caller waits.
     */
    capture(
      payment: PaymentRow,
      answer: Settling.OriginAnswer,
      signed?: Authorization
    ): Effect.Effect<Settling.Charge, PostingRefused | SettlementPending | SettlementRefused>
    /** Keeps the answer of a charged call, for as long as its signed payment may ask for it again. */
    keep(payment: PaymentRow, answer: Delivery.Answer): Effect.Effect<void>
    /** Gives the money back; the proof may be used again until it expires. */
    release(payment: PaymentRow, failure: PaymentFailure, answer?: Settling.OriginAnswer): Effect.Effect<void>
    /** Says that a charged call is over, and whether the last byte of its answer left for the caller; recorded soon, not now. */
    seen(payment: string, delivered: boolean, keeps?: boolean): void
    verify(proof: string): Effect.Effect<Verdict>
    /** Payments of an endpoint of the caller's tenant, newest first, from before `before`. */
    list(
      caller: Principal,
      endpoint: EndpointId,
      range: { readonly limit: number; readonly before?: string | undefined }
    ): Effect.Effect<ReadonlyArray<Payment>, NotFound>
    /** Ends calls whose process died and payments nobody used; how many. */
    readonly resolveDue: Effect.Effect<number>
    /** Whether there are any, as an expression of SQL. */
    isDue(now: Date): Statement.Fragment
    /** Forgets stored answers whose time is over, at most 500 a step; how many. */
    readonly dropOldAnswers: Effect.Effect<number>
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
      const { publicUrl, scannerUrl } = yield* Deployment
      const { secret } = yield* Secrets
      const key = tokenKey(yield* secret("payments"))

      const wallets = yield* Wallets
      const pay = yield* Paying.make({ key, publicUrl, scannerUrl, policy, ledger, endpoints, wallets })
      const settling = yield* Settling.make(ledger, policy)
      const delivery = yield* Delivery.make
      const keep = yield* Keeping.make(policy)
      const onChain = yield* OnChain.make({ policy, ledger })
      const using = yield* Using.make({ key, policy, settling, delivery, onChain })
      const signed = yield* Signed.make({ policy, ledger, using, onChain })
      const due = yield* Due.make(ledger, settling.release)

      // Requests of one second share their terms, and so the seal on them.
      const seals = new WeakMap<Snapshot, Map<string, { readonly issuedAt: number; readonly terms: string }>>()
      const request = (snapshot: Snapshot, method: string): NewRequest => {
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
        return { ...seal, request: requestOf(seal.terms, now) }
      }

      // All who take it so have the first attempt: the end of its own lease tells a claim from the next.
      const unclaimProof = ({ id, lease_until }: PaymentRow) =>
        sql`UPDATE payments SET state = 'authorized', lease_until = NULL
          WHERE id = ${id} AND attempt = 1 AND state = 'in_flight' AND lease_until = ${lease_until}`.pipe(
          Effect.orDie,
          Effect.asVoid
        )
      // What is paid for is held for as long as its proof may be used. What was signed lasts longer, and a later attempt holds for its own
      // call only: there the money is free meanwhile.
      const unclaim = (payment: PaymentRow, failure: "not_called" | "caller_gone" = "not_called") =>
        payment.protocol === "native" && payment.attempt === 1
          ? unclaimProof(payment)
          : settling.release(payment, failure)

      const verify = Effect.fn("Payments.verify")(function* (proof: string): Effect.fn.Return<Verdict> {
        const row = yield* using.provenBy(proof)
        if (row === undefined) return { payment: undefined, reason: "proof_unknown" }
        const at = dateOf(clock.currentTimeMillisUnsafe())
        const now = standing(row, { endpoint: row.endpoint_id, method: row.method, fingerprint: "" }, at)
        return { payment: row, reason: verdicts(now) }
      })

      const listPage = SqlSchema.findAll({
        Request: Schema.Struct({ endpoint: Schema.String, before: Schema.String, limit: Schema.Int }),
        Result: PaymentRow,
        execute: ({ endpoint, before, limit }) =>
          sql`SELECT ${sql.literal(paymentColumns)}
            FROM payments p WHERE p.endpoint_id = ${endpoint} AND p.id < ${before} ORDER BY p.id DESC LIMIT ${limit}`
      })
      const list = Effect.fn("Payments.list")(function* (
        caller: Principal,
        endpoint: EndpointId,
        range: { readonly limit: number; readonly before?: string | undefined }
      ) {
        yield* endpoints.get(caller, endpoint)
        const before = range.before ?? highestUuid
        const rows = yield* Effect.orDie(listPage({ endpoint, before, limit: range.limit }))
        return rows.map(recordOf)
      })

      const dropOldAnswers = Effect.flatMap(DateTime.nowAsDate, delivery.dropOld)

      return Payments.of({
        request,
        pay,
        claim: using.claim,
        present: signed.present,
        again: signed.again,
        recall: (call) => ("proof" in call ? using.recall(call) : signed.recall(call)),
        unclaim,
        capture: (payment, answer, signed) =>
          payment.rail === "ledger"
            ? settling.capture(payment, answer)
            : onChain === undefined || signed === undefined
              ? Effect.die("Money on a chain moves by what its payer signed")
              : onChain.capture(payment, answer, signed),
        keep,
        release: settling.release,
        seen: delivery.seen,
        verify,
        list,
        resolveDue: onChain === undefined ? due.resolveDue : eachDue([due.resolveDue, onChain.resolveDue]),
        isDue: onChain === undefined ? due.isDue : () => sql`true`,
        dropOldAnswers
      })
    })
  )

  /** Ends what is due, every second, and forgets what is old. Any number of processes may. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.gen(function* () {
      const { dropOldAnswers, isDue, resolveDue } = yield* Payments
      const { keep } = yield* Lookout
      // Some that cannot be ended must not keep it from waiting.
      yield* keep({
        failed: "Due payments could not be resolved",
        isDue,
        step: Effect.repeat(resolveDue, { while: (ended) => ended >= Due.batch, times: 9 })
      })
      yield* upkeep(
        "Old answers could not be dropped",
        Effect.repeat(dropOldAnswers, { while: (dropped) => dropped > 0 }),
        "10 seconds"
      )
    })
  )
}

const verdicts = (now: Standing): Verdict["reason"] => {
  switch (now._tag) {
    case "Usable":
    case "Reusable":
      return undefined
    case "Refused":
      return now.reason
    case "InProgress":
    case "Settling":
      return "proof_in_use"
    case "Used":
    case "Answerable":
      return "proof_used"
  }
}
