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
  "webhooks"
] as const

/** `resource:read`, `resource:write`, `resource:*` or `*:*`. */
export const Scope = Schema.String.check(
  Schema.isPattern(new RegExp(`^(?:\\*:\\*|(?:${scopeResources.join("|")}):(?:read|write|\\*))$`), {
    expected: `a scope such as wallets:read, wallets:* or *:*, of ${scopeResources.join(", ")}`
  })
)
export type Scope = typeof Scope.Type

export const ActorType = Schema.Literals(["api_key", "user", "agent", "portal", "scanner_key", "system"])
export type ActorType = typeof ActorType.Type

/** Who is calling, whatever credential was shown. Everything the caller may see belongs to `tenant_id`. */
export class Principal extends Schema.Class<Principal>("Principal")({
  tenant_id: TenantId,
  environment: Environment,
  actor_type: ActorType,
  actor_id: Schema.String,
  /** The tenant's own account: what an operation means when it names no account. */
  account_id: AccountId,
  scopes: Schema.Array(Schema.String)
}) {}

/** Whether one of the scopes grants this action on this resource. */
export const grants = (
  scopes: ReadonlyArray<string>,
  resource: (typeof scopeResources)[number],
  action: "read" | "write"
): boolean => scopes.includes("*:*") || scopes.includes(`${resource}:*`) || scopes.includes(`${resource}:${action}`)
