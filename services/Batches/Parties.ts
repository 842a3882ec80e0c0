import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema, type Statement } from "effect/sql"
import type { BatchItem, Destination } from "#domain/Batch.ts"
import { AccountId, TenantId, type WalletId } from "#domain/Ids.ts"
import { Currency } from "#domain/Money.ts"
import { Network, networksOf } from "#domain/Network.ts"
import type { Principal } from "#domain/Principal.ts"
import { KnownWallet } from "../Wallets/Known.ts"
import { oldest } from "../Wallets/Searching.ts"

const Candidate = Schema.Struct({
  account_id: Schema.toType(AccountId),
  currency: Currency,
  wallet: Schema.NullOr(KnownWallet),
  frozen: Schema.NullOr(Schema.Boolean)
})

/** Who pays and who receives the items of a batch. */
export interface Parties {
  /** Wallets of the caller's account in this currency, one for each network: active ones first, the oldest first. */
  readonly payers: (currency: Currency) => ReadonlyArray<KnownWallet>
  readonly destination: (item: BatchItem) => Destination<KnownWallet>
}

const none: ReadonlyArray<KnownWallet> = []

/** Finds the parties of all items at once; `paysByDefault` when no wallet is named that pays. */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const oldestThat = (is: Statement.Fragment) =>
    oldest(sql, sql`(r.account_id, r.currency, n.network)`, sql`o.owner_type = 'account' AND o.frozen_at ${is}`)
  // On each network the wallet that `Wallets.byAccount` would find, or a frozen one where there is no other. Limited to the one that it can
  // be, so that it is looked up for each by its id: joined to all wallets, these could be read through.
  const candidates = SqlSchema.findAll({
    Request: Schema.Struct({
      tenant_id: Schema.toType(TenantId),
      accounts: Schema.Array(Schema.String),
      currencies: Schema.Array(Schema.String),
      networks: Schema.Array(Schema.toType(Network))
    }),
    Result: Candidate,
    execute: ({ accounts, currencies, networks, tenant_id }) =>
      sql`SELECT r.account_id, r.currency, w.frozen, CASE WHEN w.id IS NOT NULL THEN jsonb_build_object('id', w.id,
            'tenant_id', w.tenant_id, 'account_id', w.owner_id, 'agent_id', NULL, 'currency', w.currency,
            'network', w.network) END AS wallet
        FROM unnest(${accounts}::uuid[], ${currencies}::text[]) AS r (account_id, currency)
        JOIN accounts a ON a.id = r.account_id AND a.tenant_id = ${tenant_id}
        CROSS JOIN unnest(${networks}::text[]) AS n (network)
        LEFT JOIN LATERAL (
          SELECT w.id, w.tenant_id, w.owner_id, w.currency, w.network, w.frozen_at IS NOT NULL AS frozen FROM wallets w
          WHERE w.id = coalesce(${oldestThat(sql`IS NULL`)}, ${oldestThat(sql`IS NOT NULL`)}) LIMIT 1
        ) w ON true
        ORDER BY w.frozen, w.id`
  })
  return Effect.fnUntraced(function* (
    caller: Principal,
    items: ReadonlyArray<BatchItem>,
    named: ReadonlyMap<WalletId, KnownWallet>,
    paysByDefault: boolean
  ): Effect.fn.Return<Parties> {
    const wanted = new Map<string, { readonly account: AccountId; readonly currency: Currency }>()
    const want = (account: AccountId, currency: Currency) => wanted.set(`${account} ${currency}`, { account, currency })
    for (const { currency, to_account_id } of items) {
      if (to_account_id !== undefined) want(to_account_id, currency)
      if (paysByDefault) want(caller.account_id, currency)
    }
    const pairs = [...wanted.values()]
    const found =
      pairs.length === 0
        ? []
        : yield* Effect.orDie(
            candidates({
              tenant_id: caller.tenant_id,
              accounts: pairs.map(({ account }) => account),
              currencies: pairs.map(({ currency }) => currency),
              networks: networksOf(caller.environment)
            })
          )
    const accounts = new Set(found.map(({ account_id }) => account_id))
    const all = new Map<string, Array<KnownWallet>>()
    const active = new Map<string, Array<KnownWallet>>()
    for (const { account_id, currency, frozen, wallet } of found) {
      if (wallet === null) continue
      add(all, `${account_id} ${currency}`, wallet)
      if (frozen === false) add(active, `${account_id} ${currency}`, wallet)
    }
    return {
      payers: (currency) => all.get(`${caller.account_id} ${currency}`) ?? none,
      destination: ({ currency, to_account_id, to_wallet_id }) =>
        to_account_id === undefined
          ? { wallet: to_wallet_id === undefined ? undefined : named.get(to_wallet_id) }
          : { isKnown: accounts.has(to_account_id), wallets: active.get(`${to_account_id} ${currency}`) ?? none }
    }
  })
})

const add = <Value>(lists: Map<string, Array<Value>>, name: string, value: Value) => {
  const list = lists.get(name)
  if (list === undefined) lists.set(name, [value])
  else list.push(value)
}
