import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { InsufficientScope, scopeBeyond } from "#domain/Credential.ts"
import { type AccountId, PortalTokenId, type TenantId, toTypeId } from "#domain/Ids.ts"
import { type CreatePortalToken, neededFor, PortalToken } from "#domain/PortalToken.ts"
import type { Principal } from "#domain/Principal.ts"
import { NotFound } from "#domain/Refusal.ts"
import { Accounts } from "./Accounts.ts"
import { Credentials } from "./Credentials.ts"

/** Which of the tenant's portal tokens are listed. */
export interface PortalFilter {
  readonly customer_reference?: AccountId | undefined
  readonly include_revoked: boolean
}

/** Short-lived views that a tenant gives its customers of themselves. */
export class PortalTokens extends Context.Service<
  PortalTokens,
  {
    /** For an account of the caller's tenant, and for no more than the caller may see. `token` is shown once. */
    create(
      by: Principal,
      order: CreatePortalToken
    ): Effect.Effect<Omit<PortalToken, "revoked_at"> & { readonly token: string }, NotFound | InsufficientScope>
    /** A page of the tenant's tokens, newest first, those whose time is over too, and how many there are. */
    list(
      tenant_id: TenantId,
      filter: PortalFilter,
      page: { readonly page: number; readonly limit: number }
    ): Effect.Effect<{ readonly data: ReadonlyArray<PortalToken>; readonly total: number }>
    /** Takes effect on every process at once. A token that is revoked already is not found. */
    revoke(tenant_id: TenantId, id: PortalTokenId): Effect.Effect<void, NotFound>
  }
>()("turnpike/services/PortalTokens") {
  static readonly layer = Layer.effect(
    PortalTokens,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const accounts = yield* Accounts
      const credentials = yield* Credentials

      const create = Effect.fn("PortalTokens.create")(function* (by: Principal, order: CreatePortalToken) {
        const { customer_reference, expires_in } = order
        const required_scope = scopeBeyond(by.scopes, neededFor(order.scopes))
        if (required_scope !== undefined) return yield* new InsufficientScope({ required_scope })
        yield* accounts.get(by.tenant_id, customer_reference)
        const scopes = [...new Set(order.scopes)]
        const expires_at = DateTime.toDate(DateTime.add(yield* DateTime.now, { seconds: expires_in }))
        const { created_at, id, key } = yield* credentials.issue({
          tenant_id: by.tenant_id,
          kind: "portal_token",
          name: "Portal token",
          scopes,
          account_id: customer_reference,
          expires_at
        })
        return { id: PortalTokenId.make(id), token: key, customer_reference, scopes, expires_at, created_at }
      })

      const selected = (tenant_id: string, { customer_reference, include_revoked }: PortalFilter) =>
        sql.and([
          sql`tenant_id = ${tenant_id}`,
          sql`kind = 'portal_token'`,
          ...(customer_reference === undefined ? [] : [sql`account_id = ${customer_reference}`]),
          ...(include_revoked ? [] : [sql`revoked_at IS NULL`])
        ])
      const Rows = Schema.Array(Schema.toType(PortalToken))
      const Total = Schema.Tuple([Schema.Struct({ total: Schema.Int })])
      const list = Effect.fn("PortalTokens.list")(function* (
        tenant_id: TenantId,
        filter: PortalFilter,
        { limit, page }: { readonly page: number; readonly limit: number }
      ) {
        const rows = yield* sql`SELECT id, account_id AS customer_reference, scopes, expires_at, created_at, revoked_at
          FROM credentials WHERE ${selected(tenant_id, filter)}
          ORDER BY id DESC LIMIT ${limit} OFFSET ${(page - 1) * limit}`
        const counted = yield* sql`SELECT count(*)::int AS total FROM credentials WHERE ${selected(tenant_id, filter)}`
        const [{ total }] = yield* Schema.decodeUnknownEffect(Total)(counted)
        return { data: yield* Schema.decodeUnknownEffect(Rows)(rows), total }
      }, Effect.orDie)

      const revoke = Effect.fn("PortalTokens.revoke")(function* (tenant_id: TenantId, id: PortalTokenId) {
        const revoked = yield* credentials.revokeAll({ tenant_id, id, kind: "portal_token" })
        if (revoked === 0) return yield* new NotFound({ resource: "portal_token", id: toTypeId("ptk", id) })
      })

      return PortalTokens.of({ create, list, revoke })
    })
  )
}
