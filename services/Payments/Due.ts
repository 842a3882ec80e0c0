import { DateTime, Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { PaymentRow } from "#domain/Payment.ts"
import { stepId } from "#domain/PaymentToken.ts"
import type { Ledger } from "../Ledger.ts"
import { paymentColumns } from "./Row.ts"

const batch = 200

/**
 * Ends what nobody else will end: calls whose process died, and payments that were never used. Any number of processes may run
 * it at once. Answers how many payments it ended.
 */
export const make = Effect.fnUntraced(function* (
  ledger: Ledger["Service"],
  release: (payment: PaymentRow, failure: string) => Effect.Effect<void>
) {
  const sql = yield* SqlClient.SqlClient

  const overdue = SqlSchema.findAll({
    Request: Schema.Date,
    Result: PaymentRow,
    execute: (now) =>
      sql`SELECT ${sql.literal(paymentColumns)} FROM payments p
        WHERE p.state = 'in_flight' AND p.lease_until < ${now} ORDER BY p.lease_until LIMIT ${batch}`
  })
  const expire = SqlSchema.findAll({
    Request: Schema.Date,
    Result: PaymentRow,
    execute: (now) =>
      sql`WITH due AS (
          SELECT id FROM payments WHERE state IN ('authorized', 'released') AND proof_expires_at < ${now}
          ORDER BY proof_expires_at LIMIT ${batch} FOR UPDATE SKIP LOCKED
        )
        UPDATE payments p SET state = 'expired', completed_at = ${now}::timestamptz FROM due WHERE p.id = due.id
        RETURNING ${sql.literal(paymentColumns)}`
  })

  // The row goes first: nobody can claim an expired payment, and should we die here, the ledger expires the hold itself.
  const freeMoney = (payment: PaymentRow) =>
    payment.hold_id === null
      ? Effect.void
      : Effect.ignore(
          ledger.post({
            id: stepId(payment.id, payment.attempt, "expire"),
            steps: [
              {
                kind: "release",
                hold: payment.hold_id,
                debit: payment.payer_id,
                credit: payment.payee_wallet_id,
                currency: payment.currency,
                as: "expired",
                code: "expired"
              }
            ]
          })
        )

  return Effect.gen(function* () {
    const now = yield* DateTime.nowAsDate
    const dead = yield* overdue(now)
    yield* Effect.forEach(dead, (payment) => release(payment, "interrupted"), { concurrency: batch, discard: true })
    const unused = yield* expire(now)
    yield* Effect.forEach(unused, freeMoney, { concurrency: batch, discard: true })
    return dead.length + unused.length
  }).pipe(Effect.orDie, Effect.withSpan("Payments.resolveDue"))
})
