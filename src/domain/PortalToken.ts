import { Effect, Schema } from "effect"
import { Moment } from "./Instant.ts"
import { AccountId, PortalTokenId } from "./Ids.ts"
import { requiredScope } from "./Credential.ts"

/** What a portal token may be scoped to: what one customer may see of itself. */
export const PortalScope = Schema.Literals(["usage:read", "invoices:read", "transfers:read", "agents:read"])
export type PortalScope = typeof PortalScope.Type

/** What whoever gives a customer such a view must be able to see. */
const seenBy: { readonly [scope in PortalScope]: string } = {
  "usage:read": requiredScope("x402", "read"),
  "invoices:read": requiredScope("x402", "read"),
  "transfers:read": requiredScope("transfers", "read"),
  "agents:read": requiredScope("agents", "read")
}

export const neededFor = (scopes: ReadonlyArray<PortalScope>): ReadonlyArray<string> =>
  scopes.map((scope) => seenBy[scope])

const ExpiresIn = Schema.Int.check(Schema.isBetween({ minimum: 60, maximum: 86_400 }))

/** What a portal token is made from. The customer is named by the id of its account; the token lasts an hour if nothing is said. */
export const CreatePortalToken = Schema.Struct({
  customer_reference: AccountId,
  scopes: Schema.Array(PortalScope).check(Schema.isMinLength(1), Schema.isMaxLength(8)),
  expires_in: ExpiresIn.pipe(Schema.withDecodingDefaultKey(Effect.succeed(3_600)))
}).annotate({ identifier: "CreatePortalToken" })
export type CreatePortalToken = typeof CreatePortalToken.Type

/** A portal token as it can be shown again. */
export const PortalToken = Schema.Struct({
  id: PortalTokenId,
  customer_reference: AccountId,
  scopes: Schema.Array(Schema.String),
  expires_at: Moment,
  created_at: Moment,
  revoked_at: Schema.NullOr(Moment)
}).annotate({ identifier: "PortalToken" })
export type PortalToken = typeof PortalToken.Type

const { revoked_at: _, ...shown } = PortalToken.fields

/** A token that was just made: the only time it is shown. */
export const IssuedPortalToken = Schema.Struct({ ...shown, token: Schema.String, warning: Schema.String }).annotate({
  identifier: "IssuedPortalToken"
})
export type IssuedPortalToken = typeof IssuedPortalToken.Type
