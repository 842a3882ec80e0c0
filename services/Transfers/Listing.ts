import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { highestUuid, TenantId, type TransferId } from "#domain/Ids.ts"
import { reachOf } from "#domain/Ownership.ts"
import type { Principal } from "#domain/Principal.ts"
import { type Transfer, TransferFilter } from "#domain/Transfer.ts"
import { ownersWithin } from "../Wallets/Searching.ts"
import { transferColumns, TransferRow } from "./Records.ts"

const Search = Schema.toType(
  Schema.Struct({
    ...TransferFilter,
    tenant_id: TenantId,
    /** The account or agent whose wallets these are transfers of. */
    owner: Schema.optionalKey(Schema.Struct({ to: Schema.Literals(["agent", "account"]), id: Schema.String })),
    below: Schema.String,
    above: Schema.String,
    limit: Schema.Int
  })
)
type Search = typeof Search.Type

/** Ids carry their time, written down at most this long before the transfer's. */
const skew = 15 * 60_000
const lowest = "00000000-0000-0000-0000-000000000000"
const idAt = (millis: number): string => {
  const hex = Math.max(0, millis).toString(16).padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`
}
const lower = (...ids: ReadonlyArray<string>) => ids.reduce((least, id) => (id < least ? id : least))

/** Between which ids, both excluded, everything is that was made between two moments, and before the id `before`. */
export const idRange = (
  { created_after, created_before }: Pick<TransferFilter, "created_after" | "created_before">,
  before: string = highestUuid
) => ({
  below: lower(before, created_before === undefined ? highestUuid : idAt(created_before.getTime() + skew)),
  above: created_after === undefined ? lowest : idAt(created_after.getTime() - skew)
})

/** An owner of more wallets than this is looked for among so many of the tenant's newest transfers first. */
const glance = { wallets: 500, transfers: 2_000 }

/**
 * Lists transfers of a tenant, newest first. A list by any one field, or by a wallet with a type or a status, stops after `limit` rows
 * of an index, however long the history is; one that narrows further reads through those rows, and so does one by `internal` or
 * `completed`, which nearly all are. A list of an owner asks each of its wallets for the newest, however many there are of each.
 */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  // Where a batch names an account that has no wallet for the money, the transfer is none of the account's wallets.
  const touches = (account: string) =>
    sql`(t.from_account_id = ${account} AND t.from_wallet_id IS NOT NULL
      OR t.to_account_id = ${account} AND t.to_wallet_id IS NOT NULL)`
  const narrowing = (search: Search) =>
    sql.and([
      sql`t.id < ${search.below}`,
      sql`t.id > ${search.above}`,
      ...(search.status === undefined ? [] : [sql`t.status = ${search.status}`]),
      ...(search.type === undefined ? [] : [sql`t.type = ${search.type}`]),
      ...(search.from_wallet_id === undefined ? [] : [sql`t.from_wallet_id = ${search.from_wallet_id}`]),
      ...(search.to_wallet_id === undefined ? [] : [sql`t.to_wallet_id = ${search.to_wallet_id}`]),
      ...(search.account_id === undefined ? [] : [touches(search.account_id)]),
      ...(search.batch_id === undefined ? [] : [sql`t.batch_id = ${search.batch_id}`]),
      ...(search.created_after === undefined ? [] : [sql`t.created_at >= ${search.created_after}::timestamptz`]),
      ...(search.created_before === undefined ? [] : [sql`t.created_at < ${search.created_before}::timestamptz`])
    ])
  const matching = (search: Search) => sql`t.tenant_id = ${search.tenant_id} AND ${narrowing(search)}`

  const sides = { pays: sql`t.from_wallet_id`, is_paid: sql`t.to_wallet_id` }

  /**
   * Transfers of an owner's wallets, each of which has an index of what it pays and one of what it is paid. The newest are in those
   * that end last, of which twice as many are enough: a transfer is at most at the end of two. Rows are read of what was found only.
   */
  const ofOwner = (owner: NonNullable<Search["owner"]>, search: Search) => {
    const { limit, tenant_id } = search
    const narrowed = narrowing(search)
    const ends = (side: keyof typeof sides) =>
      sql`SELECT own.id AS wallet, ${side} AS side, newest.id FROM own CROSS JOIN LATERAL (
          SELECT t.id FROM transfers t WHERE ${sides[side]} = own.id AND ${narrowed} ORDER BY t.id DESC LIMIT 1
        ) newest WHERE (SELECT count(*) FROM recent) < ${limit}`
    const behind = (side: keyof typeof sides) =>
      sql`SELECT one.id FROM latest CROSS JOIN LATERAL (
          SELECT t.id FROM transfers t WHERE ${sides[side]} = latest.wallet AND ${narrowed} ORDER BY t.id DESC LIMIT ${limit}
        ) one WHERE latest.side = ${side}`
    return sql`WITH own AS MATERIALIZED (
        SELECT w.id FROM wallets w WHERE w.owner_id = ANY(${ownersWithin(sql, owner)}) AND w.tenant_id = ${tenant_id}
      ), recent AS MATERIALIZED (
        SELECT t.id FROM (
          SELECT t.* FROM transfers t WHERE ${matching(search)} ORDER BY t.id DESC LIMIT ${glance.transfers}
        ) t
        WHERE (SELECT count(*) FROM (SELECT FROM own LIMIT ${glance.wallets + 1}) counted) > ${glance.wallets}
          AND ${touches(owner.id)}
        ORDER BY t.id DESC LIMIT ${limit}
      ), latest AS MATERIALIZED (
        SELECT * FROM (${ends("pays")} UNION ALL ${ends("is_paid")}) ends ORDER BY id DESC LIMIT ${2 * limit}
      )
      SELECT ${sql.literal(transferColumns)} FROM (
        SELECT id FROM recent UNION ${behind("pays")} UNION ${behind("is_paid")} ORDER BY id DESC LIMIT ${limit}
      ) found JOIN transfers t ON t.id = found.id WHERE t.tenant_id = ${tenant_id} ORDER BY t.id DESC`
  }

  const found = (request: Search) =>
    request.owner === undefined
      ? sql`SELECT ${sql.literal(transferColumns)} FROM transfers t WHERE ${matching(request)}
          ORDER BY t.id DESC LIMIT ${request.limit}`
      : ofOwner(request.owner, request)
  const search = SqlSchema.findAll({
    Request: Search,
    Result: TransferRow,
    // Planned for what it asks: a plan for any value reads everybody's transfers to find those of a tenant with few.
    execute: (request) => found(request).unprepared
  })
  return (
    caller: Principal,
    filter: TransferFilter,
    { before, limit }: { readonly limit: number; readonly before?: TransferId | undefined }
  ): Effect.Effect<ReadonlyArray<Transfer>> => {
    const reach = reachOf(caller)
    if (reach.to === "nothing") return Effect.succeed([])
    const { account_id, ...rest } = filter
    const request = { ...rest, ...idRange(filter, before), tenant_id: caller.tenant_id, limit }
    // Who reaches the whole tenant may ask for one account; for the others that only narrows what is their own.
    if (reach.to !== "tenant") return Effect.orDie(search({ ...filter, ...request, owner: reach }))
    // A batch is small, and read through sooner than the wallets of an account with very many.
    if (account_id === undefined || filter.batch_id !== undefined)
      return Effect.orDie(search({ ...filter, ...request }))
    return Effect.orDie(search({ ...request, owner: { to: "account", id: account_id } }))
  }
})
