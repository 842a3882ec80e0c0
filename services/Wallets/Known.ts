import { Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { AccountId, TenantId, WalletId } from "#domain/Ids.ts"
import { Currency } from "#domain/Money.ts"
import { Network } from "#domain/Network.ts"
import { OwnerType } from "#domain/Wallet.ts"

/** What never changes of a wallet. */
export const KnownWallet = Schema.toType(
  Schema.Struct({
    id: WalletId,
    tenant_id: TenantId,
    owner_type: OwnerType,
    owner_id: AccountId,
    currency: Currency,
    network: Network
  })
)
export type KnownWallet = typeof KnownWallet.Type

/** How many wallets are remembered. */
const remembered = 20_000

/** Looks wallets up without the database, once they have been seen. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const find = SqlSchema.findOneOption({
    Request: Schema.toType(WalletId),
    Result: KnownWallet,
    execute: (id) => sql`SELECT id, tenant_id, owner_type, owner_id, currency, network FROM wallets WHERE id = ${id}`
  })
  // Facts that never change need no time to live, only a bound: what was seen first goes first.
  const seen = new Map<WalletId, KnownWallet>()
  const remember = (wallet: KnownWallet) => {
    seen.set(wallet.id, wallet)
    if (seen.size <= remembered) return
    for (const first of seen.keys()) {
      seen.delete(first)
      break
    }
  }
  const one = (id: WalletId): Effect.Effect<Option.Option<KnownWallet>> => {
    const known = seen.get(id)
    if (known !== undefined) return Effect.succeed(Option.some(known))
    return Effect.tap(Effect.orDie(find(id)), (found) =>
      Effect.sync(() => {
        if (Option.isSome(found)) remember(found.value)
      })
    )
  }
  const findAll = SqlSchema.findAll({
    Request: Schema.Array(Schema.toType(WalletId)),
    Result: KnownWallet,
    execute: (ids) =>
      sql`SELECT id, tenant_id, owner_type, owner_id, currency, network FROM wallets WHERE id = ANY(${ids}::uuid[])`
  })
  /** Those of these wallets that there are; all that have not been seen in one question to the database. */
  const all = Effect.fnUntraced(function* (ids: Iterable<WalletId>) {
    const known = new Map<WalletId, KnownWallet>()
    const unseen: Array<WalletId> = []
    for (const id of new Set(ids)) {
      const wallet = seen.get(id)
      if (wallet === undefined) unseen.push(id)
      else known.set(id, wallet)
    }
    if (unseen.length === 0) return known
    for (const wallet of yield* Effect.orDie(findAll(unseen))) {
      known.set(wallet.id, wallet)
      remember(wallet)
    }
    return known
  })
  return { one, all }
})
