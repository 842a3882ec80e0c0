import { DateTime, type Duration, Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { Outcome } from "#domain/ChainSettlement.ts"
import { depositSteps } from "#domain/Charge.ts"
import type { Posted } from "#domain/Command.ts"
import { cappedAt } from "#domain/EndpointPrice.ts"
import { toTypeId } from "#domain/Ids.ts"
import { priceAt } from "#domain/Price.ts"
import { PaymentRow, SettlementPending, SettlementRefused } from "#domain/Payment.ts"
import { stepId } from "#domain/PaymentToken.ts"
import { HoldNotOpen, type PostingRefused } from "#domain/PostingRefused.ts"
import { type Authorization, settlingSeconds } from "#domain/protocol/Authorization.ts"
import { uuidFrom } from "#domain/Uuid.ts"
import { bookChainSettlement, ChainSettlements, type Concluded } from "../ChainSettlements.ts"
import { companion } from "../Ledger/Companion.ts"
import type { Ledger } from "../Ledger.ts"
import { Rail } from "../Rail.ts"
import * as Abandoned from "./Abandoned.ts"
import { eachDue } from "./EachDue.ts"
import { paymentColumns } from "./Row.ts"
import type { PaymentPolicy } from "./Policy.ts"
import { capturePayment, failedOnChain, paymentEvent, refusePayment } from "./Records.ts"
import type { Charge, OriginAnswer } from "./Settling.ts"

/** The id under which a payer who has an address and no wallet here is counted: the same each time. */
export const payerIdOf = (network: string, address: string): string => uuidFrom(`payer ${network} ${address}`)

/** How the step is called that takes one attempt's money, and whose id the settlement has: that of one order. */
const settlementId = (payment: Pick<PaymentRow, "id" | "attempt">) => stepId(payment.id, payment.attempt, "settle")

/** The published reasons for an authorisation that ends before it could be settled. */
export const endsTooSoon: Record<Authorization["method"], string> = {
  eip3009: "invalid_exact_evm_payload_authorization_valid_before",
  permit2: "permit2_deadline_expired",
  svm: "invalid_exact_svm_transaction_simulation_failed"
}

/** Ends the time of a kept answer, at the latest then. */
const keepAnswerUntil = companion<{ readonly payment_id: string; readonly until: string }>(
  `UPDATE payment_answers a SET expires_at = r.until
  FROM jsonb_to_recordset($1::jsonb) AS r (payment_id uuid, until timestamptz)
  WHERE a.payment_id = r.payment_id AND a.expires_at > r.until`
)

/** Keeps an answer at least until then. */
const keepAnswerAtLeastUntil = companion<{ readonly payment_id: string; readonly until: string }>(
  `UPDATE payment_answers a SET expires_at = r.until
  FROM jsonb_to_recordset($1::jsonb) AS r (payment_id uuid, until timestamptz)
  WHERE a.payment_id = r.payment_id AND a.expires_at < r.until`
)

/**
 * Payments whose money is on a chain. Nothing can be held there: the authorisation is reserved here, and the money moves when the
 * origin has answered. The books follow the chain: what arrived is a deposit for the receiver.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly policy: PaymentPolicy
  readonly ledger: Ledger["Service"]
}) {
  const { ledger, policy } = options
  const sql = yield* SqlClient.SqlClient
  const giveBackAbandoned = yield* Abandoned.make
  const rail = yield* Effect.serviceOption(Rail)
  const settlements = yield* Effect.serviceOption(ChainSettlements)
  if (Option.isNone(rail) || Option.isNone(settlements)) return undefined
  const { verify } = rail.value
  const { deliverDue, place } = settlements.value

  /** Why the chain would not give the money by the time the origin has answered, if that takes so long; undefined when it would. */
  const refusal = Effect.fnUntraced(function* (authorization: Authorization, originMillis: number) {
    if (authorization.amount === 0n) return undefined
    const answered = DateTime.add(yield* DateTime.now, { milliseconds: originMillis, seconds: settlingSeconds })
    if (authorization.validUntil.getTime() < DateTime.toEpochMillis(answered)) return endsTooSoon[authorization.method]
    return yield* verify(authorization).pipe(
      Effect.as(undefined),
      Effect.catchTag("AUTHORIZATION_REFUSED", ({ reason }) => Effect.succeed(reason)),
      // A rail with a wrong key answers nobody, and only those who wanted to pay would see it.
      Effect.tapErrorTag("RAIL_UNAVAILABLE", ({ reason }) =>
        Effect.logWarning("The settlement rail gave no answer", { reason })
      )
    )
  })

  const retakeRow = SqlSchema.findOneOption({
    Request: Schema.Struct({ id: Schema.String, attempt: Schema.Int, until: Schema.Date, fingerprint: Schema.String }),
    Result: PaymentRow,
    execute: ({ attempt, fingerprint, id, until }) =>
      sql`UPDATE payments p SET state = 'in_flight', attempt = p.attempt + 1, lease_until = ${until}, origin_status = NULL,
          origin_ms = NULL, failure = NULL, request_fingerprint = ${fingerprint}
        WHERE p.id = ${id} AND p.attempt = ${attempt} AND p.state = 'released'
        RETURNING ${sql.literal(paymentColumns)}`
  })
  /** Takes a payment that was given back for another call; undefined when another call was faster. */
  const retake = Effect.fnUntraced(function* (payment: PaymentRow, fingerprint: string, lease: Duration.Duration) {
    const until = DateTime.toDate(DateTime.addDuration(yield* DateTime.now, lease))
    const { attempt, id } = payment
    return Option.getOrUndefined(yield* Effect.orDie(retakeRow({ id, attempt, until, fingerprint })))
  })

  const begin = SqlSchema.findOneOption({
    Request: Schema.Struct({
      id: Schema.String,
      attempt: Schema.Int,
      lease_until: Schema.NullOr(Schema.Date),
      status: Schema.Int,
      millis: Schema.Int
    }),
    Result: PaymentRow,
    // What costs nothing is taken again under the same attempt: the lease tells whose it is.
    execute: ({ attempt, id, lease_until, millis, status }) =>
      sql`UPDATE payments p SET state = 'settling', origin_status = ${status}, origin_ms = ${millis}
        WHERE p.id = ${id} AND p.attempt = ${attempt} AND p.state = 'in_flight' AND p.lease_until = ${lease_until}
        RETURNING ${sql.literal(paymentColumns)}`
  })

  /**
   * Kept before the chain is asked: whatever it says, the origin is not called again for this payment. What another attempt was
   * answered is not the answer to this one.
   */
  const keepAnswer = (payment: PaymentRow, { kept }: OriginAnswer, now: DateTime.Utc) => {
    if (kept === undefined) return Effect.asVoid(sql`DELETE FROM payment_answers WHERE payment_id = ${payment.id}`)
    const until = DateTime.toDate(DateTime.addDuration(now, policy.settlementLife))
    return Effect.asVoid(
      sql`INSERT INTO payment_answers (payment_id, status, headers, body, expires_at)
        VALUES (${payment.id}, ${kept.status}, ${JSON.stringify(kept.headers)}::json, ${kept.body}, ${until})
        ON CONFLICT (payment_id) DO UPDATE SET status = EXCLUDED.status, headers = EXCLUDED.headers,
          body = EXCLUDED.body, expires_at = EXCLUDED.expires_at`
    )
  }

  const booked = (payment: PaymentRow, posted: Posted) =>
    bookChainSettlement.of({ id: settlementId(payment), booked_at: posted.at.toISOString() })

  /**
   * Books what was taken. An answer that was `handedOut` is kept as long as others; one that waited as long as was promised, and from now
   * on at least as long as others, for its payer could not ask for it before.
   */
  const charge = (payment: PaymentRow, amount: bigint, transaction: string | null, handedOut: boolean) =>
    ledger.post({
      id: stepId(payment.id, payment.attempt, "capture"),
      steps: depositSteps(payment, amount, policy.feeBasisPoints),
      rows: (posted) => [
        capturePayment.of({
          id: payment.id,
          charged: amount,
          origin_status: payment.origin_status ?? 200,
          origin_ms: payment.origin_ms,
          transaction,
          completed_at: posted.at
        }),
        booked(payment, posted),
        (handedOut ? keepAnswerUntil : keepAnswerAtLeastUntil).of({
          payment_id: payment.id,
          until: repeatedUntil(payment, posted.at)
        })
      ],
      events: (posted) => [
        paymentEvent("x402.payment.completed", payment, {
          status: "captured",
          charged: amount,
          origin_status: payment.origin_status,
          origin_ms: payment.origin_ms,
          transaction,
          failure: null,
          completed_at: posted.at
        })
      ]
    })

  const repeatedUntil = (payment: PaymentRow, at: Date): string => {
    const until = DateTime.addDuration(DateTime.makeUnsafe(at), policy.repeatLife)
    return DateTime.formatIso(DateTime.max(until, DateTime.makeUnsafe(payment.proof_expires_at)))
  }

  // A refusal moves nothing, so the ledger would not know it the second time, after a lost connection: its key does.
  const refuse = (payment: PaymentRow) => {
    const id = stepId(payment.id, payment.attempt, "refuse")
    return ledger.post({
      id,
      idempotency: { tenant_id: payment.tenant_id, operation: "x402.refuse", key: id, fingerprint: id },
      result: () => ({ payment_id: payment.id }),
      steps: [],
      rows: (posted) => [
        refusePayment.of({ id: payment.id, attempt: payment.attempt, failure: "settlement_refused" }),
        booked(payment, posted),
        keepAnswerUntil.of({ payment_id: payment.id, until: posted.at.toISOString() })
      ],
      events: () => [failedOnChain(payment, "settlement_refused")]
    })
  }

  const conclude = (
    payment: PaymentRow,
    amount: bigint,
    outcome: Exclude<Outcome, { _tag: "Pending" }>,
    handedOut: boolean
  ) => (outcome._tag === "Settled" ? charge(payment, amount, outcome.transaction, handedOut) : refuse(payment))

  /** What is taken: a price as it was signed; of a maximum the price for this payer by now, or what the origin says if that is less. */
  const costOf = (payment: PaymentRow, { reported }: OriginAnswer, { scheme }: Authorization) => {
    if (scheme === "exact") return Effect.succeed(payment.amount)
    const price = reported === undefined ? payment.price : cappedAt(payment.price, reported)
    return Effect.map(ledger.tally(payment.endpoint_id, payment.payer_id), ({ count }) => priceAt(price, count))
  }

  /**
   * Takes the money. `HOLD_NOT_OPEN` when the lease had ended, refused when the chain did not give it. Whoever asks again has the answer that was
   * kept; one that was not is in its call's hands only, so that call waits. Where a chain takes longer than `holdLife` as well, that
   * answer is lost, and its payer may yet be charged: what is kept has no such end.
   */
  const capture = Effect.fnUntraced(function* (
    payment: PaymentRow,
    answer: OriginAnswer,
    authorization: Authorization
  ): Effect.fn.Return<Charge, PostingRefused | SettlementPending | SettlementRefused> {
    const { id, attempt, lease_until } = payment
    const amount = yield* costOf(payment, answer, authorization)
    const now = yield* DateTime.now
    const settling = Effect.gen(function* () {
      const row = Option.getOrUndefined(
        yield* begin({ id, attempt, lease_until, status: answer.status, millis: answer.millis })
      )
      if (row === undefined) return undefined
      yield* keepAnswer(row, answer, now)
      // Whoever sleeps from here on is not taken for one that died before it asked: nobody else is let in meanwhile.
      const order = { id: settlementId(row), payment_id: id, authorization, amount, since: row.created_at }
      const settle = amount === 0n ? undefined : yield* place(order)
      return { row, settle }
    })
    const begun = yield* Effect.orDie(sql.withTransaction(settling))
    // The lease had ended, and the payment was given back: another call may have it, and be charged.
    if (begun === undefined) return yield* new HoldNotOpen({ hold_id: id, state: "released" })
    const { row, settle } = begun
    if (settle === undefined) {
      yield* charge(row, 0n, null, true)
      return { charged: 0n, transaction: null }
    }
    const outcome = yield* Effect.orDie(settle(answer.kept === undefined ? policy.holdLife : undefined))
    if (outcome._tag === "Pending") {
      const transaction = outcome.transaction ?? null
      return yield* new SettlementPending({ payment_id: toTypeId("pay", id), transaction, retry_after: 2 })
    }
    yield* conclude(row, amount, outcome, true)
    if (outcome._tag === "Refused") return yield* new SettlementRefused({ reason: outcome.reason })
    return { charged: amount, transaction: outcome.transaction }
  })

  const byId = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: PaymentRow,
    execute: (id) => sql`SELECT ${sql.literal(paymentColumns)} FROM payments p WHERE p.id = ${id}`
  })
  const book = Effect.fnUntraced(function* ({ amount, id, outcome, payment_id }: Concluded) {
    const payment = Option.getOrUndefined(yield* byId(payment_id))
    // The attempt whose money it is need not be the last: a process may have slept through the end of its lease.
    let attempt = payment?.attempt ?? 0
    while (attempt > 0 && settlementId({ id: payment_id, attempt }) !== id) attempt--
    if (payment === undefined || attempt === 0) {
      return yield* Effect.die(`Settlement ${id} is of no attempt of payment ${payment_id} that is known`)
    }
    yield* conclude({ ...payment, attempt }, amount, outcome, false)
  }, Effect.orDie)

  /** Books outcomes that came late, and gives back payments whose process died before it asked for their money. */
  const resolveDue = eachDue([deliverDue(book), giveBackAbandoned])

  return { refusal, retake, capture, resolveDue }
})
