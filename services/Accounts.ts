import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Account, accountDefaults, type CreateAccount } from "#domain/Account.ts"
import { AccountId, type TenantId, toTypeId } from "#domain/Ids.ts"
import { Metadata } from "#domain/Metadata.ts"
import { NotFound } from "#domain/Refusal.ts"
import { newId } from "./NewId.ts"

const Row = Schema.toType(Account)
const metadataText = Schema.encodeEffect(Schema.fromJsonString(Metadata))

/** The owners within a tenant. Another tenant's account does not exist. */
export class Accounts extends Context.Service<
  Accounts,
  {
    /** Joins the caller's transaction. */
    create(tenant_id: TenantId, account: CreateAccount): Effect.Effect<Account>
    get(tenant_id: TenantId, id: AccountId): Effect.Effect<Account, NotFound>
    /** A page of the tenant's accounts, newest first, and how many there are. */
    list(
      tenant_id: TenantId,
      page: { readonly page: number; readonly limit: number }
    ): Effect.Effect<{ readonly data: ReadonlyArray<Account>; readonly total: number }>
  }
>()("turnpike/services/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const insert = SqlSchema.findOne({
        Request: Schema.Struct({
          id: Schema.String,
          tenant_id: Schema.String,
          name: Schema.String,
          type: Schema.String,
          email: Schema.NullOr(Schema.String),
          country: Schema.NullOr(Schema.String),
          metadata: Schema.String,
          at: Schema.Date
        }),
        Result: Row,
        execute: ({ id, tenant_id, name, type, email, country, metadata, at }) =>
          sql`INSERT INTO accounts (id, tenant_id, name, type, email, country, metadata, created_at, updated_at)
            VALUES (${id}, ${tenant_id}, ${name}, ${type}, ${email}, ${country}, ${metadata}::jsonb, ${at}, ${at})
            RETURNING id, tenant_id, name, type, email, country, metadata, created_at, updated_at,
              (SELECT t.environment FROM tenants t WHERE t.id = accounts.tenant_id) AS environment`
      })
      const create = Effect.fn("Accounts.create")(function* (tenant_id: TenantId, account: CreateAccount) {
        const { country, email, metadata, name, type } = { ...accountDefaults, ...account }
        return yield* insert({
          id: yield* newId(AccountId),
          tenant_id,
          name,
          type,
          email,
          country,
          metadata: yield* metadataText(metadata),
          at: yield* DateTime.nowAsDate
        })
      }, Effect.orDie)

      const byId = SqlSchema.findOne({
        Request: Schema.Struct({ tenant_id: Schema.String, id: Schema.String }),
        Result: Row,
        execute: ({ tenant_id, id }) =>
          sql`SELECT a.id, a.tenant_id, t.environment, a.name, a.type, a.email, a.country, a.metadata,
              a.created_at, a.updated_at
            FROM accounts a JOIN tenants t ON t.id = a.tenant_id
            WHERE a.tenant_id = ${tenant_id} AND a.id = ${id}`
      })
      const get = Effect.fn("Accounts.get")((tenant_id: TenantId, id: AccountId) =>
        byId({ tenant_id, id }).pipe(
          Effect.catchTags({
            NoSuchElementError: () => Effect.fail(new NotFound({ resource: "account", id: toTypeId("acc", id) })),
            SqlError: Effect.die,
            SchemaError: Effect.die
          })
        )
      )

      const listPage = SqlSchema.findAll({
        Request: Schema.Struct({ tenant_id: Schema.String, limit: Schema.Int, offset: Schema.Int }),
        Result: Row,
        execute: ({ tenant_id, limit, offset }) =>
          sql`SELECT a.id, a.tenant_id, t.environment, a.name, a.type, a.email, a.country, a.metadata,
              a.created_at, a.updated_at
            FROM accounts a JOIN tenants t ON t.id = a.tenant_id
            WHERE a.tenant_id = ${tenant_id} ORDER BY a.id DESC LIMIT ${limit} OFFSET ${offset}`
      })
      const count = SqlSchema.findOne({
        Request: Schema.String,
        Result: Schema.Struct({ total: Schema.Int }),
        execute: (tenant_id) => sql`SELECT count(*)::int AS total FROM accounts WHERE tenant_id = ${tenant_id}`
      })
      const list = Effect.fn("Accounts.list")(function* (
        tenant_id: TenantId,
        { page, limit }: { readonly page: number; readonly limit: number }
      ) {
        const data = yield* listPage({ tenant_id, limit, offset: (page - 1) * limit })
        const { total } = yield* count(tenant_id)
        return { data, total }
      }, Effect.orDie)

      return Accounts.of({ create, get, list })
    })
  )
}
