import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { AccountId, TenantId, UserId } from "#domain/Ids.ts"
import { systemAccount } from "#domain/LedgerAccount.ts"
import { unit } from "#domain/Money.ts"
import { Environment } from "#domain/Principal.ts"
import { Credentials } from "./Credentials.ts"
import { inTransaction } from "./Database/InTransaction.ts"
import { Deployment } from "./Deployment.ts"
import { Ledger } from "./Ledger.ts"
import { newId } from "./NewId.ts"
import { hashPassword } from "./Passwords.ts"
import { randomText } from "./RandomText.ts"
import { Tenants } from "./Tenants.ts"

/** What the first tenant of a new database is given. Credits are whole scans. */
const firstTenant = { name: "Turnpike", email: "owner@turnpike.local", credits: 1_000n }

/** The database was made for the other environment. */
export class OtherEnvironment extends Schema.TaggedError<OtherEnvironment>()("OtherEnvironment", {
  database: Environment,
  process: Environment
}) {
  override get message() {
    return `The database belongs to the ${this.database} environment, and this process serves ${this.process}.`
  }
}

const refuseOther = (database: Environment, process: Environment) =>
  database === process ? Effect.void : Effect.fail(new OtherEnvironment({ database, process }))

/** Refuses a database of the other environment. One without a tenant belongs to neither yet. */
export const checkEnvironment = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { environment } = yield* Deployment
  const rows = yield* sql`SELECT environment FROM tenants ORDER BY id LIMIT 1`
  const [oldest] = yield* Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ environment: Environment })))(rows)
  if (oldest !== undefined) yield* refuseOther(oldest.environment, environment)
}).pipe(Effect.catchTags({ SqlError: Effect.die, SchemaError: Effect.die }))

/** Plaintext keys, shown once. */
export interface FirstKeys {
  readonly api_key: string
  readonly scanner_key: string
}

/** The first tenant. `issued` only for the one starter that made it. */
export interface Bootstrapped {
  readonly tenant_id: TenantId
  readonly account_id: AccountId
  readonly owner_email: string | null
  readonly issued: (FirstKeys & { readonly owner_password: string }) | undefined
}

/** What makes an empty database usable. */
export class Bootstrap extends Context.Service<
  Bootstrap,
  {
    /** Makes the first tenant, its owner, keys and scanner credits, once however many start at a time. */
    readonly ensure: Effect.Effect<Bootstrapped, OtherEnvironment>
    /**
     * The same for a starter that has to keep what it is told. One keeps at a time, and nothing is made that was not kept: neither
     * a tenant nor keys that `keep` asks for.
     */
    ensureKept<A, E>(keep: (found: Bootstrapped) => Effect.Effect<A, E>): Effect.Effect<A, OtherEnvironment | E>
    /** Another pair of keys with every right, for an operator who lost the first. */
    issueKeys(tenant_id: TenantId): Effect.Effect<FirstKeys>
  }
>()("turnpike/services/Bootstrap") {
  static readonly layer = Layer.effect(
    Bootstrap,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { environment } = yield* Deployment
      const credentials = yield* Credentials
      const ledger = yield* Ledger
      const tenants = yield* Tenants

      const issueKeys = Effect.fn("Bootstrap.issueKeys")(
        function* (tenant_id: TenantId) {
          const api = yield* credentials.issue({ tenant_id, kind: "api_key", name: "First key", scopes: ["*:*"] })
          const scanner = yield* credentials.issue({
            tenant_id,
            kind: "scanner_key",
            name: "First scanner key",
            scopes: ["scan", "batch", "read", "tests"]
          })
          return { api_key: api.key, scanner_key: scanner.key }
        },
        sql.withTransaction,
        Effect.orDie
      )

      const oldest = SqlSchema.findOneOption({
        Request: Schema.Void,
        Result: Oldest,
        execute: () =>
          sql`SELECT t.id, t.environment, a.id AS account_id, (
              SELECT u.email FROM users u WHERE u.tenant_id = t.id AND u.role = 'owner' ORDER BY u.id LIMIT 1
            ) AS owner_email
            FROM tenants t JOIN accounts a ON a.tenant_id = t.id AND a.is_default ORDER BY t.id LIMIT 1`
      })
      const make = Effect.gen(function* () {
        const tenant = yield* tenants.create({ name: firstTenant.name })
        const owner_password = randomText(24)
        yield* sql`INSERT INTO users (id, tenant_id, email, password_hash, role, created_at)
          VALUES (${yield* newId(UserId)}, ${tenant.id}, ${firstTenant.email}, ${yield* hashPassword(owner_password)},
            'owner', ${yield* DateTime.nowAsDate})`
        const keys = yield* issueKeys(tenant.id)
        return {
          tenant_id: tenant.id,
          account_id: tenant.account_id,
          owner_email: firstTenant.email,
          issued: { ...keys, owner_password }
        }
      })
      const findOrMake = Effect.gen(function* () {
        // Starters queue here, so exactly one finds the database empty.
        yield* sql`SELECT pg_advisory_xact_lock(hashtext('turnpike.bootstrap'))`
        const found = yield* oldest(undefined)
        if (found._tag === "None") return yield* make
        const { id, account_id, owner_email } = found.value
        yield* refuseOther(found.value.environment, environment)
        return { tenant_id: id, account_id, owner_email, issued: undefined }
      }).pipe(Effect.catchTags({ SqlError: Effect.die, SchemaError: Effect.die }))
      // Posted under the tenant's own id: a starter that died before this is made good by the next one, and nobody twice.
      const grantCredits = (tenant_id: TenantId) =>
        ledger
          .post({
            id: tenant_id,
            steps: [
              {
                kind: "transfer",
                debit: systemAccount("issuance", "CREDIT"),
                credit: tenant_id,
                currency: "CREDIT",
                amount: firstTenant.credits * unit,
                code: "grant"
              }
            ]
          })
          .pipe(Effect.orDie)
      const ensureKept = Effect.fn("Bootstrap.ensure")(function* <A, E>(
        keep: (found: Bootstrapped) => Effect.Effect<A, E>
      ) {
        // Kept before the commit: who dies in between has kept what never was, and the next starter makes it anew.
        const { found, kept } = yield* inTransaction(sql)(
          Effect.flatMap(findOrMake, (found) => Effect.map(keep(found), (kept) => ({ found, kept })))
        )
        yield* grantCredits(found.tenant_id)
        return kept
      })
      const ensure = ensureKept(Effect.succeed)

      return Bootstrap.of({ ensure, ensureKept, issueKeys })
    })
  )
}

const Oldest = Schema.toType(
  Schema.Struct({
    id: TenantId,
    environment: Environment,
    account_id: AccountId,
    owner_email: Schema.NullOr(Schema.String)
  })
)
