import { DateTime, Duration, Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { captureSteps } from "#domain/Charge.ts"
import type { EventDraft } from "#domain/Event.ts"
import { later } from "#domain/Instant.ts"
import { type PaymentRow, transactionOf } from "#domain/Payment.ts"
import type { PaymentFailure } from "#domain/PaymentFailure.ts"
import { stepId } from "#domain/PaymentToken.ts"
import type { Posted } from "#domain/Command.ts"
import type { PostingRefused } from "#domain/PostingRefused.ts"
import { flat } from "#domain/Price.ts"
import { EventLog } from "../EventLog.ts"
import type { Ledger } from "../Ledger.ts"
import type { Claim } from "./Claims.ts"
import type { Answer } from "./Delivery.ts"
import { keptUntil, type PaymentPolicy } from "./Policy.ts"
import { capturePayment, chargedIn, insertAnswer, paymentEvent, releasePayment, retakePayment } from "./Records.ts"

/** What the origin answered to a call, and how long it took. */
export interface OriginAnswer {
  readonly status: number
  readonly millis: number
  /** The whole answer, when it is small enough to keep. */
  readonly kept: Answer | undefined
  /** What the origin itself says the call costs, micro-units; for payers who signed a maximum. */
  readonly reported?: bigint | undefined
}

/** What a call cost (micro-units), and where the chain shows it. */
export interface Charge {
  readonly charged: bigint
  readonly transaction: string | null
}

/** Ends calls: takes the money, or frees it. Each outcome has an id of its own, so saying it twice changes nothing. */
export const make = Effect.fnUntraced(function* (ledger: Ledger["Service"], policy: PaymentPolicy) {
  const sql = yield* SqlClient.SqlClient
  const events = yield* EventLog
  const between = (payment: PaymentRow) => ({
    debit: payment.payer_id,
    credit: payment.payee_wallet_id,
    currency: payment.currency
  })

  /** Refused when the money was freed meanwhile. */
  const capture = Effect.fnUntraced(function* (
    payment: PaymentRow,
    { kept, millis: origin_ms, reported, status: origin_status }: OriginAnswer
  ): Effect.fn.Return<Charge, PostingRefused> {
    const transaction = transactionOf(payment)
    const posted = yield* ledger.post({
      id: stepId(payment.id, payment.attempt, "capture"),
      steps: captureSteps(payment, reported, policy.feeBasisPoints),
      rows: (posted) => {
        const row = capturePayment.of({
          id: payment.id,
          charged: chargedIn(posted),
          origin_status,
          origin_ms,
          transaction: null,
          completed_at: posted.at
        })
        return kept === undefined ? [row] : [row, storedAnswer(payment, kept, posted)]
      },
      events: (posted) => [
        paymentEvent("x402.payment.completed", payment, {
          status: "captured",
          charged: chargedIn(posted),
          origin_status,
          origin_ms,
          transaction,
          failure: null,
          completed_at: posted.at
        })
      ]
    })
    return { charged: chargedIn(posted), transaction }
  })

  const storedAnswer = (payment: PaymentRow, answer: Answer, posted: Posted) =>
    insertAnswer.of({
      payment_id: payment.id,
      status: answer.status,
      headers: answer.headers,
      body: answer.body,
      expires_at: keptUntil(policy, payment, posted.at)
    })

  const endRow = SqlSchema.findOneOption({
    Request: Schema.Struct({
      id: Schema.String,
      attempt: Schema.Int,
      lease_until: Schema.NullOr(Schema.Date),
      origin_status: Schema.NullOr(Schema.Int),
      origin_ms: Schema.NullOr(Schema.Int),
      failure: Schema.String
    }),
    Result: Schema.Struct({ id: Schema.String }),
    execute: ({ attempt, failure, id, lease_until, origin_ms, origin_status }) =>
      sql`UPDATE payments SET state = 'released', lease_until = NULL, origin_status = ${origin_status},
          origin_ms = ${origin_ms}, failure = ${failure}
        WHERE id = ${id} AND attempt = ${attempt} AND state = 'in_flight' AND lease_until = ${lease_until} RETURNING id`
  })
  /**
   * Ends a call that holds no money: no movement tells whether it has ended before, so the row does. What costs nothing is taken again
   * under the same attempt: the lease tells whose it is.
   */
  const endUnheld = (end: Parameters<typeof endRow>[0], failed: EventDraft): Effect.Effect<void> =>
    Effect.andThen(events.enter, endRow(end)).pipe(
      Effect.flatMap((row) => (Option.isSome(row) ? events.append([failed]) : Effect.void)),
      sql.withTransaction,
      Effect.orDie
    )

  /** Frees the money of a call that failed. A call that was charged meanwhile stays charged. */
  const release = (payment: PaymentRow, failure: PaymentFailure, answer?: OriginAnswer): Effect.Effect<void> => {
    const origin_status = answer?.status ?? null
    const origin_ms = answer?.millis ?? null
    const { attempt, id, lease_until } = payment
    const end = { id, attempt, origin_status, origin_ms, failure }
    const own = { ...end, lease_until }
    const failed = paymentEvent("x402.payment.failed", payment, {
      status: "released",
      charged: null,
      origin_status,
      origin_ms,
      transaction: null,
      failure,
      completed_at: null
    })
    if (payment.hold_id === null) return endUnheld(own, failed)
    return ledger
      .post({
        id: stepId(id, attempt, "release"),
        steps: [{ ...between(payment), kind: "release", hold: payment.hold_id, as: "released", code: "released" }],
        rows: () => [releasePayment.of(end)],
        events: () => [failed]
      })
      .pipe(
        // The ledger expired the hold before anybody came: only the row is left to end.
        Effect.catchTag("HOLD_NOT_OPEN", () => endUnheld(own, failed)),
        // Nothing else is ever wrong with a hold of ours: were it, the money would stay held and nobody be told.
        Effect.orDie,
        Effect.asVoid
      )
  }

  /** Reserves the money again for another call with the same proof; undefined when another call was faster. */
  const retake = Effect.fnUntraced(function* (
    payment: PaymentRow,
    claim: Pick<Claim, "fingerprint" | "lease">
  ): Effect.fn.Return<PaymentRow | undefined, PostingRefused> {
    const attempt = payment.attempt + 1
    const hold_id = stepId(payment.id, attempt, "hold")
    const lease_until = DateTime.toDate(DateTime.addDuration(yield* DateTime.now, claim.lease))
    const posted = yield* ledger.post({
      id: hold_id,
      steps: [
        {
          ...between(payment),
          kind: "hold",
          hold: hold_id,
          price: flat(payment.amount),
          expires_at: later(lease_until, Duration.seconds(15)),
          code: "payment"
        }
      ],
      rows: () => [
        retakePayment.of({
          id: payment.id,
          hold_id,
          attempt,
          lease_until: lease_until.toISOString(),
          request_fingerprint: claim.fingerprint
        })
      ]
    })
    return posted.replayed ? undefined : { ...payment, state: "in_flight", hold_id, attempt, lease_until }
  })

  return { capture, release, retake }
})
