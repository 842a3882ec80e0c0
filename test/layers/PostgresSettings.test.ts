import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import * as Migrations from "#layers/migrations/Migrations.ts"
import * as Node from "#layers/Node.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"

/** A connection that is opened now. */
const connect = (changes: Partial<PgClient.PgClientConfig> = {}) =>
  Effect.flatMap(Database, ({ config }) => PgClient.makeClient({ ...config, ...changes })).pipe(
    Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make)
  )

/** Sets it for all sessions of this test's database that begin from now on. */
const setForAll = Effect.fnUntraced(function* (name: string, value: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`SELECT current_database() AS name`
  yield* sql.unsafe(`ALTER DATABASE "${row?.["name"]}" SET ${name} = ${value}`)
})

const empty = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP SCHEMA public CASCADE`
  yield* sql`CREATE SCHEMA public`
})

/** What the operator of a server that starts on this database is told. */
const refusal = Effect.flatMap(Database, ({ config }) => Postgres.prepare(config)).pipe(
  Effect.sandbox,
  Effect.flip,
  Effect.map(Node.reasonOf)
)

layer(Postgres.layerTest, { timeout: "60 seconds" })("what is set for all sessions of a database", (it) => {
  it.effect("does not make ours fail because others write, or wait, or because they are quiet for long", () =>
    Effect.gen(function* () {
      const set = { default_transaction_isolation: "serializable", lock_timeout: "50ms", idle_session_timeout: "2s" }
      for (const [name, value] of Object.entries(set)) yield* setForAll(name, `'${value}'`)
      const settings = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
        const [row] =
          yield* sql`SELECT current_setting('default_transaction_isolation') AS default_transaction_isolation,
          current_setting('lock_timeout') AS lock_timeout, current_setting('idle_session_timeout') AS idle_session_timeout`
        return row
      })
      assert.deepStrictEqual(yield* settings(yield* connect({ startupParameters: {} })), set)
      assert.deepStrictEqual(yield* settings(yield* connect()), {
        default_transaction_isolation: "read committed",
        lock_timeout: "0",
        idle_session_timeout: "0"
      })
    })
  )
})

layer(Postgres.layerTest, { timeout: "60 seconds" })("a database that cuts transactions off", (it) => {
  it.effect(
    "is refused by name when that is before ours may end, and else leaves migrations and the doctor alone",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [server] = yield* sql`SELECT current_setting('transaction_timeout', true) AS known`
        if (server?.["known"] === null) return
        yield* setForAll("transaction_timeout", "'100ms'")
        assert.match(yield* refusal, /^The database cuts every transaction off after 100 ms \(transaction_timeout\)/)
        yield* setForAll("transaction_timeout", "'10s'")
        const { config } = yield* Database
        assert.deepStrictEqual(yield* Postgres.prepare(config), [])
      })
  )
})

layer(Postgres.layerTest, { timeout: "60 seconds" })("a database that does not wait for its disk", (it) => {
  it.effect("is served, and the log says that money may be lost with it", () =>
    Effect.gen(function* () {
      const { config } = yield* Database
      const said: Array<string> = []
      const keep = Logger.layer([Logger.make(({ logLevel, message }) => void said.push(`${logLevel} ${message}`))])
      const look = Effect.provide(Postgres.look(config), keep)
      yield* setForAll("synchronous_commit", "off")
      yield* look
      assert.match(
        said.join(),
        /^Warn The database has .*synchronous_commit set to off: when it crashes, money that was/
      )
    })
  )
})

layer(Postgres.layerTest, { timeout: "60 seconds" })("a database that can take no first table", (it) => {
  it.effect("says so when it has somebody else's table of migrations", () =>
    Effect.gen(function* () {
      yield* empty
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE schema_migrations (version text)`
      assert.match(yield* refusal, /^The database is somebody else's: its table schema_migrations is no Turnpike's\./)
      yield* sql`DROP TABLE schema_migrations`
      yield* sql`CREATE TABLE schema_migrations (migration_id integer PRIMARY KEY, created_at timestamptz, name text)`
      yield* sql`INSERT INTO schema_migrations (migration_id, name) VALUES (1, 'init'), (2, 'theirs'), (1000, 'theirs')`
      assert.match(yield* refusal, /^The database is somebody else's: its table schema_migrations is no Turnpike's\./)
      yield* sql`DROP TABLE schema_migrations`
    })
  )

  it.effect("says so when its search_path names no schema that takes tables, or when it can only be read", () =>
    Effect.gen(function* () {
      yield* empty
      yield* setForAll("search_path", "nowhere")
      assert.match(
        yield* refusal,
        /^No schema of the search_path of the database is there, or none that its user may use: nowhere\./
      )
      yield* setForAll("search_path", "pg_catalog, public")
      assert.match(yield* refusal, /^The search_path of the database begins with pg_catalog, where no tables belong: /)
      yield* setForAll("default_transaction_read_only", "on")
      assert.match(
        yield* refusal,
        /^The database is a standby, or was set to read only \(default_transaction_read_only\), and no Turnpike was ever/
      )
    })
  )
})

layer(Postgres.layerTest, { timeout: "60 seconds" })("a database that a newer version has migrated", (it) => {
  it.effect("is served, and the log says that this is right only for a while", () =>
    Effect.gen(function* () {
      const { config } = yield* Database
      const said: Array<string> = []
      const keep = Logger.layer([Logger.make(({ logLevel, message }) => void said.push(`${logLevel} ${message}`))])
      const start = Postgres.prepare(config).pipe(Effect.provide(keep))
      assert.deepStrictEqual(yield* start, [])
      assert.deepStrictEqual(said, [])
      const sql = yield* SqlClient.SqlClient
      const known = Math.max(...(yield* Migrations.all).map(([id]) => id))
      yield* sql`INSERT INTO schema_migrations (migration_id, name) VALUES (${known + 1}, 'later')`
      assert.deepStrictEqual(yield* start, [])
      assert.lengthOf(said, 1)
      assert.include(said[0], `Warn The database is at migration ${known + 1} and this version knows ${known}: a newer`)
    })
  )
})

layer(Postgres.layerTest, { timeout: "60 seconds" })("an empty database", (it) => {
  it.effect("is given as much time for each step of its migrations as that takes", () =>
    Effect.gen(function* () {
      yield* empty
      const { config } = yield* Database
      const startupParameters = { ...config.startupParameters, statement_timeout: "1ms" }
      assert.isNotEmpty(yield* Postgres.prepare({ ...config, startupParameters }))
    })
  )
})

layer(Postgres.layerTest, { timeout: "60 seconds" })("a database of another encoding", (it) => {
  it.effect("is refused before anything is made in it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { config } = yield* Database
      const name = `turnpike_ascii_${process.pid}`
      yield* Effect.acquireRelease(
        sql`CREATE DATABASE ${sql(name)} TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'`,
        () => Effect.orDie(sql`DROP DATABASE ${sql(name)} WITH (FORCE)`)
      )
      const refused = yield* Effect.flip(Postgres.prepare({ ...config, database: name }))
      assert.deepInclude(refused, { _tag: "PostgresUnusable", reason: "Encoding" })
      const made = yield* Effect.map(
        connect({ database: name }),
        (other) => other`SELECT to_regclass('tenants') AS made`
      )
      assert.deepStrictEqual(yield* made, [{ made: null }])
    })
  )
})
