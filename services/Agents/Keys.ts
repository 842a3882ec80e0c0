import { DateTime, Effect, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { type AuthKey, AuthKeyUsed, type KeySource } from "#domain/Agent.ts"
import { PublicKey, publicKeyOf } from "#domain/Ed25519.ts"
import { type AgentId, AuthKeyId, TenantId } from "#domain/Ids.ts"
import { Credentials } from "../Credentials.ts"
import { newId } from "../NewId.ts"

/** An agent as its keys see it. */
const Held = Schema.toType(Schema.Struct({ tenant_id: TenantId, status: Schema.Literals(["active", "suspended"]) }))
/** The key that proves who an agent is. */
const ActiveKey = Schema.toType(Schema.Struct({ id: AuthKeyId, public_key: PublicKey }))
const Ended = Schema.toType(Schema.Struct({ id: AuthKeyId }))

const warning = "Store the private key now: it is not shown again."

const generated = () => {
  const seed = SecureRandom.randomBytesUnsafe(32)
  return { publicKey: publicKeyOf(seed), privateKey: Buffer.from(seed).toString("base64"), warning }
}

/** The keys of agents. What changes one, or depends on one, holds the agent first and joins that transaction. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const credentials = yield* Credentials

  // Every change of an agent, of its keys and of its sessions begins with this lock, so that they come one after the other.
  const lock = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: Held,
    execute: (agent) =>
      sql`SELECT tenant_id, status FROM agents WHERE id = ${agent} AND status <> 'deleted' FOR NO KEY UPDATE`
  })
  /** The agent, which nobody else changes until the transaction ends. None if there is none, or it was deleted. */
  const hold = (agent: AgentId) => Effect.orDie(lock(agent))

  const activeKey = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: ActiveKey,
    execute: (agent) =>
      sql`SELECT k.id, encode(k.public_key, 'base64') AS public_key FROM agent_auth_keys k
        JOIN agents g ON g.id = k.agent_id AND g.status <> 'deleted' WHERE k.agent_id = ${agent} AND k.status = 'active'`
  })
  const active = (agent: AgentId) => Effect.orDie(activeKey(agent))

  const insert = SqlSchema.findOneOption({
    Request: Schema.Struct({ id: Schema.String, agent_id: Schema.String, public_key: Schema.String, at: Schema.Date }),
    Result: Ended,
    execute: ({ id, agent_id, public_key, at }) =>
      sql`INSERT INTO agent_auth_keys (id, agent_id, public_key, status, created_at)
        VALUES (${id}, ${agent_id}, decode(${public_key}, 'base64'), 'active', ${at})
        ON CONFLICT ON CONSTRAINT agent_auth_keys_once DO NOTHING RETURNING id`
  })
  /** Gives an agent that has no active key this one. */
  const register = Effect.fnUntraced(function* (agent_id: AgentId, source: KeySource) {
    const made = source === "generated" ? generated() : source
    const id = yield* newId(AuthKeyId)
    const row = { id, agent_id, public_key: made.publicKey, at: yield* DateTime.nowAsDate }
    const isNew = Option.isSome(yield* Effect.orDie(insert(row)))
    if (!isNew) return yield* new AuthKeyUsed({ publicKey: made.publicKey })
    const key: AuthKey = { keyId: id, algorithm: "ed25519", ...made }
    return key
  })

  const endActive = SqlSchema.findOneOption({
    Request: Schema.Struct({
      agent_id: Schema.String,
      status: Schema.Literals(["rotated", "revoked"]),
      at: Schema.Date
    }),
    Result: Ended,
    execute: ({ agent_id, status, at }) =>
      sql`UPDATE agent_auth_keys SET status = ${status}, ended_at = ${at}
        WHERE agent_id = ${agent_id} AND status = 'active' RETURNING id`
  })
  /** Ends the active key and the sessions that it opened; whether there was one. */
  const end = Effect.fnUntraced(function* (tenant_id: TenantId, agent_id: AgentId, status: "rotated" | "revoked") {
    const ended = yield* Effect.orDie(endActive({ agent_id, status, at: yield* DateTime.nowAsDate }))
    if (Option.isNone(ended)) return false
    yield* credentials.revokeAll({ tenant_id, auth_key_id: ended.value.id })
    return true
  })

  return { hold, active, register, end }
})
