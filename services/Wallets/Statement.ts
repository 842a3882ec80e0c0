import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { TransferId, WalletId } from "#domain/Ids.ts"
import { maxMicros } from "#domain/Money.ts"
import { Counterparty, type Entry, entryId, type Wallet } from "#domain/Wallet.ts"

/** An entry with its place in the log of all movements, which is the cursor of a statement. */
export type StatementLine = Entry & { readonly seq: bigint }

export interface StatementRange {
  readonly limit: number
  /** Only lines before this position; from the newest one when left out. */
  readonly before?: bigint | undefined
}

const Line = Schema.Struct({
  seq: Schema.BigInt,
  command_id: Schema.toType(TransferId),
  step: Schema.Int,
  type: Schema.Literals(["credit", "debit"]),
  amount: Schema.BigInt,
  balance_after: Schema.BigInt,
  code: Schema.String,
  other_id: Schema.toType(WalletId),
  other_purpose: Counterparty.fields.type,
  created_at: Schema.Date
})

/** Reads statements from the log, newest line first. */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  // Each side reads its own index backwards and stops after `limit` lines, however long the history is.
  const statement = SqlSchema.findAll({
    Request: Schema.Struct({ id: Schema.toType(WalletId), before: Schema.BigInt, limit: Schema.Int }),
    Result: Line,
    execute: ({ id, before, limit }) =>
      sql`SELECT e.*, o.id AS other_id, o.purpose AS other_purpose
        FROM (
          (SELECT m.seq, m.command_id, m.step, 'debit' AS type, -m.amount AS amount,
              m.debit_posted AS balance_after, m.code, m.credit AS other, m.created_at
            FROM movements m
            WHERE m.debit = (SELECT key FROM ledger_accounts WHERE id = ${id}) AND m.seq < ${before}
              AND m.kind IN ('transfer', 'capture')
            ORDER BY m.seq DESC LIMIT ${limit})
          UNION ALL
          (SELECT m.seq, m.command_id, m.step, 'credit', m.amount, m.credit_posted, m.code, m.debit, m.created_at
            FROM movements m
            WHERE m.credit = (SELECT key FROM ledger_accounts WHERE id = ${id}) AND m.seq < ${before}
              AND m.kind IN ('transfer', 'capture')
            ORDER BY m.seq DESC LIMIT ${limit})
        ) e JOIN ledger_accounts o ON o.key = e.other
        ORDER BY e.seq DESC LIMIT ${limit}`
  })
  return (wallet: Wallet, { limit, before = maxMicros }: StatementRange): Effect.Effect<ReadonlyArray<StatementLine>> =>
    Effect.map(Effect.orDie(statement({ id: wallet.id, before, limit })), (lines) =>
      lines.map((line) => toEntry(wallet, line))
    )
})

const toEntry = (wallet: Wallet, line: typeof Line.Type): StatementLine => ({
  seq: line.seq,
  id: entryId(line.command_id, line.step, line.type),
  wallet_id: wallet.id,
  type: line.type,
  amount: line.amount,
  currency: wallet.currency,
  balance_after: line.balance_after,
  code: line.code,
  counterparty: { type: line.other_purpose, wallet_id: line.other_purpose === "wallet" ? line.other_id : null },
  transfer_id: line.command_id,
  created_at: line.created_at
})
