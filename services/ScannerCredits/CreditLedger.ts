import { Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { TenantId } from "#domain/Ids.ts"
import { everyone } from "#domain/LedgerAccount.ts"
import { maxMicros, unit } from "#domain/Money.ts"
import { chargedTally, returnCode, returnedTally } from "./Charges.ts"

/** A line of the credit ledger. `delta` is in whole credits; `seq` is its place. */
export interface CreditEntry {
  readonly seq: bigint
  readonly delta: number
  readonly reason: "grant" | "consume" | "refund" | "adjustment"
  readonly source: string | null
  readonly balance_after: number
  readonly metadata: Readonly<Record<string, string>>
  readonly created_at: Date
}

/** Whole credits of an amount; a part of one buys nothing. */
export const wholeCredits = (micros: bigint): number => Number(micros / unit)

const Line = Schema.Struct({
  seq: Schema.BigInt,
  change: Schema.BigInt,
  balance_after: Schema.BigInt,
  code: Schema.String,
  created_at: Schema.Date,
  charge_id: Schema.NullOr(Schema.String),
  operation: Schema.NullOr(Schema.String),
  source: Schema.NullOr(Schema.String),
  metadata: Schema.NullOr(Schema.Record(Schema.String, Schema.String)),
  return_reason: Schema.NullOr(Schema.String)
})

/** Reads what a tenant has in credits, and how it came to it. */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const totals = SqlSchema.findOne({
    Request: Schema.Struct({ tenant_id: Schema.String, charged: Schema.String, returned: Schema.String }),
    Result: Schema.Struct({ available: Schema.BigInt, charged: Schema.BigInt, returned: Schema.BigInt }),
    // One statement, so that all of it is of one moment.
    execute: ({ charged, returned, tenant_id }) =>
      sql`SELECT a.posted - a.held AS available,
          coalesce((SELECT amount FROM tallies WHERE log = 1 AND scope = ${charged} AND subject = ${everyone}), 0) AS charged,
          coalesce((SELECT amount FROM tallies WHERE log = 1 AND scope = ${returned} AND subject = ${everyone}), 0) AS returned
        FROM ledger_accounts a WHERE a.id = ${tenant_id} AND a.purpose = 'scanner_credits'`
  })
  const balance = Effect.fnUntraced(function* (tenant_id: TenantId) {
    const row = yield* Effect.orDie(
      totals({ tenant_id, charged: chargedTally(tenant_id).scope, returned: returnedTally(tenant_id).scope })
    )
    const consumed = row.charged - row.returned
    return {
      balance: wholeCredits(row.available),
      // What there is and what was consumed is all that was ever granted.
      granted_total: wholeCredits(row.available + consumed),
      consumed_total: wholeCredits(consumed)
    }
  })

  // Each side reads its own index backwards and stops after `limit` lines, however long the history is.
  const lines = SqlSchema.findAll({
    Request: Schema.Struct({ tenant_id: Schema.String, before: Schema.BigInt, limit: Schema.Int }),
    Result: Line,
    execute: ({ before, limit, tenant_id }) =>
      sql`SELECT e.seq, e.change, e.balance_after, e.code, e.created_at,
          c.id AS charge_id, c.operation, c.source, c.metadata, c.reason AS return_reason
        FROM (
          (SELECT m.seq, m.command_id, -m.amount AS change, m.debit_posted AS balance_after, m.code, m.created_at
            FROM movements m
            WHERE m.debit = (SELECT key FROM ledger_accounts WHERE id = ${tenant_id}) AND m.seq < ${before}
              AND m.kind IN ('transfer', 'capture')
            ORDER BY m.seq DESC LIMIT ${limit})
          UNION ALL
          (SELECT m.seq, m.command_id, m.amount, m.credit_posted, m.code, m.created_at
            FROM movements m
            WHERE m.credit = (SELECT key FROM ledger_accounts WHERE id = ${tenant_id}) AND m.seq < ${before}
              AND m.kind IN ('transfer', 'capture')
            ORDER BY m.seq DESC LIMIT ${limit})
        ) e
        LEFT JOIN credit_charges c ON c.tenant_id = ${tenant_id} AND c.id = CASE e.code
          WHEN ${returnCode} THEN overlay(e.command_id::text placing '7' from 15 for 1)::uuid ELSE e.command_id END
        ORDER BY e.seq DESC LIMIT ${limit}`
  })
  const ledger = (
    tenant_id: TenantId,
    { before, limit }: { readonly before: Option.Option<bigint>; readonly limit: number }
  ): Effect.Effect<ReadonlyArray<CreditEntry>> =>
    lines({ tenant_id, before: Option.getOrElse(before, () => maxMicros), limit }).pipe(
      Effect.orDie,
      Effect.map((found) => found.map(toEntry))
    )

  return { balance, ledger }
})

const toEntry = (line: typeof Line.Type): CreditEntry => ({
  seq: line.seq,
  delta: wholeCredits(line.change),
  reason: reasonOf(line),
  source: line.source,
  balance_after: wholeCredits(line.balance_after),
  metadata: {
    ...line.metadata,
    ...(line.operation === null ? {} : { operation: line.operation }),
    ...(line.charge_id === null ? {} : { charge_id: line.charge_id }),
    ...(line.code === returnCode && line.return_reason !== null ? { return_reason: line.return_reason } : {})
  },
  created_at: line.created_at
})

const reasonOf = ({ charge_id, code }: typeof Line.Type): CreditEntry["reason"] => {
  if (charge_id !== null) return code === returnCode ? "refund" : "consume"
  return code === "grant" ? "grant" : "adjustment"
}
