import { DateTime, Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { BatchItem } from "#domain/Batch.ts"
import { AccountId, TenantId, WalletId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"

/** Which wallet paid under a key; null when there was none to pay. */
export type EarlierPayers = ReadonlyMap<string, WalletId | null>

const nobody: EarlierPayers = new Map()

/**
 * Finds who paid what the keys of items stand for already, as far as that was the caller's account or nobody. Another wallet may
 * pay by default by now, and the same request has to mean the same transfer all the same.
 */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const earlier = SqlSchema.findAll({
    Request: Schema.Struct({
      tenant_id: Schema.toType(TenantId),
      account_id: Schema.toType(AccountId),
      operation: Schema.String,
      keys: Schema.Array(Schema.String),
      now: Schema.Date
    }),
    Result: Schema.Struct({ key: Schema.String, from_wallet_id: Schema.NullOr(Schema.toType(WalletId)) }),
    // A plain transfer has the id of the command that moved its money.
    execute: ({ account_id, keys, now, operation, tenant_id }) =>
      sql`SELECT k.key, t.from_wallet_id FROM unnest(${keys}::text[]) AS c (key)
        JOIN idempotency_keys k ON k.tenant_id = ${tenant_id} AND k.operation = ${operation} AND k.key = c.key
          AND k.expires_at > ${now}
        JOIN transfers t ON t.id = k.command_id AND t.tenant_id = ${tenant_id}
        LEFT JOIN wallets w ON w.id = t.from_wallet_id AND w.owner_type = 'account' AND w.owner_id = ${account_id}
        WHERE t.from_wallet_id IS NULL OR w.id IS NOT NULL`
  })
  return Effect.fnUntraced(function* (
    { account_id, tenant_id }: Principal,
    items: ReadonlyArray<BatchItem>,
    operation: string
  ): Effect.fn.Return<EarlierPayers> {
    const keys = [...new Set(items.flatMap(({ idempotency_key }) => idempotency_key ?? []))]
    if (keys.length === 0) return nobody
    const now = yield* DateTime.nowAsDate
    const found = yield* Effect.orDie(earlier({ account_id, keys, now, operation, tenant_id }))
    return new Map(found.map(({ from_wallet_id, key }) => [key, from_wallet_id]))
  })
})
