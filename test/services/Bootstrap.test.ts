import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { systemAccount } from "#domain/LedgerAccount.ts"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Bootstrap } from "#services/Bootstrap.ts"
import { Credentials } from "#services/Credentials.ts"
import { Deployment } from "#services/Deployment.ts"
import { Ledger } from "#services/Ledger.ts"
import { hashPassword, verifyPassword } from "#services/Passwords.ts"
import { Tenants } from "#services/Tenants.ts"

const deployment = (environment: "sandbox" | "live") =>
  Layer.succeed(Deployment, { environment, publicUrl: "http://localhost:4020", scannerUrl: "http://localhost:4020" })

const process = Bootstrap.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Credentials.layer, Tenants.layer)),
  Layer.provideMerge(Layer.mergeAll(Ledger.layer, BusMemory.layer))
)
const Test = process.pipe(Layer.provideMerge(Layer.mergeAll(Postgres.layerTest, deployment("sandbox"))))

const count = (table: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT count(*)::int AS n FROM ${sql(table)}`).pipe(
    Effect.map(([row]) => row?.n)
  )

const first = Effect.flatMap(Bootstrap, ({ ensure }) => ensure)

describe("Bootstrap", () => {
  layer(Test, { timeout: "60 seconds" })((it) => {
    it.effect("eight starters on two processes make one tenant, and one of them is told the keys", () =>
      Effect.gen(function* () {
        const other = yield* Layer.build(Layer.fresh(process))
        const here = Array.from({ length: 4 }, () => first)
        const all = yield* Effect.all([...here, ...here.map((starter) => Effect.provideContext(starter, other))], {
          concurrency: 8
        })
        assert.strictEqual(new Set(all.map((one) => one.tenant_id)).size, 1)
        assert.strictEqual(all.filter((one) => one.issued !== undefined).length, 1)
        assert.deepStrictEqual(
          [yield* count("tenants"), yield* count("accounts"), yield* count("users"), yield* count("credentials")],
          [1, 1, 1, 2]
        )
        const { account } = yield* Ledger
        const { tenant_id } = yield* first
        assert.strictEqual((yield* account(tenant_id)).posted, 1_000_000_000n)
        assert.strictEqual((yield* account(systemAccount("issuance", "CREDIT"))).posted, -1_000_000_000n)
      })
    )

    it.effect("further keys open the same tenant, and the first ones stay valid", () =>
      Effect.gen(function* () {
        const { issueKeys } = yield* Bootstrap
        const { authenticate } = yield* Credentials
        const { tenant_id } = yield* first
        const [one, two] = [yield* issueKeys(tenant_id), yield* issueKeys(tenant_id)]
        for (const key of [one.api_key, two.api_key]) {
          assert.deepInclude(yield* authenticate(key), { tenant_id, actor_type: "api_key" })
        }
        const scanner = yield* authenticate(two.scanner_key)
        assert.deepInclude(scanner, { tenant_id, actor_type: "scanner_key" })
        assert.deepStrictEqual([...scanner.scopes].sort(), ["batch", "read", "scan", "tests"])
      })
    )

    it.effect("a process of the other environment refuses the database", () =>
      Effect.gen(function* () {
        yield* first
        const live = yield* Layer.build(Layer.fresh(process).pipe(Layer.provide(deployment("live"))))
        const refused = yield* Effect.flip(Effect.provideContext(first, live))
        assert.deepInclude(refused, { _tag: "OtherEnvironment", database: "sandbox", process: "live" })
      })
    )
  })

  layer(Test, { timeout: "60 seconds" })((it) => {
    it.effect("the first keys and the owner's password are the ones that work", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { authenticate } = yield* Credentials
        const { account_id, issued, owner_email, tenant_id } = yield* first
        assert.isDefined(issued)
        const principal = yield* authenticate(issued?.api_key ?? "")
        assert.deepInclude(principal, { tenant_id, account_id, environment: "sandbox", scopes: ["*:*"] })
        assert.strictEqual((yield* authenticate(issued?.scanner_key ?? "")).actor_type, "scanner_key")
        const [user] = yield* sql`SELECT email, role, password_hash FROM users`
        assert.deepInclude(user, { email: owner_email, role: "owner" })
        const hash = String(user?.password_hash)
        assert.match(hash, /^\$scrypt\$ln=15,r=8,p=3\$/)
        assert.isTrue(yield* verifyPassword(issued?.owner_password ?? "", hash))
        assert.isFalse(yield* verifyPassword(`${issued?.owner_password}x`, hash))
      })
    )

    it.effect("tenants made later get no credits of themselves", () =>
      Effect.gen(function* () {
        const later = yield* (yield* Tenants).create({ name: "Later" })
        yield* first
        assert.strictEqual((yield* (yield* Ledger).account(later.id)).posted, 0n)
      })
    )
  })

  layer(Test, { timeout: "60 seconds" })((it) => {
    it.effect("a tenant without credits is given them, as if its first starter had lived", () =>
      Effect.gen(function* () {
        const { id } = yield* (yield* Tenants).create({ name: "Half made" })
        const { issued, owner_email, tenant_id } = yield* first
        assert.deepStrictEqual([tenant_id, issued, owner_email], [id, undefined, null])
        assert.strictEqual((yield* (yield* Ledger).account(id)).posted, 1_000_000_000n)
      })
    )

    it.effect("two hashes of one password differ, and a text that is no hash matches nothing", () =>
      Effect.gen(function* () {
        const [one, two] = [yield* hashPassword("secret"), yield* hashPassword("secret")]
        assert.notStrictEqual(one, two)
        for (const text of ["", "secret", "$scrypt$ln=15,r=8,p=3$$", one.slice(0, -4)]) {
          assert.isFalse(yield* verifyPassword("secret", text), text)
        }
      })
    )
  })
})
