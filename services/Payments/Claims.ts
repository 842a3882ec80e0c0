import { DateTime, type Duration, Effect, Schema, type Scope } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { PaymentRow } from "#domain/Payment.ts"
import * as Batch from "./Batch.ts"

/** A call that wants to use a payment. */
export interface Claim {
  readonly payment: string
  readonly endpoint: string
  readonly method: string
  readonly fingerprint: string
  /** How long the call may own the payment. */
  readonly lease: Duration.Duration
}

/** The payment as it was before the claim, and whether this claim took it; undefined when there is none. */
export interface Claimed {
  readonly row: PaymentRow | undefined
  readonly won: boolean
  readonly at: Date
}

export const paymentColumns = `p.id, p.tenant_id, p.endpoint_id, p.payer_tenant_id, p.payer_wallet_id, p.payee_wallet_id,
  p.method, p.currency, p.network, p.price, p.amount, p.charged, p.state, p.hold_id, p.attempt, p.lease_until,
  p.proof_expires_at, p.origin_status, p.failure, p.request_fingerprint, p.delivered_at, p.created_at, p.completed_at`

const Found = Schema.Struct({ ...PaymentRow.fields, won: Schema.Boolean })

/** Takes payments for calls: of any number of calls, in any number of processes, one gets a payment. One statement for all that wait. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Found by their ids first, and only then judged: a condition on state or time beside the ids makes the planner walk every
  // unused payment there is, because its statistics never know about times after now.
  const take = SqlSchema.findAll({
    Request: Schema.Struct({
      claims: Schema.Array(
        Schema.Struct({
          payment: Schema.String,
          endpoint: Schema.String,
          method: Schema.String,
          fingerprint: Schema.String,
          until: Schema.Date
        })
      ),
      now: Schema.Date
    }),
    Result: Found,
    execute: ({ claims, now }) =>
      sql`WITH asked AS (
          SELECT * FROM unnest(
            ${claims.map((one) => one.payment)}::uuid[], ${claims.map((one) => one.endpoint)}::uuid[],
            ${claims.map((one) => one.method)}::text[], ${claims.map((one) => one.fingerprint)}::text[],
            ${claims.map((one) => one.until)}::timestamptz[]
          ) AS a (payment, endpoint, method, fingerprint, until)
        ), found AS (
          SELECT ${sql.literal(paymentColumns)} FROM asked a JOIN payments p ON p.id = a.payment ORDER BY p.id FOR NO KEY UPDATE OF p
        ), taken AS (
          UPDATE payments p SET state = 'in_flight', lease_until = a.until, request_fingerprint = a.fingerprint,
            origin_status = NULL, failure = NULL
          FROM asked a JOIN found f ON f.id = a.payment
          WHERE p.id = f.id AND f.endpoint_id = a.endpoint AND f.method IN ('ANY', a.method)
            AND (f.state = 'authorized' OR (f.state = 'released' AND f.hold_id IS NULL)) AND f.proof_expires_at > ${now}
          RETURNING p.id
        )
        SELECT f.*, t.id IS NOT NULL AS won FROM found f LEFT JOIN taken t ON t.id = f.id`
  })

  const takeAll = Effect.fnUntraced(function* (claims: ReadonlyArray<Claim>) {
    const now = yield* DateTime.now
    const at = DateTime.toDate(now)
    // Of several claims for one payment the first is asked for; the others see that it was taken.
    const first = new Map<string, Claim>()
    for (const claim of claims) if (!first.has(claim.payment)) first.set(claim.payment, claim)
    const asked = [...first.values()].map((claim) => ({
      ...claim,
      until: DateTime.toDate(DateTime.addDuration(now, claim.lease))
    }))
    const found = new Map((yield* take({ claims: asked, now: at })).map((row) => [row.id, row]))
    return claims.map((claim): Claimed => {
      const row = found.get(claim.payment)
      if (row === undefined) return { row, won: false, at }
      const isFirst = first.get(claim.payment) === claim
      if (isFirst || !row.won) return { row, won: row.won, at }
      const lease_until = DateTime.toDate(DateTime.addDuration(now, claim.lease))
      return { row: { ...row, state: "in_flight", lease_until }, won: false, at }
    })
  }, Effect.orDie)

  const { ask } = yield* Batch.make(takeAll)
  return ask
}) satisfies Effect.Effect<unknown, never, SqlClient.SqlClient | Scope.Scope>
