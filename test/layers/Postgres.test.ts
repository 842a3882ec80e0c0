import { assert, describe, it, layer } from "@effect/vitest"
import * as PgClient from "@effect/sql-pg/PgClient"
import { ConfigProvider, Context, Deferred, Effect, Fiber, Layer, Redacted, Schedule } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pidFile } from "#layers/EmbeddedPostgres/Postmaster.ts"
import * as Migrations from "#layers/migrations/Migrations.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"

/** A connection of one's own to the test database, as the ledger opens one. */
const connect = Effect.flatMap(Database, ({ config }) => PgClient.makeClient(config)).pipe(
  Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make)
)

const postmasterOf = (dataDir: string) => pidFile(join(dataDir, "postgres/cluster")).pid ?? 0

const withEnvironment = (environment: Record<string, string>) =>
  ConfigProvider.layer(ConfigProvider.fromUnknown(environment))

layer(Postgres.layerTest)("a test database", (it) => {
  it.effect("is migrated", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`select migration_id, name from schema_migrations order by migration_id`
      assert.deepStrictEqual(rows[0], { migration_id: 1, name: "init" })
    })
  )

  it.effect("is private: what one test writes, the next database does not have", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`create table mine (id int)`
      const other = yield* Layer.build(Layer.fresh(Postgres.layerTest))
      const found = yield* Effect.provideContext(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`select to_regclass('mine') is null as gone`),
        other
      )
      assert.deepStrictEqual(found, [{ gone: true }])
    })
  )

  it.effect("is gone with its scope", () =>
    Effect.gen(function* () {
      const current = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`select current_database() as name`)
      const [row] = yield* Effect.provide(current, Layer.fresh(Postgres.layerTest))
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`select datname from pg_database where datname = ${row?.name}`, [])
    })
  )

  it.effect("every connection has the session defaults", () =>
    Effect.gen(function* () {
      const facts = (sql: SqlClient.SqlClient) =>
        sql`select current_setting('statement_timeout') as statement, current_setting('timezone') as zone,
                   current_setting('idle_in_transaction_session_timeout') as idle,
                   current_setting('application_name') as name`
      const expected = [{ statement: "10s", zone: "UTC", idle: "30s", name: "turnpike" }]
      assert.deepStrictEqual(yield* facts(yield* SqlClient.SqlClient), expected)
      assert.deepStrictEqual(yield* facts(yield* connect), expected)
    })
  )
})

layer(Postgres.layerTest)("migrating", (it) => {
  const two = Migrator.fromRecord({
    "0002_first": Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`create table one (id int)`
      yield* sql`create table two (id int)`
    }),
    "0003_second": Effect.flatMap(SqlClient.SqlClient, (sql) => sql`alter table one add column name text`)
  })

  const empty = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`drop schema public cascade`
    yield* sql`create schema public`
  })

  const migrateAlone = (loader: Migrator.Loader) =>
    Effect.flatMap(connect, (client) => Effect.provideService(Migrations.run(loader), SqlClient.SqlClient, client))

  it.effect("of eight starters at once on an empty database one migrates, and all succeed", () =>
    Effect.gen(function* () {
      yield* empty
      const results = yield* Effect.forEach(Array.from({ length: 8 }), () => Effect.scoped(migrateAlone(two)), {
        concurrency: 8
      })
      assert.deepStrictEqual(
        results.filter((applied) => applied.length > 0),
        [
          [
            [2, "first"],
            [3, "second"]
          ]
        ]
      )
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`select id, name from one`, [])
    })
  )

  it.effect("a migration that fails takes back the ones before it, and is tried again next time", () =>
    Effect.gen(function* () {
      yield* empty
      const sql = yield* SqlClient.SqlClient
      const broken = Migrator.fromRecord({
        "0001_good": sql`create table good (id int)`,
        "0002_bad": sql`create table good (id int)`
      })
      const failed = yield* Effect.flip(Migrations.run(broken))
      assert.strictEqual(failed.message, 'Migration "2_bad" failed: relation "good" already exists')
      assert.deepStrictEqual(yield* sql`select to_regclass('good') is null as gone`, [{ gone: true }])
      assert.lengthOf(yield* Migrations.run(Migrator.fromRecord({ "0001_good": sql`create table good (id int)` })), 1)
    })
  )

  it.effect("whoever serves meanwhile may lock the same tables: the migrations are done again", () =>
    Effect.gen(function* () {
      yield* empty
      const sql = yield* SqlClient.SqlClient
      yield* sql`create table busy (id int)`
      yield* sql`insert into busy values (1)`
      const [locked, waiting] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const serving = sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`set local deadlock_timeout = '1h'`
          yield* sql`select id from busy for update`
          yield* Deferred.succeed(locked, undefined)
          yield* Deferred.await(waiting)
          yield* sql`update busy set id = 2`
        })
      )
      const server = yield* Effect.forkChild(serving)
      yield* Deferred.await(locked)
      // Postgres ends whoever comes last to a deadlock: the migration, which first sees the server wait.
      const blocked = sql`select 1 from pg_locks where relation = 'busy'::regclass and not granted`
      const column = Effect.gen(function* () {
        const first = yield* Deferred.succeed(waiting, undefined)
        if (first) yield* Effect.repeat(blocked, { until: (rows) => rows.length > 0 })
        yield* sql`alter table busy add column more int`
      })
      const migrations = Migrator.fromRecord({ "0001_index": sql`create index on busy (id)`, "0002_column": column })
      assert.lengthOf(yield* Migrations.run(migrations), 2)
      yield* Fiber.join(server)
      assert.deepStrictEqual(yield* sql`select id, more from busy`, [{ id: 2, more: null }])
    })
  )

  it.effect("whoever reads a table for long is waited for, and those who use it meanwhile wait for neither", () =>
    Effect.gen(function* () {
      yield* empty
      const sql = yield* SqlClient.SqlClient
      yield* sql`create table read (id int)`
      const [reading, ended] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const reader = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.andThen(
            Effect.andThen(sql`select id from read`, Deferred.succeed(reading, undefined)),
            Deferred.await(ended)
          )
        )
      )
      yield* Deferred.await(reading)
      const column = Migrator.fromRecord({ "0001_column": sql`alter table read add column more int` })
      const migrating = yield* Effect.forkChild(Migrations.run(column))
      yield* Effect.repeat(sql`select 1 from pg_locks where relation = 'read'::regclass and not granted`, {
        until: (rows) => rows.length > 0
      })
      yield* sql`insert into read values (1)`
      yield* Deferred.succeed(ended, undefined)
      yield* Fiber.join(reader)
      assert.lengthOf(yield* Fiber.join(migrating), 1)
    })
  )
})

layer(Postgres.layerTest)("a visitor", (it) => {
  /** What a visitor of this database is told. */
  const refusal = Effect.gen(function* () {
    const { config } = yield* Database
    const environment = withEnvironment({ DATABASE_URL: Redacted.value(config.url ?? Redacted.make("")) })
    const visited = Layer.build(Layer.fresh(Postgres.layerVisitor).pipe(Layer.provide(environment)))
    return yield* visited.pipe(
      Effect.scoped,
      Effect.match({ onSuccess: () => "none", onFailure: (error) => String(Object(error).message) })
    )
  })
  const newest = Effect.map(Migrations.all, (migrations) => Math.max(...migrations.map(([id]) => id)))

  it.effect("takes a database as this version migrates it, and no older or newer one", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const version = yield* newest
      assert.strictEqual(yield* refusal, "none")
      yield* sql`insert into schema_migrations (migration_id, name) values (${version + 1}, 'later')`
      assert.match(
        yield* refusal,
        new RegExp(
          `^The database \\w+ at .* is at migration ${version + 1} and this version needs ${version}: it is used by`
        )
      )
      yield* sql`delete from schema_migrations where migration_id >= ${version}`
      assert.match(
        yield* refusal,
        new RegExp(
          `is at migration ${version - 1} and this version needs ${version}: start the server of this version first`
        )
      )
      assert.deepStrictEqual(yield* sql`select max(migration_id) as at from schema_migrations`, [{ at: version - 1 }])
    })
  )

  it.effect("refuses an empty database and somebody else's, and leaves them as they are", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tables = sql`select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`
      yield* sql`drop schema public cascade`
      yield* sql`create schema public`
      assert.match(yield* refusal, /^The database \w+ at .* is no Turnpike's: no server was ever started on it\.$/)
      assert.deepStrictEqual(yield* tables, [])
      yield* sql`create table schema_migrations (migration_id int, name text)`
      yield* sql`insert into schema_migrations values (${yield* newest}, 'theirs')`
      assert.match(yield* refusal, /is no Turnpike's/)
      yield* sql`drop table schema_migrations`
      yield* sql`create table schema_migrations (version text)`
      yield* sql`create table tenants (id int)`
      assert.match(yield* refusal, /is no Turnpike's/)
      assert.lengthOf(yield* tables, 2)
    })
  )
})

describe("Postgres.layer", () => {
  it.live(
    "without DATABASE_URL runs its own server in the data directory, and its pool outlives a kill of that server",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "turnpike-layer-"))),
          (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
        )
        const environment = withEnvironment({ TURNPIKE_DATA_DIR: dataDir, TURNPIKE_DATABASE_CONNECTIONS: "45" })
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          assert.isTrue((yield* Database).embedded)
          const others = 20
          assert.deepStrictEqual(yield* sql`show max_connections`, [{ max_connections: String(45 + others) }])
          const count = sql`select count(*)::int as n from schema_migrations`
          const before = yield* count
          const killed = postmasterOf(dataDir)
          process.kill(killed, "SIGKILL")
          yield* Effect.sync(() => postmasterOf(dataDir)).pipe(
            Effect.repeat({ until: (pid) => pid > 0 && pid !== killed, schedule: Schedule.spaced("5 millis") })
          )
          assert.deepStrictEqual(yield* Effect.retry(count, Schedule.spaced("10 millis")), before)

          const visitor = yield* Layer.build(Layer.fresh(Postgres.layerVisitor).pipe(Layer.provide(environment)))
          const seen = yield* Effect.provideContext(
            Effect.flatMap(SqlClient.SqlClient, (sql) => sql`select 1 as one`),
            visitor
          )
          assert.deepStrictEqual(seen, [{ one: 1 }])
        }).pipe(Effect.provide(Postgres.layer.pipe(Layer.provide(environment))))
      })
  )

  it.live("with DATABASE_URL uses that database and migrates it", () =>
    Effect.gen(function* () {
      const { config } = Context.get(yield* Layer.build(Layer.fresh(Postgres.layerTest)), Database)
      const client = yield* Effect.provideServiceEffect(
        PgClient.makeClient(config),
        Reactivity.Reactivity,
        Reactivity.make
      )
      yield* client`drop schema public cascade`
      yield* client`create schema public`
      const environment = withEnvironment({ DATABASE_URL: Redacted.value(config.url ?? Redacted.make("")) })
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        assert.isFalse((yield* Database).embedded)
        assert.deepStrictEqual(yield* sql`select to_regclass('schema_migrations') is not null as migrated`, [
          { migrated: true }
        ])
      }).pipe(Effect.provide(Postgres.layer.pipe(Layer.provide(environment))))
    })
  )
})
