import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { PaymentRow } from "#domain/Payment.ts"
import * as Batch from "./Batch.ts"
import type { Answer } from "./Delivery.ts"
import { keptUntil, type PaymentPolicy } from "./Policy.ts"

interface Kept {
  readonly payment: PaymentRow
  readonly answer: Answer
}

/** The rows of these answers, as JSON. */
const textOf = (kept: ReadonlyArray<Kept>, policy: PaymentPolicy, now: Date): string =>
  JSON.stringify(
    kept.map(({ answer, payment }) => ({
      payment_id: payment.id,
      status: answer.status,
      headers: answer.headers,
      body: Buffer.from(answer.body).toString("base64"),
      expires_at: keptUntil(policy, payment, now)
    }))
  )

/** Keeps answers whose size was not known when they were charged. */
export const make = Effect.fnUntraced(function* (policy: PaymentPolicy) {
  const sql = yield* SqlClient.SqlClient

  const keepAll = Effect.fnUntraced(function* (kept: ReadonlyArray<Kept>) {
    const now = yield* DateTime.nowAsDate
    yield* sql`INSERT INTO payment_answers (payment_id, status, headers, body, expires_at)
      SELECT payment_id, status, headers, decode(body, 'base64'), expires_at
      FROM jsonb_to_recordset(${textOf(kept, policy, now)}::jsonb) AS r (payment_id uuid, status smallint, headers json, body text,
        expires_at timestamptz)
      ON CONFLICT (payment_id) DO NOTHING`
    return kept.map(() => null)
  }, Effect.orDie)

  const { ask } = yield* Batch.make(keepAll)
  return (payment: PaymentRow, answer: Answer): Effect.Effect<void> => Effect.asVoid(ask({ payment, answer }))
})
