import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { AccountId, TenantId } from "#domain/Ids.ts"
import { NotFound } from "#domain/Refusal.ts"
import { Deployment } from "./Deployment.ts"
import { Ledger } from "./Ledger.ts"
import { newId } from "./NewId.ts"

/** A tenant and its own account, which operations mean when they name no account. */
export interface Tenant {
  readonly id: TenantId
  readonly name: string
  readonly account_id: AccountId
  readonly created_at: Date
}
const Tenant = Schema.toType(
  Schema.Struct({ id: TenantId, name: Schema.String, account_id: AccountId, created_at: Schema.Date })
)

/** Those who share nothing: everything else belongs to exactly one tenant. */
export class Tenants extends Context.Service<
  Tenants,
  {
    /** Makes a tenant, its own account and its purse of scanner credits; joins the caller's transaction. */
    create(tenant: { readonly name: string }): Effect.Effect<Tenant>
    get(id: TenantId): Effect.Effect<Tenant, NotFound>
    /** A page of all tenants, oldest first. */
    list(page: { readonly page: number; readonly limit: number }): Effect.Effect<ReadonlyArray<Tenant>>
  }
>()("turnpike/services/Tenants") {
  static readonly layer = Layer.effect(
    Tenants,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* Ledger
      const { environment } = yield* Deployment

      const create = Effect.fn("Tenants.create")(
        function* ({ name }: { readonly name: string }) {
          const id = yield* newId(TenantId)
          const account_id = yield* newId(AccountId)
          const created_at = yield* DateTime.nowAsDate
          yield* sql`INSERT INTO tenants (id, name, environment, created_at)
            VALUES (${id}, ${name}, ${environment}, ${created_at})`
          yield* sql`INSERT INTO accounts (id, tenant_id, name, type, metadata, is_default, created_at, updated_at)
            VALUES (${account_id}, ${id}, ${name}, 'business', '{}', true, ${created_at}, ${created_at})`
          // Credits are found by the tenant alone: its purse has its id.
          yield* ledger.open({ id, purpose: "scanner_credits", currency: "CREDIT" })
          return { id, name, account_id, created_at }
        },
        sql.withTransaction,
        Effect.orDie
      )

      const byId = SqlSchema.findOne({
        Request: Schema.String,
        Result: Tenant,
        execute: (id) =>
          sql`SELECT t.id, t.name, a.id AS account_id, t.created_at
            FROM tenants t JOIN accounts a ON a.tenant_id = t.id AND a.is_default WHERE t.id = ${id}`
      })
      const get = Effect.fn("Tenants.get")((id: TenantId) =>
        byId(id).pipe(
          Effect.catchTags({
            NoSuchElementError: () => Effect.fail(new NotFound({ resource: "tenant", id })),
            SqlError: Effect.die,
            SchemaError: Effect.die
          })
        )
      )

      const listPage = SqlSchema.findAll({
        Request: Schema.Struct({ page: Schema.Int, limit: Schema.Int }),
        Result: Tenant,
        execute: ({ page, limit }) =>
          sql`SELECT t.id, t.name, a.id AS account_id, t.created_at
            FROM tenants t JOIN accounts a ON a.tenant_id = t.id AND a.is_default
            ORDER BY t.id LIMIT ${limit} OFFSET ${(page - 1) * limit}`
      })
      const list = Effect.fn("Tenants.list")(listPage, Effect.orDie)

      return Tenants.of({ create, get, list })
    })
  )
}
