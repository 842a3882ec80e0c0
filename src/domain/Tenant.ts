import { Schema } from "effect"
import { AccountId, TenantTypeId } from "./Ids.ts"
import { Moment } from "./Instant.ts"
import { name } from "./Text.ts"

/** A tenant and its own account, which operations mean when they name no account. */
export const Tenant = Schema.Struct({
  id: TenantTypeId,
  name: Schema.String,
  account_id: AccountId,
  created_at: Moment
}).annotate({ identifier: "Tenant" })
export type Tenant = typeof Tenant.Type

/** What a tenant is made from. */
export const CreateTenant = Schema.Struct({ name: name(255) }).annotate({ identifier: "CreateTenant" })
export type CreateTenant = typeof CreateTenant.Type
