import { Result, Schema } from "effect"
import {
  AgentSuspended,
  type CredentialRefused,
  EnvironmentMismatch,
  OpaqueKind,
  revokedCredential
} from "#domain/Credential.ts"
import { AccountId, KeyId, TenantId } from "#domain/Ids.ts"
import { agentScopes, Environment, environmentWord, Principal } from "#domain/Principal.ts"

/** Compared with when there is none. */
export const noHash = new Uint8Array(32)

/** A credential as it is stored. */
export const Row = Schema.Struct({
  id: Schema.String,
  tenant_id: Schema.String,
  kind: OpaqueKind,
  name: Schema.String,
  scopes: Schema.Array(Schema.String),
  hash: Schema.Uint8Array,
  prefix: Schema.String,
  last_four: Schema.String,
  agent_id: Schema.NullOr(Schema.String),
  auth_key_id: Schema.NullOr(Schema.String),
  account_id: Schema.NullOr(Schema.String),
  created_at: Schema.Date,
  expires_at: Schema.NullOr(Schema.Date)
})

/** A credential with what is true of its holder. */
export const Holder = Schema.toType(
  Schema.Struct({
    id: KeyId,
    tenant_id: TenantId,
    account_id: AccountId,
    environment: Environment,
    kind: OpaqueKind,
    scopes: Schema.Array(Schema.String),
    hash: Schema.Uint8Array,
    agent_id: Schema.NullOr(Schema.String),
    agent_status: Schema.NullOr(Schema.String),
    expires_at: Schema.NullOr(Schema.Date),
    revoked_at: Schema.NullOr(Schema.Date)
  })
)
export type Holder = typeof Holder.Type

/** Who acts with a stored credential. */
const actorOf = ({ agent_id, id, kind, scopes }: Holder) => {
  if (kind === "api_key" || kind === "scanner_key") return { actor_type: kind, actor_id: id, scopes } as const
  if (agent_id !== null) return { actor_type: "agent", actor_id: agent_id, scopes: agentScopes } as const
  return { actor_type: "portal", actor_id: id, scopes } as const
}

/** Makes what a holder is told. Who remembers it remembers these few words alone. */
type Refusal = () => CredentialRefused
const revoked =
  (kind: OpaqueKind): Refusal =>
  () =>
    revokedCredential(kind)
const elsewhere =
  (environment: Environment): Refusal =>
  () =>
    new EnvironmentMismatch({ expected: environmentWord(environment) })
const suspended: Refusal = () => new AgentSuspended()

/**
 * What a stored credential gives its holder here. Refusals are made for each who asks, because an error keeps what was on the stack
 * when it was made: a remembered one would keep the row, and with it the 64 KB that it came in from the database.
 */
export const admit = (holder: Holder, environment: Environment): Result.Result<Principal, Refusal> => {
  const { account_id, agent_status, id, kind, tenant_id } = holder
  if (holder.revoked_at !== null) return Result.fail(revoked(kind))
  if (holder.environment !== environment) return Result.fail(elsewhere(environment))
  if (agent_status === "suspended") return Result.fail(suspended)
  const actor = actorOf(holder)
  return Result.succeed(new Principal({ tenant_id, environment, account_id, ...actor, credential: { kind, id } }))
}
