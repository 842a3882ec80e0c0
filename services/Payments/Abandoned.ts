import { DateTime, Duration, Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { PaymentRow } from "#domain/Payment.ts"
import * as EachRow from "../Database/EachRow.ts"
import { EventLog } from "../EventLog.ts"
import { failedOnChain } from "./Records.ts"
import { paymentColumns } from "./Row.ts"

/** How long a payment whose lease has ended may still be on its way to the chain before it is given back. */
const grace = Duration.minutes(1)

/** Gives back payments whose process died before it asked a chain for their money; how many. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const events = yield* EventLog
  const isAbandoned = (before: Date) => sql`p.state = 'settling' AND p.lease_until < ${before}
    AND NOT EXISTS (SELECT 1 FROM chain_settlements c
      WHERE c.payment_id = p.id AND (c.state <> 'refused' OR c.booked_at IS NULL))`
  const abandoned = SqlSchema.findAll({
    Request: Schema.Date,
    Result: EachRow.Raw,
    execute: (before) =>
      sql`SELECT ${sql.literal(paymentColumns)} FROM payments p WHERE ${isAbandoned(before)}
        ORDER BY p.lease_until LIMIT 200 FOR NO KEY UPDATE OF p SKIP LOCKED`
  })
  const read = EachRow.reader("a payment", PaymentRow)
  const giveBack = Effect.fnUntraced(function* (now: DateTime.Utc, before: Date) {
    yield* events.enter
    const found = yield* abandoned(before)
    if (found.length === 0) return 0
    const { rows: dead, unreadable } = yield* read(found)
    // Whose failure cannot be told is not given back. Later than the others, so that it does not stand before them every time.
    if (unreadable.length > 0)
      yield* sql`UPDATE payments SET lease_until = ${DateTime.toDate(now)} WHERE id = ANY(${EachRow.idsOf(unreadable)}::uuid[])`
    yield* sql`UPDATE payments SET state = 'released', lease_until = NULL, failure = 'interrupted'
      WHERE id = ANY(${dead.map(({ id }) => id)}::uuid[])`
    yield* events.append(dead.map((payment) => failedOnChain(payment, "interrupted")))
    return dead.length
  }, sql.withTransaction)
  const giveBackDue = Effect.fnUntraced(function* () {
    const now = yield* DateTime.now
    const before = DateTime.toDate(DateTime.subtractDuration(now, grace))
    // There is hardly ever one, and everybody waits behind who looks with the log in its hands.
    const any = yield* sql`SELECT 1 FROM payments p WHERE ${isAbandoned(before)} LIMIT 1`
    return any.length === 0 ? 0 : yield* giveBack(now, before)
  })
  return Effect.orDie(giveBackDue())
})
