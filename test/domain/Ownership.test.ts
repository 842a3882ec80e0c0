import { Result } from "effect"
import { assert, describe, it } from "vitest"
import { AccountId, TenantId } from "#domain/Ids.ts"
import { actFor, type Owned, reaches } from "#domain/Ownership.ts"
import { type ActorType, Principal } from "#domain/Principal.ts"

const uuid = (digit: string) => `${digit.repeat(8)}-0000-7000-8000-000000000000`
const tenant_id = TenantId.make(uuid("1"))
const [ours, others] = [uuid("2"), uuid("3")]
const [itself, another] = [uuid("4"), uuid("5")]

/** A caller of the tenant and of our account; as an agent, it is `itself`. */
const caller = (actor_type: ActorType) =>
  new Principal({
    tenant_id,
    environment: "sandbox",
    actor_type,
    actor_id: itself,
    account_id: AccountId.make(ours),
    scopes: []
  })

const things: Readonly<Record<string, Owned>> = {
  "our account's": { tenant_id, account_id: ours, agent_id: null },
  "another account's": { tenant_id, account_id: others, agent_id: null },
  "the agent's": { tenant_id, account_id: ours, agent_id: itself },
  "another agent's of our account": { tenant_id, account_id: ours, agent_id: another },
  "another agent's of another account": { tenant_id, account_id: others, agent_id: another },
  "the tenant's, on nobody's books": { tenant_id, account_id: null, agent_id: null },
  "another tenant's": { tenant_id: uuid("9"), account_id: ours, agent_id: itself }
}
const withinTenant = Object.keys(things).filter((name) => name !== "another tenant's")
const reach: { readonly [type in ActorType]: ReadonlyArray<string> } = {
  api_key: withinTenant,
  user: withinTenant,
  system: withinTenant,
  agent: ["the agent's"],
  portal: ["our account's", "the agent's", "another agent's of our account"],
  scanner_key: []
}

describe("what a caller reaches", () => {
  for (const [type, within] of Object.entries(reach)) {
    it(`as ${type}: ${within.length === 0 ? "nothing" : within.join("; ")}`, () => {
      const by = caller(type as ActorType)
      for (const [name, thing] of Object.entries(things)) {
        assert.strictEqual(reaches(by, thing), within.includes(name), name)
        const refused = Result.isFailure(actFor(by, thing, "not yours"))
        assert.strictEqual(refused, !within.includes(name), name)
      }
    })
  }
})
