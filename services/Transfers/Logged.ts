import { Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { AccountId, type TenantId, TransferId, WalletId } from "#domain/Ids.ts"
import { Currency } from "#domain/Money.ts"
import type { Transfer } from "#domain/Transfer.ts"
import { newTransfer } from "./Records.ts"

/** What statements call such a movement. */
const codes = ["faucet", "payment", "facilitator"] as const

const Line = Schema.Struct({
  amount: Schema.BigInt,
  fee: Schema.BigInt,
  code: Schema.Literals(codes),
  currency: Currency,
  from_wallet_id: Schema.NullOr(Schema.toType(WalletId)),
  to_wallet_id: Schema.NullOr(Schema.toType(WalletId)),
  from_account_id: Schema.NullOr(Schema.toType(AccountId)),
  to_account_id: Schema.NullOr(Schema.toType(AccountId)),
  created_at: Schema.Date
})

/**
 * Reads movements of a tenant's wallets that no transfer was ordered for: what the faucet gave, what paid calls were charged, and what
 * was settled for others.
 */
export const reader = Effect.map(SqlClient.SqlClient, (sql) => {
  // The other side of a paid call may be another tenant's: its wallet is on the statement, its account is nobody's business.
  const line = SqlSchema.findOneOption({
    Request: Schema.Struct({ tenant_id: Schema.String, id: Schema.toType(TransferId) }),
    Result: Line,
    execute: ({ tenant_id, id }) =>
      sql`SELECT m.amount, coalesce(e.amount, 0)::bigint AS fee, m.code, d.currency, f.id AS from_wallet_id, t.id AS to_wallet_id,
          CASE WHEN f.tenant_id = ${tenant_id} THEN coalesce(fg.account_id, f.owner_id) END AS from_account_id,
          CASE WHEN t.tenant_id = ${tenant_id} THEN coalesce(tg.account_id, t.owner_id) END AS to_account_id, m.created_at
        FROM movements m
        JOIN ledger_accounts d ON d.key = m.debit LEFT JOIN wallets f ON f.id = d.id
        JOIN ledger_accounts c ON c.key = m.credit LEFT JOIN wallets t ON t.id = c.id
        LEFT JOIN movements e ON e.command_id = m.command_id AND e.step = 1 AND e.code = 'fee'
        LEFT JOIN agents fg ON fg.id = f.owner_id LEFT JOIN agents tg ON tg.id = t.owner_id
        WHERE m.command_id = ${id} AND m.step = 0 AND m.kind IN ('transfer', 'capture') AND m.code IN ${sql.in(codes)}
          AND (f.tenant_id = ${tenant_id} OR t.tenant_id = ${tenant_id})`
  })
  return (tenant_id: TenantId, id: TransferId): Effect.Effect<Option.Option<Transfer>> =>
    Effect.map(Effect.orDie(line({ tenant_id, id })), (found) =>
      Option.map(found, ({ code, ...moved }) =>
        newTransfer({
          ...moved,
          ...(moved.fee > 0n && {
            destination_amount: moved.amount - moved.fee,
            destination_currency: moved.currency
          }),
          id,
          type: "internal",
          status: "completed",
          protocol: code === "faucet" ? "internal" : "x402",
          initiated_by: { type: "system", id: code === "payment" ? "gateway" : code }
        })
      )
    )
})
