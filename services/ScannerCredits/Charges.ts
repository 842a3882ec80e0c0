import { Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { TenantId } from "#domain/Ids.ts"
import { everyone } from "#domain/LedgerAccount.ts"
import type { TallyRef } from "#domain/Command.ts"
import { uuidFrom } from "#domain/Uuid.ts"
import { companion } from "../Ledger/Companion.ts"

/** What a movement of credits is for, when it is neither a charge nor a grant. */
export const returnCode = "credit_return"

/** The command that gives a charge back: one for each charge, so that giving back twice is giving back once. */
export const returnId = (charge: string): string => `${charge.slice(0, 14)}8${charge.slice(15)}`

/** Where the ledger counts all that a tenant was ever charged, and all of it that was given back. */
export const chargedTally = (tenant: TenantId): TallyRef => ({
  scope: uuidFrom(`credits charged ${tenant}`),
  subject: everyone
})
export const returnedTally = (tenant: TenantId): TallyRef => ({
  scope: uuidFrom(`credits returned ${tenant}`),
  subject: everyone
})

/** Writes a charge in the transaction of its movement. */
export const insertCharge = companion<{
  readonly id: string
  readonly tenant_id: TenantId
  readonly operation: "scan" | "batch" | "test"
  readonly credits: number
  readonly source: string
  readonly metadata: Readonly<Record<string, string>>
  readonly due_at: string | null
  readonly created_at: string
}>(
  `INSERT INTO credit_charges (id, tenant_id, operation, credits, state, source, metadata, due_at, created_at)
  SELECT r.id, r.tenant_id, r.operation, r.credits, 'open', r.source, r.metadata, r.due_at, r.created_at
  FROM jsonb_to_recordset($1::jsonb) AS r (id uuid, tenant_id uuid, operation text, credits integer, source text,
    metadata jsonb, due_at timestamptz, created_at timestamptz)`
)

const OneCharge = Schema.Struct({ tenant_id: TenantId.to, id: Schema.String })
/** A charge of which some was promised back. */
const Promised = Schema.Struct({ ...OneCharge.fields, returned: Schema.Int })
export type Promised = typeof Promised.Type

/** Reads charges and changes their states. What each of these does is one statement, so the first of two wins. */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const earned = SqlSchema.findOneOption({
    Request: Schema.Struct({ ...OneCharge.fields, now: Schema.Date }),
    Result: OneCharge,
    // Earning twice is earning once: whoever lost the answer to a commit asks again.
    execute: ({ id, now, tenant_id }) =>
      sql`UPDATE credit_charges SET state = 'earned', due_at = NULL, ended_at = coalesce(ended_at, ${now})
        WHERE id = ${id} AND tenant_id = ${tenant_id} AND state IN ('open', 'earned') RETURNING id, tenant_id`
  })
  const promised = SqlSchema.findOneOption({
    Request: Schema.Struct({ ...Promised.fields, reason: Schema.String, until: Schema.Date }),
    Result: Promised,
    execute: ({ id, reason, returned, tenant_id, until }) =>
      sql`UPDATE credit_charges SET state = 'returning', returned = ${returned}, reason = ${reason}, due_at = ${until}
        WHERE id = ${id} AND tenant_id = ${tenant_id} AND state = 'open' RETURNING id, tenant_id, returned`
  })
  const underWay = SqlSchema.findOneOption({
    Request: OneCharge,
    Result: Promised,
    execute: ({ id, tenant_id }) =>
      sql`SELECT id, tenant_id, returned FROM credit_charges
        WHERE id = ${id} AND tenant_id = ${tenant_id} AND state = 'returning'`
  })
  const givenBack = SqlSchema.findOneOption({
    Request: OneCharge,
    Result: OneCharge,
    execute: ({ id, tenant_id }) =>
      sql`SELECT id, tenant_id FROM credit_charges
        WHERE id = ${id} AND tenant_id = ${tenant_id} AND state = 'returned'`
  })
  const abandoned = SqlSchema.findAll({
    Request: Schema.Struct({ now: Schema.Date, until: Schema.Date, limit: Schema.Int }),
    Result: Promised,
    execute: ({ limit, now, until }) =>
      sql`UPDATE credit_charges SET state = 'returning', due_at = ${until}, reason = coalesce(reason, 'abandoned'),
          returned = CASE state WHEN 'open' THEN credits ELSE returned END
        WHERE id = ANY(ARRAY(
          SELECT id FROM credit_charges WHERE due_at <= ${now} ORDER BY due_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
        )) RETURNING id, tenant_id, returned`
  })

  return {
    /** False when it was promised back before. */
    earn: (charge: typeof OneCharge.Type, now: Date) =>
      Effect.map(Effect.orDie(earned({ id: charge.id, tenant_id: charge.tenant_id, now })), Option.isSome),
    /** Promises so much back; none when the charge is not open any more. */
    promise: (promise: Promised, reason: string, until: Date) => Effect.orDie(promised({ ...promise, reason, until })),
    /** What of it was promised back and is perhaps not given yet. */
    underWay: ({ id, tenant_id }: typeof OneCharge.Type) => Effect.orDie(underWay({ id, tenant_id })),
    /** Whether what was promised back is given. */
    isReturned: ({ id, tenant_id }: typeof OneCharge.Type) =>
      Effect.map(Effect.orDie(givenBack({ id, tenant_id })), Option.isSome),
    /** What was promised back is given. */
    returned: ({ id }: Promised, now: Date) =>
      Effect.orDie(
        sql`UPDATE credit_charges SET state = 'returned', due_at = NULL, ended_at = ${now}
          WHERE id = ${id} AND state = 'returning'`
      ),
    prolong: ({ id, tenant_id }: typeof OneCharge.Type, until: Date) =>
      Effect.orDie(
        Effect.asVoid(
          sql`UPDATE credit_charges SET due_at = ${until}
            WHERE id = ${id} AND tenant_id = ${tenant_id} AND state = 'open' AND due_at IS NOT NULL`
        )
      ),
    /** Takes charges of which nothing was heard in time: they are promised back, and come again at `until`. */
    takeAbandoned: (now: Date, until: Date, limit: number) => Effect.orDie(abandoned({ now, until, limit }))
  }
})
