import { Effect, Option, Schema } from "effect"
import { type SqlClient, SqlSchema, type Statement } from "effect/sql"
import { type AccountId, TenantId } from "#domain/Ids.ts"
import { Currency } from "#domain/Money.ts"
import { Network } from "#domain/Network.ts"
import { Reach, reachOf } from "#domain/Ownership.ts"
import type { Principal } from "#domain/Principal.ts"
import { OwnerType, type Wallet, WalletFilter, type WalletStatus } from "#domain/Wallet.ts"
import { WalletRow } from "./Rows.ts"

/** A filter within what a caller reaches of one tenant, and the part of the matches that is wanted. */
const Search = Schema.toType(
  Schema.Struct({ ...WalletFilter, tenant_id: TenantId, reach: Reach, limit: Schema.Int, offset: Schema.Int })
)
type Search = typeof Search.Type

/** The ids of whoever owns what is within this reach. */
export const ownersWithin = (sql: SqlClient.SqlClient, { id }: Exclude<Reach, { readonly to: "nothing" | "tenant" }>) =>
  // No agent has the id of an account. Deleted agents still have what they had.
  sql`ARRAY(SELECT ${id}::uuid UNION ALL SELECT id FROM agents WHERE account_id = ${id})`

/**
 * The id of the oldest wallet of this owner, currency and network of which something holds, by the index that has them in this order: an
 * owner may have very many. Were it said that the three are equal, wallets would be taken in the order of their ids alone wherever most
 * seem to be such, and all be read where none is. And were it plain what is to hold, so few would seem to be left, before the table is
 * analysed, that the order was worth nothing.
 */
export const oldest = (sql: SqlClient.SqlClient, of: Statement.Fragment, holds: Statement.Fragment) =>
  sql`(SELECT o.id FROM wallets o
    WHERE (o.owner_id, o.currency, o.network) >= ${of} AND (o.owner_id, o.currency, o.network) <= ${of}
      AND CASE WHEN ${holds} THEN true ELSE false END
    ORDER BY o.owner_id, o.currency, o.network, o.id LIMIT 1)`

/**
 * Finds wallets, from `wallets`: the statement up to its conditions on wallet `w` and its ledger account `a`. What a list is narrowed
 * by is in the index of a tenant's wallets, but for owners, who have an index of their own: rows are read of the page only.
 */
export const make = (sql: SqlClient.SqlClient, wallets: Statement.Fragment) => {
  const within = (reach: Reach): ReadonlyArray<Statement.Fragment> => {
    if (reach.to === "tenant") return []
    return reach.to === "nothing" ? [sql`false`] : [sql`w.owner_id = ANY(${ownersWithin(sql, reach)})`]
  }
  const statuses = {
    active: sql`w.frozen_at IS NULL`,
    frozen: sql`w.frozen_at IS NOT NULL`,
    closed: sql`false`
  } satisfies Record<WalletStatus, Statement.Fragment>
  const matching = ({ tenant_id, reach, owner_type, owner_id, currency, network, status }: Search) =>
    sql.and([
      sql`w.tenant_id = ${tenant_id}`,
      ...within(reach),
      ...(owner_type === undefined ? [] : [sql`w.owner_type = ${owner_type}`]),
      ...(owner_id === undefined ? [] : [sql`w.owner_id = ${owner_id}`]),
      ...(currency === undefined ? [] : [sql`w.currency = ${currency}`]),
      ...(network === undefined ? [] : [sql`w.network = ${network}`]),
      // Written with the ledger account in one transaction, and by nobody else.
      ...(status === undefined ? [] : [statuses[status]])
    ])
  const search = SqlSchema.findAll({
    Request: Search,
    Result: WalletRow,
    // Planned for what it asks: a plan for any tenant sorts all that a large one has.
    execute: (request) =>
      sql`WITH page AS MATERIALIZED (
          SELECT w.id FROM wallets w WHERE ${matching(request)} ORDER BY w.id DESC LIMIT ${request.limit} OFFSET ${request.offset}
        ) ${wallets} WHERE w.id IN (SELECT id FROM page) ORDER BY w.id DESC`.unprepared
  })
  const count = SqlSchema.findOne({
    Request: Search,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (request) => sql`SELECT count(*)::int AS total FROM wallets w WHERE ${matching(request)}`.unprepared
  })

  const oldestActive = SqlSchema.findOneOption({
    Request: Schema.Struct({
      owner_type: OwnerType,
      owner_id: Schema.String,
      currency: Currency,
      network: Schema.toType(Network)
    }),
    Result: WalletRow,
    execute: ({ currency, network, owner_id, owner_type }) =>
      sql`${wallets} WHERE w.id = ${oldest(
        sql,
        sql`(${owner_id}::uuid, ${currency}::text, ${network}::text)`,
        sql`o.owner_type = ${owner_type} AND o.frozen_at IS NULL`
      )}`
  })

  return {
    list: Effect.fn("Wallets.list")(function* (
      caller: Principal,
      filter: WalletFilter,
      range: { readonly limit: number; readonly offset: number }
    ) {
      const request = { ...filter, ...range, tenant_id: caller.tenant_id, reach: reachOf(caller) }
      return { wallets: yield* search(request), total: (yield* count(request)).total }
    }, Effect.orDie),
    byAccount: Effect.fn("Wallets.byAccount")(
      (account: AccountId, currency: Currency, network: Network) =>
        oldestActive({ owner_type: "account", owner_id: account, currency, network }),
      Effect.orDie
    ),
    purseOf: Effect.fn("Wallets.purseOf")(function* (caller: Principal, currency: Currency, network: Network) {
      const { to } = reachOf(caller)
      // Portals and scanners look, and pay for nothing.
      if (to === "nothing" || to === "account") return Option.none<Wallet>()
      return to === "agent"
        ? yield* oldestActive({ owner_type: "agent", owner_id: caller.actor_id, currency, network })
        : yield* oldestActive({ owner_type: "account", owner_id: caller.account_id, currency, network })
    }, Effect.orDie)
  }
}
