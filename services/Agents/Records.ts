import { DateTime, Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Agent, AgentFilter } from "#domain/Agent.ts"
import { AgentId, TenantId } from "#domain/Ids.ts"
import { Reach, reachOf } from "#domain/Ownership.ts"
import type { Principal } from "#domain/Principal.ts"

const Row = Schema.toType(Agent)

/** Whose agents a caller sees: an agent itself, a portal those of the customer's account, a tenant's own programs and people all. */
const view = { tenant_id: TenantId, reach: Reach }
type View = Schema.Struct.Type<typeof view>

const viewOf = (caller: Principal): View => ({ tenant_id: caller.tenant_id, reach: reachOf(caller) })

const One = Schema.toType(Schema.Struct({ ...view, id: AgentId, now: Schema.Date }))
const Search = Schema.toType(
  Schema.Struct({ ...view, ...AgentFilter, now: Schema.Date, limit: Schema.Int, offset: Schema.Int })
)
type Search = typeof Search.Type

/** Reads agents as they are shown. */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const connected = (now: Date) =>
    sql`EXISTS (SELECT 1 FROM agent_connections c WHERE c.agent_id = g.id AND c.expires_at > ${now}::timestamptz)`
  const agents = (now: Date) =>
    sql`SELECT g.id, g.account_id AS parent_account_id, g.account_id AS "accountId", g.name, g.description, g.status,
        g.suspended_reason, g.skills, g.metadata, encode(k.public_key, 'base64') AS public_key, g.wallet_id,
        ${connected(now)} AS connected, g.created_at, g.updated_at
      FROM agents g LEFT JOIN agent_auth_keys k ON k.agent_id = g.id AND k.status = 'active'`
  const within = (reach: Reach) => {
    if (reach.to === "tenant") return []
    if (reach.to === "nothing") return [sql`false`]
    return [reach.to === "agent" ? sql`g.id = ${reach.id}` : sql`g.account_id = ${reach.id}`]
  }
  const visible = ({ reach, tenant_id }: View) => [
    sql`g.status <> 'deleted'`,
    sql`g.tenant_id = ${tenant_id}`,
    ...within(reach)
  ]
  const matching = (search: Search) =>
    sql.and([
      ...visible(search),
      ...(search.account_id === undefined ? [] : [sql`g.account_id = ${search.account_id}`]),
      ...(search.status === undefined ? [] : [sql`g.status = ${search.status}`]),
      // As a condition of its own, which Postgres joins by; compared with a truth it is looked up agent by agent.
      ...(search.connected === undefined
        ? []
        : [search.connected === "true" ? connected(search.now) : sql`NOT ${connected(search.now)}`])
    ])

  const byId = SqlSchema.findOneOption({
    Request: One,
    Result: Row,
    execute: ({ id, now, ...view }) => sql`${agents(now)} WHERE ${sql.and([...visible(view), sql`g.id = ${id}`])}`
  })
  const search = SqlSchema.findAll({
    Request: Search,
    Result: Row,
    // What comes before the page is passed by in the index of agents: keys and connections are looked up of the page only. Planned
    // for what it asks, because a plan for any tenant sorts all that a large one has.
    execute: (request) =>
      sql`WITH page AS MATERIALIZED (
          SELECT g.id FROM agents g WHERE ${matching(request)} ORDER BY g.id DESC LIMIT ${request.limit} OFFSET ${request.offset}
        ) ${agents(request.now)} WHERE g.id IN (SELECT id FROM page) ORDER BY g.id DESC`.unprepared
  })
  const count = SqlSchema.findOne({
    Request: Search,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (request) => sql`SELECT count(*)::int AS total FROM agents g WHERE ${matching(request)}`.unprepared
  })

  /** The agent, if the caller may see it. */
  const find = Effect.fnUntraced(function* (caller: Principal, id: AgentId) {
    return yield* byId({ ...viewOf(caller), id, now: yield* DateTime.nowAsDate })
  }, Effect.orDie)
  /** Newest first, with the number of all that match. */
  const list = Effect.fnUntraced(function* (
    caller: Principal,
    filter: AgentFilter,
    range: { readonly limit: number; readonly offset: number }
  ) {
    const request = { ...viewOf(caller), ...filter, ...range, now: yield* DateTime.nowAsDate }
    return { agents: yield* search(request), total: (yield* count(request)).total }
  }, Effect.orDie)
  return { find, list }
})
