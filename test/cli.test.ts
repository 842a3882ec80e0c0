import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { toTypeId } from "#domain/Ids.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Credentials } from "#services/Credentials.ts"
import { Database } from "#services/Database.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { addressOf, type Environment, office, run, Test } from "./cliOffice.ts"

/** A directory of one's own until the test ends. */
const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "turnpike-cli-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** What a person sees who types this in that directory, in a shell that knows nothing else of Turnpike. */
const typed = (cwd: string, env: Environment, ...words: ReadonlyArray<string>) =>
  Effect.callback<{ readonly code: number; readonly out: string; readonly error: string }>((resume) => {
    const { PATH = "" } = process.env
    const cli = join(import.meta.dirname, "../src/cli.ts")
    execFile(process.execPath, [cli, ...words], { cwd, env: { PATH, ...env } }, (failure, out, error) =>
      resume(Effect.succeed({ code: failure === null ? 0 : Number(failure.code), out, error }))
    )
  })

/** The same, with answers sent to where nothing can be written. */
const lost = (env: Environment, words: string, where: string) =>
  Effect.callback<{ readonly out: string; readonly error: string }>((resume) => {
    const { PATH = "" } = process.env
    const cli = join(import.meta.dirname, "../src/cli.ts")
    const line = `{ "${process.execPath}" "${cli}" ${words}; echo "exit $?" >&2; } ${where}`
    execFile("/bin/sh", ["-c", line], { env: { PATH, ...env } }, (_, out, error) =>
      resume(Effect.succeed({ out, error }))
    )
  })

/** Nobody listens there. */
const nowhere = { DATABASE_URL: "postgres://turnpike:s3cret@127.0.0.1:1/books" }

describe("the command line", () => {
  it.live("helps without a database", () =>
    Effect.gen(function* () {
      for (const words of [["--help"], ["doctor", "--help"], ["credits", "grant", "--help"], ["tenant"]]) {
        const helped = yield* run(nowhere, ...words)
        assert.include(helped.out, "USAGE", words.join(" "))
        assert.strictEqual(helped.error, "")
      }
    })
  )

  it.live("refuses what is written wrongly before it looks for a database", () =>
    Effect.gen(function* () {
      const tenant = ["--tenant", newUuid()]
      for (const words of [
        ["examine"],
        ["credits", "grant", "--tenant", "acme", "5"],
        ["credits", "grant", ...tenant],
        ["key", "create", ...tenant, "A key"],
        ["user", "create", ...tenant, "ada@acme.example", "--role", "king"],
        ...[" ", "x".repeat(256)].map((wrong) => ["account", "create", ...tenant, wrong]),
        ...["1.5", "0", "007", "1e3", "many", "9".repeat(13)].map((wrong) => ["credits", "grant", ...tenant, wrong])
      ]) {
        const refused = yield* run(nowhere, ...words)
        assert.isTrue(refused.failed, words.join(" "))
        assert.notMatch(refused.error, /^database {2}/m, words.join(" "))
        assert.strictEqual(refused.out, "", "help that nobody asked for is no answer")
        assert.include(refused.error, "USAGE")
      }
      const { error } = yield* run(nowhere, "credits", "grant", ...tenant, "9".repeat(13))
      assert.include(error, "a whole number from 1 to 999999999999")
      const garbled = yield* run(nowhere, "settlement", "complete", newUuid(), "--reference", "")
      assert.include(garbled.error, "1 to 200 printable ASCII characters")
    })
  )

  it.live("says which database it looks at before it looks, and never a password", () =>
    Effect.gen(function* () {
      const { error, failed, out, why } = yield* run(nowhere, "doctor")
      assert.deepStrictEqual([failed, error], [true, "database  127.0.0.1:1/books\n"])
      assert.notInclude(out + error + why, "s3cret")
      const garbled = yield* run({ DATABASE_URL: "postgres://turnpike:s3/cret@db.example/books" }, "doctor")
      assert.deepStrictEqual([garbled.failed, garbled.error], [true, ""])
      assert.notInclude(garbled.why, "cret@")
    })
  )

  it.live("looks at the embedded database of a server that runs, by the name of its directory", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      const postgres = join(dataDir, "postgres")
      const env = { TURNPIKE_DATA_DIR: dataDir }
      const settings = ConfigProvider.layer(ConfigProvider.fromUnknown(env))
      yield* Layer.build(Layer.fresh(Postgres.layer).pipe(Layer.provide(settings)))
      const { error, failed, out, why } = yield* run(env, "doctor")
      assert.isFalse(failed, why)
      assert.match(error, /^database {2}\S+\/postgres \(embedded\)\nThis database has no tenant/)
      assert.include(error, `  ${postgres} (`)
      assert.include(out, "The books are in order.\n")
    })
  )

  it.live("leaves the first tenant to the server, which gives it an owner and keys", () =>
    Effect.gen(function* () {
      const database = yield* Layer.build(Layer.fresh(Postgres.layerTest))
      const env = { DATABASE_URL: addressOf(Context.get(database, Database)) }
      const { out, why } = yield* run(env, "tenant", "create", "Acme")
      assert.deepStrictEqual(
        [out, why],
        ["", "the database has no tenant yet: start the server first, it makes the first"]
      )
      const tenants = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT id FROM tenants`)
      assert.deepStrictEqual(yield* Effect.provideContext(tenants, database), [])
    })
  )

  it.live("of a process makes no database, says what to set, and fails as a command", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const [refused, helped, wrong] = yield* Effect.all(
        [
          typed(cwd, {}, "doctor"),
          typed(cwd, {}, "--help"),
          typed(cwd, {}, "credits", "grant", "--tenant", newUuid(), "1.5")
        ],
        { concurrency: 3 }
      )
      assert.deepStrictEqual([refused.code, refused.out], [1, ""])
      assert.include(refused.error, join(cwd, ".turnpike/postgres"))
      assert.match(refused.error, /Set DATABASE_URL or TURNPIKE_DATA_DIR .* or start the server first/)
      assert.deepStrictEqual([helped.code, helped.error, wrong.code, wrong.out], [0, "", 1, ""])
      assert.deepStrictEqual(readdirSync(cwd), [])
    })
  )
})

layer(Test, { excludeTestServices: true, timeout: "60 seconds" })("an operator", (it) => {
  it.effect("proves the books of the database that is named", () =>
    Effect.gen(function* () {
      const { code, error, out } = yield* typed(tmpdir(), (yield* office).env, "doctor")
      assert.strictEqual(code, 0, error)
      assert.match(error, /^database {2}\S+\/turnpike_test_\w+\n$/)
      assert.match(out, /The books are in order\.\n$/)
    })
  )

  it.effect("of the other environment is refused as its server would be, and writes nothing", () =>
    Effect.gen(function* () {
      const { env } = yield* office
      const sql = yield* SqlClient.SqlClient
      const facts = sql`SELECT (SELECT count(*) FROM tenants) AS tenants, (SELECT count(*) FROM secrets) AS secrets`
      const before = yield* facts
      for (const words of [["tenant", "create", "Acme"], ["doctor"]]) {
        const refused = yield* typed(tmpdir(), { ...env, TURNPIKE_ENVIRONMENT: "live" }, ...words)
        assert.deepStrictEqual([refused.code, refused.out], [1, ""])
        assert.include(
          refused.error,
          "\nThe database belongs to the sandbox environment, and this process serves live.\n"
        )
      }
      assert.deepStrictEqual(yield* facts, before)
    })
  )

  it.effect("gives a tenant whole credits", () =>
    Effect.gen(function* () {
      const { tenant_id, type } = yield* office
      const { account } = yield* Ledger
      const before = (yield* account(tenant_id)).posted
      const { failed, out } = yield* type("credits", "grant", "25", "--tenant", toTypeId("ten", tenant_id))
      assert.deepStrictEqual([failed, out], [false, "granted 25 scanner credits\n"])
      assert.strictEqual((yield* account(tenant_id)).posted - before, 25_000_000n)
    })
  )

  it.effect("is told in a sentence that the ledger holds no more credits", () =>
    Effect.gen(function* () {
      const { tenant_id, type } = yield* office
      const answers = yield* Effect.replicateEffect(type("credits", "grant", "999999999999", "--tenant", tenant_id), 10)
      assert.match(String(answers.at(-1)?.why), /^the ledger holds no more than \d{12} more scanner credits$/)
    })
  )

  it.effect("is told in a sentence that there is no such tenant, whatever it was named for", () =>
    Effect.gen(function* () {
      const { type } = yield* office
      const stranger = newUuid()
      const tenant = ["--tenant", stranger]
      for (const words of [
        ["account", "create", ...tenant, "Acme"],
        ["key", "create", ...tenant, "A key", "--scope", "wallets:read"],
        ["credits", "grant", ...tenant, "5"],
        ["user", "create", ...tenant, "ada@acme.example", "--role", "viewer"],
        ["user", "list", ...tenant]
      ]) {
        const { out, why } = yield* type(...words)
        assert.deepStrictEqual([out, why], ["", `there is no tenant ${toTypeId("ten", stranger)}`], words.join(" "))
      }
    })
  )

  it.effect("makes a key that a script can keep: nothing else is on standard output", () =>
    Effect.gen(function* () {
      const { tenant_id, type } = yield* office
      const { out } = yield* type("key", "create", "A key", "--tenant", tenant_id, "--scope", "wallets:read")
      const principal = yield* (yield* Credentials).authenticate(out.trim())
      assert.deepInclude(principal, { tenant_id, scopes: ["wallets:read"] })
    })
  )

  it.effect("has failed when its answer could not be written: a key that nobody saw is lost", () =>
    Effect.gen(function* () {
      const { env, tenant_id } = yield* office
      const words = `key create "A key" --tenant ${tenant_id} --scope wallets:read`
      for (const where of ["> /dev/full", "| exec 0<&-"]) {
        const { error } = yield* lost(env, words, where)
        assert.match(
          error,
          /The answer could not be written to standard output: .+\. What the command did is done\.\nexit 1\n$/,
          where
        )
      }
    })
  )

  it.effect("makes no key and no password where standard output is closed, or forgets what it is told", () =>
    Effect.gen(function* () {
      const { env, tenant_id } = yield* office
      const sql = yield* SqlClient.SqlClient
      const made = sql`SELECT (SELECT count(*)::int FROM credentials WHERE tenant_id = ${tenant_id}) AS keys,
        (SELECT count(*)::int FROM users WHERE tenant_id = ${tenant_id}) AS people`
      const before = yield* made
      const commands = [
        [`key create "A key" --tenant ${tenant_id} --scope wallets:read`, "key"],
        [`user create ada@example.com --tenant ${tenant_id} --role member`, "password"]
      ] as const
      for (const [words, what] of commands) {
        for (const where of [">&-", "> /dev/null"]) {
          const { error } = yield* lost(env, words, where)
          assert.include(error, `the ${what} is shown once: nobody would see it. Nothing was done.\nexit 1\n`, where)
        }
      }
      assert.deepStrictEqual(yield* made, before)
    })
  )
})
