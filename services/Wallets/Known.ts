import { Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { dropOldest } from "#domain/BoundedMap.ts"
import { AccountId, AgentId, TenantId, WalletId } from "#domain/Ids.ts"
import { Currency } from "#domain/Money.ts"
import { Network } from "#domain/Network.ts"

/** What never changes of a wallet. One of an agent is on the books of the account that the agent belongs to. */
export const KnownWallet = Schema.toType(
  Schema.Struct({
    id: WalletId,
    tenant_id: TenantId,
    account_id: AccountId,
    agent_id: Schema.NullOr(AgentId),
    currency: Currency,
    network: Network
  })
)
export type KnownWallet = typeof KnownWallet.Type

/** How many wallets are remembered. */
const remembered = 20_000

/** Facts that never change need no time to live, only a bound: what was seen first goes first. */
const keep = <Key>(seen: Map<Key, KnownWallet>, key: Key, wallet: KnownWallet) => {
  seen.set(key, wallet)
  dropOldest(seen, remembered)
}

/** Looks wallets up without the database, once they have been seen. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const wallets = sql`SELECT w.id, w.tenant_id, coalesce(g.account_id, w.owner_id) AS account_id, g.id AS agent_id, w.currency,
      w.network
    FROM wallets w LEFT JOIN agents g ON w.owner_type = 'agent' AND g.id = w.owner_id`
  const find = SqlSchema.findOneOption({
    Request: Schema.toType(Schema.Struct({ tenant_id: TenantId, id: WalletId })),
    Result: KnownWallet,
    execute: ({ id, tenant_id }) => sql`${wallets} WHERE w.id = ${id} AND w.tenant_id = ${tenant_id}`
  })
  const seen = new Map<WalletId, KnownWallet>()
  const remember = (wallet: KnownWallet) => keep(seen, wallet.id, wallet)
  /** One of another tenant is asked for as one of nobody's is: how soon the answer comes does not tell them apart. */
  const seenBy = (tenant_id: TenantId, id: WalletId): KnownWallet | undefined => {
    const known = seen.get(id)
    return known?.tenant_id === tenant_id ? known : undefined
  }
  const one = (tenant_id: TenantId, id: WalletId): Effect.Effect<Option.Option<KnownWallet>> => {
    const known = seenBy(tenant_id, id)
    if (known !== undefined) return Effect.succeed(Option.some(known))
    return Effect.tap(Effect.orDie(find({ tenant_id, id })), (found) =>
      Effect.sync(() => {
        if (Option.isSome(found)) remember(found.value)
      })
    )
  }
  const findAll = SqlSchema.findAll({
    Request: Schema.toType(Schema.Struct({ tenant_id: TenantId, ids: Schema.Array(WalletId) })),
    Result: KnownWallet,
    execute: ({ ids, tenant_id }) => sql`${wallets} WHERE w.id = ANY(${ids}::uuid[]) AND w.tenant_id = ${tenant_id}`
  })
  /** Those of these wallets that there are; all that have not been seen in one question to the database. */
  const all = Effect.fnUntraced(function* (tenant_id: TenantId, ids: Iterable<WalletId>) {
    const known = new Map<WalletId, KnownWallet>()
    const unseen: Array<WalletId> = []
    for (const id of new Set(ids)) {
      const wallet = seenBy(tenant_id, id)
      if (wallet === undefined) unseen.push(id)
      else known.set(id, wallet)
    }
    if (unseen.length === 0) return known
    for (const wallet of yield* Effect.orDie(findAll({ tenant_id, ids: unseen }))) {
      known.set(wallet.id, wallet)
      remember(wallet)
    }
    return known
  })

  const findFirst = SqlSchema.findOneOption({
    Request: Schema.Struct({
      agent_id: Schema.String,
      currency: Schema.UndefinedOr(Currency),
      network: Schema.UndefinedOr(Schema.toType(Network))
    }),
    Result: KnownWallet,
    execute: ({ agent_id, currency = null, network = null }) =>
      sql`${wallets} WHERE w.owner_type = 'agent' AND w.owner_id = ${agent_id}
        ORDER BY w.currency = ${currency} DESC, w.network = ${network} DESC, w.id LIMIT 1`
  })
  const firsts = new Map<string, KnownWallet>()
  /**
   * An agent's first wallet, of this currency and on this network if it has one. An older one never comes to be, so what is found
   * stays true; only what fits less than it could is looked for again.
   */
  const firstOf = Effect.fnUntraced(function* (
    agent_id: string,
    { currency, network }: { readonly currency?: Currency | undefined; readonly network?: Network | undefined }
  ) {
    const name = `${agent_id} ${currency} ${network}`
    const known = firsts.get(name)
    if (known !== undefined) return known
    const found = Option.getOrUndefined(yield* Effect.orDie(findFirst({ agent_id, currency, network })))
    if (found === undefined) return undefined
    const fits = found.currency === (currency ?? found.currency) && found.network === (network ?? found.network)
    if (fits) keep(firsts, name, found)
    return found
  })
  return { one, all, firstOf }
})
