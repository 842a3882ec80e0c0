import { Cache, Duration, Effect, Option, Schema } from "effect"
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

/** Looks wallets up without the database, once they have been seen. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const find = SqlSchema.findOneOption({
    Request: Schema.toType(WalletId),
    Result: KnownWallet,
    execute: (id) => sql`SELECT id, tenant_id, owner_type, owner_id, currency, network FROM wallets WHERE id = ${id}`
  })
  const wallets = yield* Cache.makeWith((id: WalletId) => Effect.orDie(find(id)), {
    capacity: 20_000,
    timeToLive: (exit) => (exit._tag === "Success" && Option.isSome(exit.value) ? Duration.hours(1) : Duration.zero)
  })
  return (id: WalletId) => Cache.get(wallets, id)
})
