import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { AccountId, TenantId } from "#domain/Ids.ts"
import { NotFound, ServiceUnavailable } from "#domain/Refusal.ts"
import { type CreateTenant, Tenant } from "#domain/Tenant.ts"
import { Deployment } from "./Deployment.ts"
import { Ledger } from "./Ledger.ts"
import { newId } from "./NewId.ts"

const Row = Schema.toType(Tenant)

/** Those who share nothing: everything else belongs to exactly one tenant. */
export class Tenants extends Context.Service<
  Tenants,
  {
    /**
     * Makes a tenant, its own account and its purse of scanner credits; joins the caller's transaction. The first one made stays the
     * first: while the database's time is set back to before it was made, none is made.
     */
    create(tenant: CreateTenant): Effect.Effect<Tenant>
    get(id: TenantId): Effect.Effect<Tenant, NotFound>
    /** A page of all tenants, oldest first. */
    list(page: { readonly page: number; readonly limit: number }): Effect.Effect<ReadonlyArray<Tenant>>
    readonly count: Effect.Effect<number>
  }
>()("turnpike/services/Tenants") {
  static readonly layer = Layer.effect(
    Tenants,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* Ledger
      const { environment } = yield* Deployment

      const create = Effect.fn("Tenants.create")(
        function* ({ name }: CreateTenant) {
          const id = yield* newId(TenantId)
          const account_id = yield* newId(AccountId)
          const created_at = yield* DateTime.nowAsDate
          // The oldest is the operator's, by its id: no other tenant may come to stand before it.
          const made = yield* sql`INSERT INTO tenants (id, name, environment, created_at)
            SELECT ${id}::uuid, ${name}, ${environment}, ${created_at}::timestamptz
            WHERE ${id}::uuid > ALL (SELECT t.id FROM (SELECT id FROM tenants ORDER BY id LIMIT 1) t) RETURNING id`
          if (made.length === 0) {
            return yield* Effect.die(ServiceUnavailable.because("the time is before that of the first tenant", 60))
          }
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
        Result: Row,
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
        Result: Row,
        execute: ({ page, limit }) =>
          sql`SELECT t.id, t.name, a.id AS account_id, t.created_at
            FROM tenants t JOIN accounts a ON a.tenant_id = t.id AND a.is_default
            ORDER BY t.id LIMIT ${limit} OFFSET ${(page - 1) * limit}`
      })
      const list = Effect.fn("Tenants.list")(listPage, Effect.orDie)

      const counted = SqlSchema.findOne({
        Request: Schema.Void,
        Result: Schema.Struct({ total: Schema.Int }),
        execute: () => sql`SELECT count(*)::int AS total FROM tenants`
      })
      const count = Effect.map(Effect.orDie(counted(undefined)), ({ total }) => total)

      return Tenants.of({ create, get, list, count })
    })
  )
}
