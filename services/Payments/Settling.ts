import { DateTime, Duration, Effect } from "effect"
import { systemAccount } from "#domain/LedgerAccount.ts"
import type { PaymentRow } from "#domain/Payment.ts"
import { stepId } from "#domain/PaymentToken.ts"
import type { Posted, Step } from "#domain/Command.ts"
import type { PostingRefused } from "#domain/PostingRefused.ts"
import { flat } from "#domain/Price.ts"
import type { Ledger } from "../Ledger.ts"
import type { Claim } from "./Claims.ts"
import type { Answer } from "./Delivery.ts"
import type { PaymentPolicy } from "./Policy.ts"
import { capturePayment, chargedIn, insertAnswer, paymentEvent, releasePayment, retakePayment } from "./Records.ts"

/** Ends calls: takes the money, or frees it. Each outcome has an id of its own, so saying it twice changes nothing. */
export const make = (ledger: Ledger["Service"], policy: PaymentPolicy) => {
  const between = (payment: PaymentRow) => ({
    debit: payment.payer_wallet_id,
    credit: payment.payee_wallet_id,
    currency: payment.currency
  })
  const tallyOf = (payment: PaymentRow) => ({ scope: payment.endpoint_id, subject: payment.payer_wallet_id })

  const captureSteps = (payment: PaymentRow): ReadonlyArray<Step> => {
    const tally = tallyOf(payment)
    if (payment.hold_id === null) return [{ ...between(payment), kind: "count", tally, code: "payment" }]
    const capture: Step = {
      ...between(payment),
      kind: "capture",
      hold: payment.hold_id,
      price: payment.price,
      tally,
      code: "payment"
    }
    if (policy.feeBasisPoints === 0) return [capture]
    return [
      capture,
      {
        kind: "fee",
        debit: payment.payee_wallet_id,
        credit: systemAccount("fees", payment.currency),
        currency: payment.currency,
        basis_points: policy.feeBasisPoints,
        code: "fee"
      }
    ]
  }

  /** What was charged, in micro-units. Refused when the money was freed meanwhile. */
  const capture = Effect.fnUntraced(function* (
    payment: PaymentRow,
    origin_status: number,
    answer: Answer | undefined
  ): Effect.fn.Return<bigint, PostingRefused> {
    const posted = yield* ledger.post({
      id: stepId(payment.id, payment.attempt, "capture"),
      steps: captureSteps(payment),
      rows: (posted) => {
        const row = capturePayment.of({
          id: payment.id,
          charged: String(chargedIn(posted)),
          origin_status,
          completed_at: posted.at.toISOString()
        })
        return answer === undefined ? [row] : [row, storedAnswer(payment, answer, posted)]
      },
      events: (posted) => [
        paymentEvent("x402.payment.completed", payment, {
          status: "captured",
          charged: chargedIn(posted),
          origin_status,
          failure: null,
          completed_at: posted.at
        })
      ]
    })
    return chargedIn(posted)
  })

  const storedAnswer = (payment: PaymentRow, answer: Answer, posted: Posted) =>
    insertAnswer.of({
      payment_id: payment.id,
      status: answer.status,
      headers: answer.headers,
      body: Buffer.from(answer.body).toString("base64"),
      expires_at: later(posted.at, policy.answerLife).toISOString()
    })

  /** Frees the money of a call that failed. A call that was charged meanwhile stays charged. */
  const release = (payment: PaymentRow, failure: string, origin_status: number | null = null): Effect.Effect<void> => {
    const row = releasePayment.of({ id: payment.id, attempt: payment.attempt, origin_status, failure })
    return ledger
      .post({
        id: stepId(payment.id, payment.attempt, "release"),
        steps:
          payment.hold_id === null
            ? []
            : [{ ...between(payment), kind: "release", hold: payment.hold_id, as: "released", code: "released" }],
        rows: () => [row],
        events: () => [
          paymentEvent("x402.payment.failed", payment, {
            status: "released",
            charged: null,
            origin_status,
            failure,
            completed_at: null
          })
        ]
      })
      .pipe(
        Effect.catchTag("HOLD_NOT_OPEN", ({ state }) =>
          state === "captured"
            ? Effect.void
            : // The ledger expired the hold before anybody came: only the row is left to end.
              ledger.post({ id: stepId(payment.id, payment.attempt, "close"), steps: [], rows: () => [row] })
        ),
        Effect.ignore
      )
  }

  /** Reserves the money again for another call with the same proof; undefined when another call was faster. */
  const retake = Effect.fnUntraced(function* (
    payment: PaymentRow,
    claim: Claim
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
}

const later = (at: Date, by: Duration.Duration): Date =>
  DateTime.toDate(DateTime.addDuration(DateTime.makeUnsafe(at), by))
