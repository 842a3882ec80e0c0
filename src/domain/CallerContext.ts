import { Schema } from "effect"
import { EnvironmentWord } from "./Credential.ts"
import { AccountId, AgentId, KeyId, TenantTypeId, toTypeId, WalletId } from "./Ids.ts"
import { agentOf } from "./Ownership.ts"
import { ActorType, type Principal } from "./Principal.ts"

/** A principal as it is shown to itself. */
export const CallerContext = Schema.Struct({
  tenant_id: TenantTypeId,
  environment: EnvironmentWord,
  actor_type: ActorType,
  actor_id: Schema.String,
  account_id: AccountId,
  scopes: Schema.Array(Schema.String),
  api_key_id: Schema.NullOr(KeyId),
  agent_id: Schema.NullOr(AgentId),
  wallet_id: Schema.NullOr(WalletId)
}).annotate({ identifier: "CallerContext" })
export type CallerContext = typeof CallerContext.Type

const prefixes = { api_key: "key", scanner_key: "key", user: "usr", agent: "agt", portal: "ptk" } as const

/** Who did something, as records show it. */
export const Actor = Schema.Struct({ type: ActorType, id: Schema.String }).annotate({ identifier: "Actor" })
export type Actor = typeof Actor.Type

export const actorOf = ({ actor_id, actor_type }: Principal): Actor => ({
  type: actor_type,
  id: actor_type === "system" ? actor_id : toTypeId(prefixes[actor_type], actor_id)
})

/** `wallet_id` is what the caller pays from when it names nothing, if it is an agent. */
export const callerContext = (principal: Principal, wallet_id: WalletId | null = null): CallerContext => {
  const { account_id, actor_id, actor_type, environment, scopes, tenant_id } = principal
  return {
    tenant_id,
    environment,
    actor_type,
    actor_id: actorOf(principal).id,
    account_id,
    scopes,
    api_key_id: actor_type === "api_key" ? KeyId.make(actor_id) : null,
    agent_id: agentOf(principal) ?? null,
    wallet_id
  }
}
