import { assert, layer } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as BusMemory from "#layers/BusMemory.ts"
import * as CredentialsFile from "#layers/CredentialsFile.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Bootstrap } from "#services/Bootstrap.ts"
import { Credentials } from "#services/Credentials.ts"
import { Deployment } from "#services/Deployment.ts"
import { KeyId } from "#domain/Ids.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { Tenants } from "#services/Tenants.ts"

const at = (url: string) => Layer.succeed(Deployment, { environment: "sandbox", publicUrl: url, scannerUrl: url })
const Test = Bootstrap.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Credentials.layer, Tenants.layer)),
  Layer.provideMerge(Layer.mergeAll(Ledger.layer, BusMemory.layer)),
  Layer.provideMerge(Layer.mergeAll(Postgres.layerTest, at("http://localhost:4020")))
)

/** A data directory of one's own until the test ends. */
const directory = Effect.acquireRelease(
  Effect.sync(() => join(mkdtempSync(join(tmpdir(), "turnpike-credentials-")), "data")),
  (path) => Effect.sync(() => rmSync(dirname(path), { recursive: true }))
)
const start = (path: string) =>
  Effect.provide(CredentialsFile.ensure, ConfigProvider.layer(ConfigProvider.fromUnknown({ TURNPIKE_DATA_DIR: path })))
const onDisk = (path: string) => JSON.parse(readFileSync(path, "utf8"))
/** A directory in which nobody makes a file, not even root. */
const unwritable = "/proc"
const refusedAt = Effect.fnUntraced(function* (data: string) {
  const refused = yield* Effect.flip(start(data))
  assert.notInstanceOf(refused, Config.ConfigError)
  assert.match(refused.message, /credentials\.json cannot be written/)
})
const count = (table: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT count(*)::int AS n FROM ${sql(table)}`).pipe(
    Effect.map(([row]) => row?.n)
  )

layer(Test, { timeout: "60 seconds" })("credentials.json", (it) => {
  it.effect("opens a new installation, is readable by its owner only, and survives the next start", () =>
    Effect.gen(function* () {
      const data = yield* directory
      const { contents, path } = yield* start(data)
      const file = onDisk(path)
      assert.deepStrictEqual(Object.keys(file), [
        "base_url",
        "scanner_url",
        "dashboard_url",
        "environment",
        "tenant_id",
        "account_id",
        "api_key",
        "scanner_key",
        "owner_email",
        "owner_password"
      ])
      assert.strictEqual(file.environment, "test")
      assert.match(file.tenant_id, /^ten_/)
      assert.match(file.account_id, /^acc_/)
      assert.match(file.api_key, /^pk_test_/)
      assert.match(file.scanner_key, /^psk_test_/)
      assert.match(file.owner_password, /^[0-9A-Za-z]{24}$/)
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
      assert.deepStrictEqual(readdirSync(data), ["credentials.json"], "no draft is left")
      const { authenticate } = yield* Credentials
      assert.strictEqual((yield* authenticate(contents.api_key)).tenant_id, contents.tenant_id)
      assert.strictEqual((yield* authenticate(contents.scanner_key)).actor_type, "scanner_key")
      yield* start(data)
      assert.deepStrictEqual(onDisk(path), file)

      // Another address changes the addresses and nothing else.
      yield* Effect.provide(start(data), at("https://pay.example"))
      assert.deepStrictEqual(onDisk(path), {
        ...file,
        base_url: "https://pay.example",
        scanner_url: "https://pay.example",
        dashboard_url: "https://pay.example/dashboard"
      })
    })
  )

  it.effect("is written again with new keys when it is lost or empty, and the old keys stay valid", () =>
    Effect.gen(function* () {
      const data = yield* directory
      const { authenticate } = yield* Credentials
      const first = yield* start(data)
      rmSync(first.path)
      const second = yield* start(data)
      assert.notStrictEqual(second.contents.api_key, first.contents.api_key)
      assert.strictEqual(second.contents.tenant_id, first.contents.tenant_id)
      assert.isNull(second.contents.owner_password)
      for (const broken of [
        "",
        "\n",
        JSON.stringify({ ...onDisk(first.path), api_key: `pk_test_${"0".repeat(32)}` })
      ]) {
        writeFileSync(first.path, broken)
        const again = yield* start(data)
        assert.strictEqual((yield* authenticate(again.contents.api_key)).tenant_id, first.contents.tenant_id)
      }
      assert.strictEqual((yield* authenticate(first.contents.api_key)).tenant_id, first.contents.tenant_id)
    })
  )

  it.effect("gets a new key when its own was revoked, and keeps what is known of the owner", () =>
    Effect.gen(function* () {
      const data = yield* directory
      const { authenticate, revoke } = yield* Credentials
      const { contents, path } = yield* start(data)
      writeFileSync(path, JSON.stringify({ ...onDisk(path), owner_password: "kept" }))
      const holder = yield* authenticate(contents.api_key)
      yield* revoke(holder.tenant_id, KeyId.to.make(holder.actor_id))
      const again = yield* start(data)
      assert.notStrictEqual(again.contents.api_key, contents.api_key)
      assert.strictEqual(again.contents.owner_password, "kept")
      yield* authenticate(again.contents.api_key)
    })
  )

  it.effect("shows no owner the password of another one", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const data = yield* directory
      const { contents, path } = yield* start(data)
      writeFileSync(path, JSON.stringify({ ...onDisk(path), owner_password: "kept" }))
      yield* sql`UPDATE users SET email = 'heir@acme.example' WHERE email = ${contents.owner_email}`
      const { owner_email, owner_password } = (yield* start(data)).contents
      yield* sql`UPDATE users SET email = ${contents.owner_email} WHERE email = 'heir@acme.example'`
      assert.deepStrictEqual([owner_email, owner_password], ["heir@acme.example", null])
    })
  )

  it.effect("of another installation is not taken for ours, and stays in case that one comes back", () =>
    Effect.gen(function* () {
      const data = yield* directory
      const { contents, path } = yield* start(data)
      const own = { ...onDisk(path), owner_password: "ours" }
      writeFileSync(path, JSON.stringify(own))
      const stranger = { ...own, tenant_id: "ten_01h455vb4pex5vsknk084sn02q", owner_password: "theirs" }
      const asideOf = ({ tenant_id }: { readonly tenant_id: string }) => join(data, `credentials.${tenant_id}.json`)
      // As it would be after the other database was served from here.
      renameSync(path, asideOf(own))
      writeFileSync(path, JSON.stringify(stranger))
      const before = yield* count("credentials")
      yield* start(data)
      assert.deepStrictEqual(onDisk(path), own)
      assert.deepStrictEqual(onDisk(asideOf(stranger)), stranger)
      assert.sameMembers(readdirSync(data), ["credentials.json", `credentials.${stranger.tenant_id}.json`])
      assert.strictEqual(yield* count("credentials"), before, "the keys that it had are used again")

      rmSync(path)
      writeFileSync(path, JSON.stringify(stranger))
      const again = yield* start(data)
      assert.strictEqual(again.contents.tenant_id, contents.tenant_id)
      assert.isNull(again.contents.owner_password)
    })
  )

  it.effect("that is damaged ends the start with a sentence, stays as it is, and costs no keys", () =>
    Effect.gen(function* () {
      const data = yield* directory
      const { path } = yield* start(data)
      const text = readFileSync(path, "utf8")
      const before = yield* count("credentials")
      for (const damaged of [text.slice(0, 100), "{", "[]", text.replace("pk_test_", 'pk"test_')]) {
        writeFileSync(path, damaged)
        const refused = yield* Effect.flip(start(data))
        assert.match(refused.message, /credentials\.json is damaged.*password/)
        assert.strictEqual(readFileSync(path, "utf8"), damaged)
      }
      assert.strictEqual(yield* count("credentials"), before)
    })
  )

  it.effect("leaves no draft of who was killed while writing it, but that of who may be at it", () =>
    Effect.gen(function* () {
      const { path } = yield* start(yield* directory)
      const [left, young] = [`${path}.${newUuid()}`, `${path}.${newUuid()}`]
      const others = [`${path}.kept`, `${path.slice(0, -1)}m.${newUuid()}`]
      for (const file of [left, young, ...others]) writeFileSync(file, readFileSync(path))
      for (const file of [left, ...others]) utimesSync(file, 1, 1)
      yield* start(dirname(path))
      for (const file of [left, young, ...others]) assert.strictEqual(existsSync(file), file !== left, file)
    })
  )

  it.effect("that costs another pair of keys says so", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const logged = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.provide(effect, Logger.layer([Logger.make(({ message }) => void said.push(String(message)))]))
      const data = yield* directory
      yield* logged(start(data))
      said.length = 0
      yield* logged(start(data))
      assert.deepStrictEqual(said, [])
      rmSync(join(data, "credentials.json"))
      yield* logged(start(data))
      assert.lengthOf(said, 1)
      assert.match(said[0] ?? "", /another API key with every right was made for ten_/)
    })
  )

  it.effect("that is there and cannot be read is a clear error, stays, and costs no keys", () =>
    Effect.gen(function* () {
      const data = yield* directory
      const { path } = yield* start(data)
      const kept = `${path}.kept`
      renameSync(path, kept)
      mkdirSync(path)
      const before = yield* count("credentials")
      const refused = yield* Effect.flip(start(data))
      assert.match(refused.message, /credentials\.json cannot be read/)
      assert.strictEqual(yield* count("credentials"), before)
      assert.isTrue(statSync(path).isDirectory())
      assert.sameMembers(readdirSync(data), ["credentials.json", "credentials.json.kept"], "no draft is left")
    })
  )

  it.effect("that cannot be written costs an installation no keys, however often it is started", () =>
    Effect.gen(function* () {
      yield* start(yield* directory)
      const before = yield* count("credentials")
      for (const data of [unwritable, unwritable]) yield* refusedAt(data)
      assert.strictEqual(yield* count("credentials"), before)
    })
  )
})

/** A file system that this machine mounted read-only, if there is one. */
const readOnly = readFileSync("/proc/mounts", "utf8")
  .split("\n")
  .map((line) => line.split(" "))
  .find(
    ([, place = "", , options = ""]) =>
      options.split(",")[0] === "ro" && existsSync(place) && statSync(place).isDirectory()
  )?.[1]

layer(Test, { timeout: "60 seconds" })("credentials.json of a new database", (it) => {
  it.effect.skipIf(readOnly === undefined)("on a read-only file system is a clear error", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(start(join(readOnly ?? "", "turnpike", "data")))
      assert.match(refused.message, /credentials\.json cannot be written: it is on a read-only file system/)
    })
  )

  it.effect("that cannot be written is a clear error, and nothing is made: the next start loses nothing", () =>
    Effect.gen(function* () {
      const data = yield* directory
      writeFileSync(data, "a file where the directory should be")
      for (const place of [data, unwritable]) yield* refusedAt(place)
      assert.deepStrictEqual([yield* count("tenants"), yield* count("users"), yield* count("credentials")], [0, 0, 0])
      rmSync(data)
      const { contents } = yield* start(data)
      assert.isString(contents.owner_password)
    })
  )
})

layer(Test, { timeout: "60 seconds" })("credentials.json of several starters", (it) => {
  it.effect("in one directory is one, and keeps the password", () =>
    Effect.gen(function* () {
      const data = yield* directory
      // More than there are connections: who waits for its turn must not keep the one whose turn it is from its work.
      const all = yield* Effect.replicateEffect(start(data), 30, { concurrency: 30 })
      assert.strictEqual(new Set(all.map(({ contents }) => JSON.stringify(contents))).size, 1)
      const { api_key, owner_password } = onDisk(all[0]?.path ?? "")
      assert.strictEqual(api_key, all[0]?.contents.api_key)
      assert.match(owner_password, /^[0-9A-Za-z]{24}$/)
      assert.strictEqual(yield* count("credentials"), 2)
    })
  )

  it.effect("in directories of their own holds keys of its own and no password", () =>
    Effect.gen(function* () {
      yield* start(yield* directory)
      const { contents } = yield* start(yield* directory)
      const { contents: other } = yield* start(yield* directory)
      assert.notStrictEqual(contents.api_key, other.api_key)
      assert.deepStrictEqual([contents.owner_password, other.owner_password], [null, null])
    })
  )
})
