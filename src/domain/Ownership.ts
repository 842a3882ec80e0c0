import { Result, Schema } from "effect"
import { AgentId } from "./Ids.ts"
import type { Principal } from "./Principal.ts"
import { Forbidden } from "./Refusal.ts"

/** The agent that is calling, if it is one: what it makes is its own, and what it leaves out is its own too. */
export const agentOf = ({ actor_id, actor_type }: Principal): AgentId | undefined =>
  actor_type === "agent" ? AgentId.make(actor_id) : undefined

/** Whose something is: on which account's books, and which of that account's agents has it, if one does. */
export interface Owned {
  readonly tenant_id: string
  readonly account_id: string | null
  readonly agent_id: string | null
}

/** How far a caller reaches within its tenant. */
export const Reach = Schema.Union([
  Schema.Struct({ to: Schema.Literal("nothing") }),
  Schema.Struct({ to: Schema.Literal("tenant") }),
  Schema.Struct({ to: Schema.Literals(["agent", "account"]), id: Schema.String })
])
export type Reach = typeof Reach.Type

const nothing: Reach = { to: "nothing" }
const all: Reach = { to: "tenant" }

/** Agents reach what is their own, portals what is on the books of their customer's account, a tenant's own programs and people all. */
export const reachOf = ({ account_id, actor_id, actor_type }: Principal): Reach => {
  switch (actor_type) {
    case "scanner_key":
      return nothing
    case "agent":
      return { to: "agent", id: actor_id }
    case "portal":
      return { to: "account", id: account_id }
    case "api_key":
    case "user":
    case "system":
      return all
  }
}

/** Whether the caller reaches this. To whoever does not, it is as if it did not exist. */
export const reaches = (caller: Principal, { account_id, agent_id, tenant_id }: Owned): boolean => {
  if (tenant_id !== caller.tenant_id) return false
  const reach = reachOf(caller)
  switch (reach.to) {
    case "nothing":
      return false
    case "agent":
      return agent_id === reach.id
    case "account":
      return account_id === reach.id
    case "tenant":
      return true
  }
}

/** Refuses a caller who sees something, being one side of it, and may not do this to it, which is for the `other` side. */
export const actFor = (caller: Principal, other: Owned, what: string): Result.Result<void, Forbidden> =>
  reaches(caller, other) ? Result.void : Result.fail(new Forbidden({ reason: what }))
