import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema, type Statement } from "effect/sql"
import { TenantId, type TransferId } from "#domain/Ids.ts"
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
const highest = "ffffffff-ffff-ffff-ffff-ffffffffffff"
const lowest = "00000000-0000-0000-0000-000000000000"
const idAt = (millis: number): string => {
  const hex = Math.max(0, millis).toString(16).padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`
}
const lower = (...ids: ReadonlyArray<string>) => ids.reduce((least, id) => (id < least ? id : least))

/** Between which ids, both excluded, everything is that was made between two moments, and before the id `before`. */
export const idRange = (
  { created_after, created_before }: Pick<TransferFilter, "created_after" | "created_before">,
  before: string = highest
) => ({
  below: lower(before, created_before === undefined ? highest : idAt(created_before.getTime() + skew)),
  above: created_after === undefined ? lowest : idAt(created_after.getTime() - skew)
})

/**
 * Lists transfers of a tenant, newest first. A list by any one field, or by a wallet or account with a type or a status, stops after
 * `limit` rows of an index, however long the history is; one that narrows further reads through those rows.
 */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const matching = (search: Search) =>
    sql.and([
      sql`t.tenant_id = ${search.tenant_id}`,
      sql`t.id < ${search.below}`,
      sql`t.id > ${search.above}`,
      ...(search.status === undefined ? [] : [sql`t.status = ${search.status}`]),
      ...(search.type === undefined ? [] : [sql`t.type = ${search.type}`]),
      ...(search.from_wallet_id === undefined ? [] : [sql`t.from_wallet_id = ${search.from_wallet_id}`]),
      ...(search.to_wallet_id === undefined ? [] : [sql`t.to_wallet_id = ${search.to_wallet_id}`]),
      ...(search.account_id === undefined ? [] : [sql`${search.account_id} IN (t.from_account_id, t.to_account_id)`]),
      ...(search.batch_id === undefined ? [] : [sql`t.batch_id = ${search.batch_id}`]),
      ...(search.created_after === undefined ? [] : [sql`t.created_at >= ${search.created_after}::timestamptz`]),
      ...(search.created_before === undefined ? [] : [sql`t.created_at < ${search.created_before}::timestamptz`])
    ])
  // An owner's transfers are those of its wallets, each of which has its own index to read from the end.
  const ofOwner = (owner: NonNullable<Search["owner"]>, search: Search, side: Statement.Fragment) =>
    sql`SELECT one.* FROM wallets w CROSS JOIN LATERAL (
        SELECT t.* FROM transfers t WHERE ${side} = w.id AND ${matching(search)} ORDER BY t.id DESC LIMIT ${search.limit}
      ) one WHERE w.owner_id = ANY(${ownersWithin(sql, owner)}) AND w.tenant_id = ${search.tenant_id}`

  const found = (request: Search) =>
    request.owner === undefined
      ? sql`SELECT ${sql.literal(transferColumns)} FROM transfers t WHERE ${matching(request)}
          ORDER BY t.id DESC LIMIT ${request.limit}`
      : sql`SELECT ${sql.literal(transferColumns)} FROM (
            ${ofOwner(request.owner, request, sql`t.from_wallet_id`)}
            UNION ${ofOwner(request.owner, request, sql`t.to_wallet_id`)}
          ) t ORDER BY t.id DESC LIMIT ${request.limit}`
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
    if (account_id === undefined) return Effect.orDie(search(request))
    return Effect.orDie(search({ ...request, owner: { to: "account", id: account_id } }))
  }
})
