import { DateTime, Duration, Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { later } from "#domain/Instant.ts"
import * as Batch from "./Batch.ts"

/** How long marks are gathered. */
const gathering = Duration.millis(200)
/** How long an answer is left alone whose time is over while a chain has not decided about its payment. */
const undecided = Duration.hours(1)

/** A whole answer of an origin, small enough to keep. Headers are name, value, name, value. */
export interface Answer {
  readonly status: number
  readonly headers: ReadonlyArray<string>
  readonly body: Uint8Array
}

const StoredAnswer = Schema.Struct({
  status: Schema.Int,
  headers: Schema.Array(Schema.String),
  body: Schema.Uint8Array
})

/** That a charged call is over, and whether the last byte of its answer left for the caller. */
interface Mark {
  readonly payment: string
  readonly delivered: boolean
  /** Whether who asked may ask again. */
  readonly keeps: boolean
}

/** Knows which answers reached their callers, and has those that may not have. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const mark = Effect.fnUntraced(
    function* (seen: ReadonlyArray<Mark>) {
      const now = yield* DateTime.nowAsDate
      // Of a caller that was lost and came back in one batch the delivery counts.
      // Not worth a disk write of its own: a mark that is lost only means that the answer is kept for its whole life.
      yield* sql`WITH seen AS (
        SELECT s.id, bool_or(s.delivered) AS delivered, bool_or(s.keeps) AS keeps
        FROM set_config('synchronous_commit', 'off', true), unnest(
          ${seen.map((one) => one.payment)}::uuid[], ${seen.map((one) => String(one.delivered))}::boolean[],
          ${seen.map((one) => String(one.keeps))}::boolean[]
        ) AS s (id, delivered, keeps) GROUP BY s.id
      ), unneeded AS (
        DELETE FROM payment_answers a USING seen s WHERE a.payment_id = s.id AND s.delivered AND NOT s.keeps
      )
      UPDATE payments p SET
        delivered_at = CASE WHEN s.delivered THEN ${now}::timestamptz ELSE p.delivered_at END,
        lease_until = CASE WHEN s.delivered THEN p.lease_until ELSE ${now}::timestamptz END
      FROM seen s WHERE p.id = s.id AND p.state = 'captured'`
      return seen.map(() => null)
    },
    Effect.tapCause((cause) => Effect.logWarning("Deliveries could not be marked", cause)),
    Effect.orDie
  )
  // Nobody waits for a mark, and this process knows what it has not written yet: many marks share a statement.
  const unwritten = new Map<string, Mark>()
  const { tell } = yield* Batch.make(
    (seen: ReadonlyArray<Mark>) =>
      Effect.ensuring(
        mark(seen),
        Effect.sync(() => {
          // Another call may have been told the answer meanwhile: its mark is the next batch's.
          for (const one of seen) if (unwritten.get(one.payment) === one) unwritten.delete(one.payment)
        })
      ),
    gathering
  )

  const answerOf = SqlSchema.findOneOption({
    Request: Schema.Struct({ payment: Schema.String, now: Schema.Date }),
    Result: StoredAnswer,
    execute: ({ payment, now }) =>
      sql`SELECT status, headers, body FROM payment_answers WHERE payment_id = ${payment} AND expires_at > ${now}`
  })
  const stored = Effect.fnUntraced(function* (payment: string) {
    return yield* answerOf({ payment, now: yield* DateTime.nowAsDate })
  }, Effect.orDie)

  // An answer waits for as long as its payment does, be it for the operator: its payer may yet be charged. Its time is put off, because
  // those that wait for days would be read again every time, and stand before the others.
  const dropOld = Effect.fnUntraced(function* (now: Date) {
    const until = later(now, undecided)
    const dropped = yield* sql`WITH old AS (
        SELECT a.payment_id, EXISTS (
          SELECT 1 FROM payments p WHERE p.id = a.payment_id AND p.state = 'settling'
        ) AS waits
        FROM payment_answers a WHERE a.expires_at < ${now} ORDER BY a.expires_at LIMIT 500 FOR UPDATE OF a SKIP LOCKED
      ), put_off AS (
        UPDATE payment_answers a SET expires_at = ${until} FROM old WHERE a.payment_id = old.payment_id AND old.waits
      )
      DELETE FROM payment_answers a USING old WHERE a.payment_id = old.payment_id AND NOT old.waits RETURNING 1`
    return dropped.length
  }, Effect.orDie)

  return {
    /** Says that a charged call is over, and whether the last byte of its answer left for the caller. */
    seen: (payment: string, delivered: boolean, keeps = false) => {
      // What there is no room for is written by nobody, and so never taken out again.
      const one: Mark = { payment, delivered, keeps }
      if (tell(one)) unwritten.set(payment, one)
    },
    /** Whether the answer was delivered or its caller lost, where this process has yet to write that down. */
    seenHere: (payment: string) => unwritten.get(payment)?.delivered,
    stored,
    dropOld
  }
})
