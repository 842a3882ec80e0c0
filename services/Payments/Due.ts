import { DateTime, Duration, Effect, Exit, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { PaymentRow } from "#domain/Payment.ts"
import type { PaymentFailure } from "#domain/PaymentFailure.ts"
import { stepId } from "#domain/PaymentToken.ts"
import * as EachRow from "../Database/EachRow.ts"
import type { Ledger } from "../Ledger.ts"
import { eachDue } from "./EachDue.ts"
import { paymentColumns } from "./Row.ts"

/** How many of a kind are ended at once. */
export const batch = 200
/** How long a payment that cannot be read lets others go first. */
const putOff = Duration.minutes(1)
/** How long whoever ends a call has its payment for that. */
const lease = Duration.seconds(10)

/**
 * Ends what nobody else will end: calls whose process died, and payments that were never used. Any number of processes may run
 * it at once. Answers how many payments it ended.
 */
export const make = Effect.fnUntraced(function* (
  ledger: Ledger["Service"],
  release: (payment: PaymentRow, failure: PaymentFailure) => Effect.Effect<void>
) {
  const sql = yield* SqlClient.SqlClient
  const read = EachRow.reader("a payment", PaymentRow)

  const overdue = SqlSchema.findAll({
    Request: Schema.Date,
    Result: EachRow.Raw,
    execute: (now) =>
      sql`SELECT ${sql.literal(paymentColumns)} FROM payments p
        WHERE p.state = 'in_flight' AND p.lease_until < ${now} ORDER BY p.lease_until LIMIT ${batch}`
  })
  const expire = SqlSchema.findAll({
    Request: Schema.Struct({ now: Schema.Date, most: Schema.Int }),
    Result: EachRow.Raw,
    execute: ({ most, now }) =>
      sql`WITH due AS (
          SELECT id FROM payments WHERE state IN ('authorized', 'released') AND proof_expires_at < ${now}
          ORDER BY proof_expires_at LIMIT ${most} FOR UPDATE SKIP LOCKED
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

  /** They stay due, and would otherwise stand before the others every time. */
  const letOthersFirst = Effect.fnUntraced(function* (unreadable: ReadonlyArray<EachRow.Raw>, now: DateTime.Utc) {
    if (unreadable.length === 0) return
    const until = DateTime.toDate(DateTime.addDuration(now, putOff))
    yield* sql`UPDATE payments SET lease_until = ${until}
      WHERE id = ANY(${EachRow.idsOf(unreadable)}::uuid[]) AND state = 'in_flight' AND lease_until < ${DateTime.toDate(now)}`
  })

  const takeOver = SqlSchema.findOneOption({
    Request: Schema.Struct({ id: Schema.String, lease_until: Schema.NullOr(Schema.Date), until: Schema.Date }),
    Result: Schema.Struct({ id: Schema.String }),
    execute: ({ id, lease_until, until }) =>
      sql`UPDATE payments SET lease_until = ${until}
        WHERE id = ${id} AND state = 'in_flight' AND lease_until = ${lease_until} RETURNING id`
  })
  // Its process may only have slept. A call that went back unused since we looked has left its hold to the next one: from here on it
  // cannot, for it has the payment no more.
  const endOne = Effect.fnUntraced(
    function* ({ id, lease_until, ...payment }: PaymentRow) {
      const until = DateTime.toDate(DateTime.addDuration(yield* DateTime.now, lease))
      const taken = yield* takeOver({ id, lease_until, until })
      if (Option.isSome(taken)) yield* release({ ...payment, id, lease_until: until }, "interrupted")
    },
    // One that cannot be ended must not interrupt the ends of the others.
    (ending, { id }) =>
      Effect.catchCause(ending, (cause) => Effect.logError("A payment could not be given back yet", { id }, cause))
  )
  const endDead = Effect.gen(function* () {
    const now = yield* DateTime.now
    const { rows: dead, unreadable } = yield* read(yield* overdue(DateTime.toDate(now)))
    yield* letOthersFirst(unreadable, now)
    yield* Effect.forEach(dead, endOne, { concurrency: batch, discard: true })
    return dead.length
  })
  /** Ended, and the ledger could not be told: it is told again, and of no more at once for that. */
  let unfreed: ReadonlyArray<PaymentRow> = []
  // Of one that cannot be read the ledger gives the money back itself.
  const endUnused = Effect.gen(function* () {
    const most = batch - unfreed.length
    // One that the ledger never takes must not keep the others from their ends.
    const ended = [...unfreed, ...(yield* read(yield* expire({ now: yield* DateTime.nowAsDate, most }))).rows]
    const exits = yield* Effect.forEach(ended, (payment) => Effect.exit(freeMoney(payment)), { concurrency: batch })
    unfreed = ended.filter((_, index) => exits[index]?._tag === "Failure")
    yield* exits.find(Exit.isFailure) ?? Effect.void
    return ended.length
  })

  return {
    resolveDue: eachDue([Effect.orDie(endDead), Effect.orDie(endUnused)]).pipe(Effect.withSpan("Payments.resolveDue")),
    /** Whether there is one to end, in SQL. */
    isDue: (now: Date) =>
      sql`(${unfreed.length > 0}::boolean
        OR (SELECT min(lease_until) FROM payments WHERE state = 'in_flight') < ${now}
        OR (SELECT min(proof_expires_at) FROM payments WHERE state IN ('authorized', 'released')) < ${now})`
  }
})
