import { Result } from "effect"
import type { TenantId } from "./Ids.ts"
import { kindOf, type Principal, type Role } from "./Principal.ts"
import { Forbidden } from "./Refusal.ts"

const refuse = (reason: string) => Result.fail(new Forbidden({ reason }))

/**
 * Whether somebody may administer all tenants: `role` is what a user is by now, `operator` the first tenant, which is that of whoever
 * started the server. Owners of other tenants are its customers: they must neither give themselves credits nor see who else there is.
 * Keys may not either, with whatever scopes: who makes a key is no owner by that.
 */
export const mayAdminister = (
  caller: Principal,
  role: Role | undefined,
  operator: TenantId | undefined
): Result.Result<void, Forbidden> => {
  if (kindOf(caller) !== "jwt") return refuse("the installation is administered by users")
  if (caller.tenant_id !== operator) return refuse("the installation is administered by its first tenant")
  if (role !== "owner") return refuse("the installation is administered by owners")
  return Result.void
}
