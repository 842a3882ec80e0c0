import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlError, SqlSchema } from "effect/sql"
import type {
  Agent,
  AgentFilter,
  AgentOrder,
  AuthKey,
  AuthKeyUsed,
  ChangeAgent,
  IssuedAgent,
  KeySource
} from "#domain/Agent.ts"
import { AgentId, type TenantId, toTypeId, WalletId } from "#domain/Ids.ts"
import { Metadata } from "#domain/Metadata.ts"
import { reachOf } from "#domain/Ownership.ts"
import type { Principal } from "#domain/Principal.ts"
import { Forbidden, NotFound } from "#domain/Refusal.ts"
import type { AddressTaken, InvalidAddress, NetworkNotAvailable } from "#domain/Wallet.ts"
import * as Keys from "./Agents/Keys.ts"
import * as Records from "./Agents/Records.ts"
import { Credentials } from "./Credentials.ts"
import { newId } from "./NewId.ts"
import { Wallets } from "./Wallets.ts"

/**
 * Programs that act for accounts. An agent sees itself, a portal those of its customer, anybody else those of the tenant; all others
 * are `NotFound`.
 */
export class Agents extends Context.Service<
  Agents,
  {
    /** An agent with its USDC wallet, its token, and its key if one is wanted: all of them or nothing. */
    create(
      caller: Principal,
      order: AgentOrder
    ): Effect.Effect<IssuedAgent, NotFound | NetworkNotAvailable | InvalidAddress | AddressTaken>
    get(caller: Principal, id: AgentId): Effect.Effect<Agent, NotFound>
    /** Newest first, with the number of all that match. Only who sees all of the tenant's may ask which are connected. */
    list(
      caller: Principal,
      filter: AgentFilter,
      range: { readonly limit: number; readonly offset: number }
    ): Effect.Effect<{ readonly agents: ReadonlyArray<Agent>; readonly total: number }, Forbidden>
    /** Changes the fields given. */
    change(caller: Principal, id: AgentId, change: ChangeAgent): Effect.Effect<Agent, NotFound>
    /** Its credentials die everywhere at once and for good. Its wallet and what it did stay with the tenant. */
    remove(caller: Principal, id: AgentId): Effect.Effect<void, NotFound>
    /** Its credentials are refused everywhere at once, until it is activated. Suspending it again only replaces the reason. */
    suspend(caller: Principal, id: AgentId, reason: string | null): Effect.Effect<Agent, NotFound>
    /** Activating an active agent changes nothing. */
    activate(caller: Principal, id: AgentId): Effect.Effect<Agent, NotFound>
    /** A new token. The old one dies everywhere at once. */
    rotateToken(caller: Principal, id: AgentId): Effect.Effect<IssuedAgent, NotFound>
    /** A key in place of the one it has, if any, whose sessions die. */
    replaceKey(caller: Principal, id: AgentId, source: KeySource): Effect.Effect<AuthKey, NotFound | AuthKeyUsed>
    /** Its key is none any more, and the sessions that it opened die. Without a key there is nothing to find. */
    revokeKey(caller: Principal, id: AgentId): Effect.Effect<void, NotFound>
  }
>()("turnpike/services/Agents") {
  static readonly layer = Layer.effect(
    Agents,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const credentials = yield* Credentials
      const wallets = yield* Wallets
      const records = yield* Records.make
      const keys = yield* Keys.make

      const find = Effect.fnUntraced(function* (caller: Principal, id: AgentId) {
        const found = yield* records.find(caller, id)
        return Option.isSome(found) ? found.value : yield* noAgent(id)
      })
      const get = Effect.fn("Agents.get")(find)

      const issueToken = Effect.fnUntraced(function* (tenant_id: TenantId, agent_id: AgentId) {
        const issued = yield* credentials.issue({ tenant_id, kind: "agent_token", name: "token", scopes: [], agent_id })
        return { token: issued.key, warning: "Store this token now: it is not shown again." }
      })

      // An account of another tenant inserts nothing. The wallet is checked when the transaction ends.
      const insert = SqlSchema.findOneOption({
        Request: NewAgent,
        Result: Schema.Struct({ account_id: Schema.String }),
        execute: (row) =>
          sql`INSERT INTO agents (id, tenant_id, account_id, wallet_id, name, description, skills, metadata, status,
              created_at, updated_at)
            SELECT ${row.id}::uuid, a.tenant_id, a.id, ${row.wallet_id}::uuid, ${row.name}, ${row.description}::text,
              ${row.skills}::text[], ${row.metadata}::jsonb, 'active', ${row.at}::timestamptz, ${row.at}::timestamptz
            FROM accounts a WHERE a.id = ${row.account_id} AND a.tenant_id = ${row.tenant_id} RETURNING account_id`
      })
      const create = Effect.fn("Agents.create")(
        function* (caller: Principal, order: AgentOrder) {
          const { address, description, key: source, metadata, name, network, skills } = order
          const { tenant_id } = caller
          const account_id = order.account_id ?? caller.account_id
          const [id, wallet_id] = [yield* newId(AgentId), yield* newId(WalletId)]
          const at = yield* DateTime.nowAsDate
          const row = { id, tenant_id, account_id, wallet_id, name, description, skills, metadata, at }
          if (Option.isNone(yield* insert(row))) {
            return yield* new NotFound({ resource: "account", id: toTypeId("acc", account_id) })
          }
          const where = { ...(network && { network }), ...(address !== undefined && { address }) }
          yield* wallets.create(caller, { owner_type: "agent", owner_id: id, name: null, ...where }, wallet_id)
          const authKey = source === undefined ? undefined : yield* Effect.orDie(keys.register(id, source))
          const token = yield* issueToken(tenant_id, id)
          const data = yield* find(caller, id)
          return { data, credentials: token, ...(authKey && { authKey }) }
        },
        sql.withTransaction,
        Effect.catchTags({ SqlError: Effect.die, SchemaError: Effect.die })
      )

      const list = Effect.fn("Agents.list")(function* (
        caller: Principal,
        filter: AgentFilter,
        range: { readonly limit: number; readonly offset: number }
      ) {
        if (filter.connected !== undefined && reachOf(caller).to !== "tenant") {
          return yield* new Forbidden({ reason: "API keys and users ask which agents are connected" })
        }
        return yield* records.list(caller, filter, range)
      })

      /** Nobody else changes the agent, its keys or its sessions meanwhile. */
      const changing = <A, E>(
        caller: Principal,
        id: AgentId,
        use: Effect.Effect<A, E>
      ): Effect.Effect<A, E | NotFound> =>
        Effect.andThen(find(caller, id), keys.hold(id)).pipe(
          // It may have been deleted between the two.
          Effect.flatMap((held): Effect.Effect<A, E | NotFound> => (Option.isSome(held) ? use : noAgent(id))),
          sql.withTransaction,
          Effect.catchIf(SqlError.isSqlError, Effect.die)
        )

      const update = SqlSchema.void({
        Request: Schema.Struct({ ...Changed.fields, id: Schema.String, at: Schema.Date }),
        execute: ({ at, description, id, metadata, name, skills }) =>
          sql`UPDATE agents SET updated_at = ${at}, name = coalesce(${name ?? null}, name),
              description = CASE WHEN ${description !== undefined} THEN ${description ?? null}::text ELSE description END,
              skills = coalesce(${skills ?? null}::text[], skills),
              metadata = coalesce(${metadata ?? null}::jsonb, metadata)
            WHERE id = ${id}`
      })
      const change = Effect.fn("Agents.change")(function* (caller: Principal, id: AgentId, changed: ChangeAgent) {
        const apply = Effect.gen(function* () {
          if (Object.keys(changed).length > 0) yield* update({ ...changed, id, at: yield* DateTime.nowAsDate })
          return yield* records.find(caller, id)
        })
        const found = yield* changing(caller, id, Effect.orDie(apply))
        return Option.isSome(found) ? found.value : yield* noAgent(id)
      })

      const setStatus = SqlSchema.void({
        Request: Schema.Struct({
          id: Schema.String,
          status: Schema.String,
          reason: Schema.NullOr(Schema.String),
          at: Schema.Date
        }),
        execute: ({ at, id, reason, status }) =>
          sql`UPDATE agents SET status = ${status}, suspended_reason = ${reason}, updated_at = ${at}
            WHERE id = ${id} AND (status, suspended_reason) IS DISTINCT FROM (${status}, ${reason}::text)`
      })
      const become = (caller: Principal, id: AgentId, status: "active" | "suspended", reason: string | null) =>
        changing(
          caller,
          id,
          Effect.gen(function* () {
            yield* Effect.orDie(setStatus({ id, status, reason, at: yield* DateTime.nowAsDate }))
            yield* credentials.reconsider({ tenant_id: caller.tenant_id, agent_id: id })
            return yield* find(caller, id)
          })
        )
      const suspend = Effect.fn("Agents.suspend")((caller: Principal, id: AgentId, reason: string | null) =>
        become(caller, id, "suspended", reason)
      )
      const activate = Effect.fn("Agents.activate")((caller: Principal, id: AgentId) =>
        become(caller, id, "active", null)
      )

      const remove = Effect.fn("Agents.remove")((caller: Principal, id: AgentId) =>
        changing(
          caller,
          id,
          Effect.gen(function* () {
            const { tenant_id } = caller
            yield* keys.end(tenant_id, id, "revoked")
            yield* credentials.revokeAll({ tenant_id, agent_id: id })
            yield* Effect.orDie(setStatus({ id, status: "deleted", reason: null, at: yield* DateTime.nowAsDate }))
          })
        )
      )

      const rotateToken = Effect.fn("Agents.rotateToken")((caller: Principal, id: AgentId) =>
        changing(
          caller,
          id,
          Effect.gen(function* () {
            const { tenant_id } = caller
            yield* credentials.revokeAll({ tenant_id, agent_id: id, kind: "agent_token" })
            return { credentials: yield* issueToken(tenant_id, id), data: yield* find(caller, id) }
          })
        )
      )

      const replaceKey = Effect.fn("Agents.replaceKey")((caller: Principal, id: AgentId, source: KeySource) =>
        changing(caller, id, Effect.andThen(keys.end(caller.tenant_id, id, "revoked"), keys.register(id, source)))
      )

      const revokeKey = Effect.fn("Agents.revokeKey")((caller: Principal, id: AgentId) =>
        Effect.gen(function* () {
          const ended = yield* changing(caller, id, keys.end(caller.tenant_id, id, "revoked"))
          if (!ended) return yield* new NotFound({ resource: "auth_key", id: toTypeId("agt", id) })
        })
      )

      return Agents.of({
        create,
        get,
        list,
        change,
        remove,
        suspend,
        activate,
        rotateToken,
        replaceKey,
        revokeKey
      })
    })
  )
}

const noAgent = (id: AgentId) => Effect.fail(new NotFound({ resource: "agent", id: toTypeId("agt", id) }))

/** A row of `agents` about to be written; metadata goes as JSON text. */
const NewAgent = Schema.Struct({
  id: Schema.String,
  tenant_id: Schema.String,
  account_id: Schema.String,
  wallet_id: Schema.String,
  name: Schema.String,
  description: Schema.NullOr(Schema.String),
  skills: Schema.Array(Schema.String),
  metadata: Schema.fromJsonString(Metadata),
  at: Schema.Date
})
const Changed = Schema.Struct({
  name: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.NullOr(Schema.String)),
  skills: Schema.optionalKey(Schema.Array(Schema.String)),
  metadata: Schema.optionalKey(Schema.fromJsonString(Metadata))
})
