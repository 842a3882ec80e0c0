import { Schema } from "effect"
import { AccountId, TenantId } from "./Ids.ts"

/** Sandbox credentials carry `test` in their prefix and every answer says so; live ones carry `live`. */
export const Environment = Schema.Literals(["sandbox", "live"])
export type Environment = typeof Environment.Type

/** The word for the environment in key prefixes, in `X-Environment` and in webhook bodies. */
export const environmentWord = (environment: Environment): "test" | "live" =>
  environment === "sandbox" ? "test" : "live"

/** What a credential may be scoped to; `*` as resource or action covers all of them. */
export const scopeResources = [
  "accounts",
  "api_keys",
  "wallets",
  "transfers",
  "streams",
  "x402",
  "agents",
  "webhooks",
  "scanner"
] as const

/** What can be asked of a credential: `users` is covered by no scope but `*:*`, because whoever makes users has their rights. */
export type Resource = (typeof scopeResources)[number] | "users"

/** `resource:read`, `resource:write`, `resource:*` or `*:*`. */
export const Scope = Schema.String.check(
  Schema.isPattern(new RegExp(`^(?:\\*:\\*|(?:${scopeResources.join("|")}):(?:read|write|\\*))$`, "u"), {
    expected: `a scope such as wallets:read, wallets:* or *:*, of ${scopeResources.join(", ")}`
  })
)
export type Scope = typeof Scope.Type

export const ActorType = Schema.Literals(["api_key", "user", "agent", "portal", "scanner_key", "system"])
export type ActorType = typeof ActorType.Type

/** What was shown to say who is calling. */
export const CredentialKind = Schema.Literals([
  "api_key",
  "jwt",
  "agent_token",
  "session_token",
  "portal_token",
  "scanner_key"
])
export type CredentialKind = typeof CredentialKind.Type

/** Who is calling, whatever credential was shown. Everything the caller may see belongs to `tenant_id`. */
export class Principal extends Schema.Class<Principal>("Principal")({
  tenant_id: TenantId,
  environment: Environment,
  actor_type: ActorType,
  /** Of an agent the agent's id, of a user the user's; of everybody else the credential's. */
  actor_id: Schema.String,
  /** What an operation means when it names no account: the agent's, the portal customer's, else the tenant's own. */
  account_id: AccountId,
  scopes: Schema.Array(Schema.String),
  /** The credential itself, where an actor may have several: an agent's token or session, a user's session. */
  credential: Schema.optionalKey(Schema.Struct({ kind: CredentialKind, id: Schema.String }))
}) {}

const kindOfActor = {
  api_key: "api_key",
  user: "jwt",
  agent: "agent_token",
  portal: "portal_token",
  scanner_key: "scanner_key",
  system: "api_key"
} as const

/** The kind of credential behind a principal. */
export const kindOf = ({ actor_type, credential }: Principal): CredentialKind =>
  credential?.kind ?? kindOfActor[actor_type]

/** What an agent may do, of those operations that take agents at all: with what is its own. */
export const agentScopes = ["accounts:read", "wallets:*", "transfers:*", "streams:*", "x402:*", "agents:*"] as const

/** What users may do. */
export const Role = Schema.Literals(["owner", "admin", "member", "viewer"])
export type Role = typeof Role.Type

const everything = (action: "read" | "*", ...but: ReadonlyArray<string>) =>
  scopeResources.filter((resource) => !but.includes(resource)).map((resource) => `${resource}:${action}`)

/** The scopes of a role: owners and admins may do everything, members everything but make credentials, viewers look. */
export const roleScopes: { readonly [role in Role]: ReadonlyArray<string> } = {
  owner: ["*:*"],
  admin: ["*:*"],
  member: [...everything("*", "api_keys"), "api_keys:read"],
  viewer: everything("read")
}

/** What scanner keys are scoped to; other credentials need `scanner:read` to read and `scanner:write` for the rest. */
export const ScannerScope = Schema.Literals(["scan", "batch", "read", "tests"])
export type ScannerScope = typeof ScannerScope.Type

/** Whether one of the scopes grants this action on this resource. */
export const grants = (scopes: ReadonlyArray<string>, resource: Resource, action: "read" | "write"): boolean =>
  scopes.includes("*:*") || scopes.includes(`${resource}:*`) || scopes.includes(`${resource}:${action}`)
