import { Result } from "effect"
import { assert, describe, it } from "vitest"
import { AccountId, TenantId } from "#domain/Ids.ts"
import { mayAdminister } from "#domain/Operator.ts"
import { ActorType, Principal, Role } from "#domain/Principal.ts"

const operator = TenantId.make("01890a5d-ac96-774b-bcce-b302099a8057")
const other = TenantId.make("01890a5d-ac96-774b-bcce-b302099a8058")
const account_id = AccountId.make("01890a5d-ac96-774b-bcce-b302099a8059")
const caller = (actor_type: ActorType, tenant_id: TenantId) =>
  new Principal({ tenant_id, environment: "sandbox", actor_type, actor_id: "a", account_id, scopes: ["*:*"] })

describe("who may administer the installation", () => {
  it("is an owner of the first tenant, and of all callers there are nobody else", () => {
    const roles = [...Role.literals, undefined]
    const cases = ActorType.literals.flatMap((actor) =>
      [operator, other].flatMap((tenant) => roles.map((role) => ({ actor, tenant, role })))
    )
    const admitted = cases.filter(({ actor, role, tenant }) =>
      Result.isSuccess(mayAdminister(caller(actor, tenant), role, operator))
    )
    assert.deepStrictEqual(admitted, [{ actor: "user", tenant: operator, role: "owner" }])
  })

  it("is nobody where there is no tenant yet", () => {
    assert.isTrue(Result.isFailure(mayAdminister(caller("user", operator), "owner", undefined)))
  })
})
