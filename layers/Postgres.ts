import * as PgClient from "@effect/sql-pg/PgClient"
import { Config, Duration, Effect, Layer, Option, Random, Redacted, Schema } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { mkdtempSync, readdirSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Database } from "#services/Database.ts"
import * as EmbeddedPostgres from "./EmbeddedPostgres.ts"
import * as Migrations from "./migrations/Migrations.ts"
import { warnOfLoss } from "./Postgres/Durability.ts"
import {
  addressOf,
  asksInVain,
  partsOf,
  hurried,
  pooled,
  PostgresUnusable,
  tooOld,
  unreachable,
  unencrypted,
  unreadable
} from "./Postgres/Unusable.ts"
import * as Version from "./Postgres/Version.ts"
import { keepAlive, watched } from "./Postgres/Watched.ts"
import * as Setting from "./Setting.ts"

export { PostgresUnusable }

/**
 * Session defaults: no statement and no idle transaction holds locks for long, and every instant is UTC. They win over what is set for
 * a database or a role (`ALTER DATABASE … SET`): every statement is written for what others have committed when it begins, and
 * for waiting for them, and who listens or keeps a connection ready is quiet for long.
 */
export const session = {
  applicationName: "turnpike",
  keepAlive,
  startupParameters: {
    default_transaction_isolation: "read committed",
    lock_timeout: "0",
    statement_timeout: "10s",
    idle_in_transaction_session_timeout: "30s",
    idle_session_timeout: "0",
    timezone: "UTC"
  }
} satisfies PgClient.PgClientConfig

/** Settings for a connection URL. As in libpq, a host that is a directory, as `?host=/directory` too, means the unix socket in it. */
export const fromUrl = (url: Redacted.Redacted): PgClient.PgClientConfig => {
  const { host, port } = addressOf(url)
  return { ...session, url, ...(host.startsWith("/") ? { path: join(host, `.s.PGSQL.${port}`) } : {}) }
}

/** Settings for an embedded server. */
export const fromEmbedded = ({
  socketPath,
  username,
  database
}: EmbeddedPostgres.Connection): PgClient.PgClientConfig => ({
  ...session,
  path: socketPath,
  username,
  database
})

/** The size of the pool. An embedded server gives memory to each connection; whoever needs more starts several processes. */
export const maxConnections = Setting.whole("TURNPIKE_DATABASE_CONNECTIONS", 1, 1_000).pipe(Config.withDefault(20))
const dataDir = Config.NonEmptyString("TURNPIKE_DATA_DIR").pipe(
  Config.withDefault(".turnpike"),
  Config.map((directory) => join(directory, "postgres"))
)

const database = <E, R>(embedded: Effect.Effect<EmbeddedPostgres.Connection, E, R>) =>
  Layer.effect(
    Database,
    Effect.gen(function* () {
      const url = yield* Config.option(Config.Redacted("DATABASE_URL"))
      if (Option.isNone(url)) return { config: fromEmbedded(yield* embedded), embedded: true }
      const parts = partsOf(url.value)
      if (parts === undefined) return yield* unreadable()
      if (asksInVain(parts)) return yield* unencrypted()
      return { config: fromUrl(url.value), embedded: false }
    })
  )

const ownServer = Effect.gen(function* () {
  const pool = yield* maxConnections
  // Beside the pool there are connections of the ledger, of listeners and of visitors.
  const settings = { max_connections: String(Math.max(60, pool + 20)) }
  return yield* EmbeddedPostgres.make({ dataDir: yield* dataDir, settings })
})

const serverOfAnother = Effect.flatMap(dataDir, EmbeddedPostgres.running)

/** To a command the owner of the directory is no rival: there is nobody to stop, and no other directory to take. */
const besideOwner = <E>(error: E) =>
  error instanceof EmbeddedPostgres.EmbeddedPostgresError && error.reason === "InUse"
    ? new EmbeddedPostgres.EmbeddedPostgresError({
        ...error,
        message:
          `The Turnpike that runs on ${error.dataDir} (process ${error.ownerPid}) has no database at the moment: it is ` +
          `starting, or its Postgres is down. Its log and ${join(error.dataDir, "postgres.log")} say why; try again when it serves.`
      })
    : error

const poolOver = (settings: (config: PgClient.PgClientConfig) => Effect.Effect<PgClient.PgClientConfig>) =>
  PgClient.layerFrom(
    Effect.gen(function* () {
      const { config } = yield* Database
      return yield* PgClient.make({ ...(yield* settings(config)), maxConnections: yield* maxConnections })
    })
  )

/** The shared pool over `Database`. Connections are opened when needed. */
export const layerPool = poolOver(Effect.succeed)
/** The same for who serves: no statement of it is waited for without end. */
export const layerPoolWatched = poolOver(watched)

/** Long enough for anything, and by no server's own setting: it shows whether the settings of a session arrive. */
const unhurried = "25h"

/** For how long one statement of ours may run, so a transaction of several must not be cut off sooner. */
const shortest = 10_000

/** A connection of one's own to a server that Turnpike can work on. */
const connect = Effect.fnUntraced(
  function* (config: PgClient.PgClientConfig) {
    const client = yield* PgClient.makeClient({
      ...config,
      // A migration of a large table takes its time, and so does waiting for another starter's.
      startupParameters: {
        ...config.startupParameters,
        statement_timeout: "0",
        idle_in_transaction_session_timeout: unhurried
      }
    }).pipe(Effect.mapError(unreachable(config)))
    yield* checkServer(client, config)
    return client
  },
  Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make)
)

/** Refuses a server Turnpike cannot work on, then migrates the database. */
export const prepare = Effect.fn("Postgres.prepare")(function* (config: PgClient.PgClientConfig) {
  const sql = yield* connect(config)
  const applied = yield* Effect.provideService(Migrations.run(), SqlClient.SqlClient, sql)
  yield* Version.warnOfNewer(sql)
  return applied
}, Effect.scoped)

/** Refuses a server Turnpike cannot work on, and a database that is not as this version needs it. Changes nothing. */
const inspect = Effect.fn("Postgres.inspect")(function* (config: PgClient.PgClientConfig) {
  yield* Version.check(yield* connect(config), config)
}, Effect.scoped)

const checkServer = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient, config: PgClient.PgClientConfig) {
    const [row] = yield* Effect.flatMap(
      sql`select current_setting('server_version') as version, current_setting('server_version_num') as number,
               current_setting('server_encoding') as encoding,
               current_setting('idle_in_transaction_session_timeout') as patience,
               (select setting::int from pg_settings where name = 'transaction_timeout') as transaction_millis`,
      Schema.decodeUnknownEffect(ServerFacts)
    )
    if (Number(row.number) < 150_000) return yield* tooOld(row.version)
    if (row.encoding !== "UTF8") {
      return yield* new PostgresUnusable({
        reason: "Encoding",
        message: `The database has the encoding ${row.encoding}; Turnpike needs UTF8.`
      })
    }
    if (row.patience !== unhurried) return yield* pooled(config)
    if (row.transaction_millis !== null && row.transaction_millis > 0 && row.transaction_millis < shortest) {
      return yield* hurried(row.transaction_millis)
    }
    // A migration and the wait for another starter's are one transaction. Postgres 17 is the first that counts its time.
    yield* sql`SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'`
  },
  Effect.catchTag("SchemaError", Effect.die)
)

const ServerFacts = Schema.Tuple([
  Schema.Struct({
    version: Schema.String,
    number: Schema.String,
    encoding: Schema.String,
    patience: Schema.String,
    transaction_millis: Schema.NullOr(Schema.Int)
  })
])

/** What an operator should know of a server, beyond whether it can be used. */
export const look = Effect.fn("Postgres.look")(function* (config: PgClient.PgClientConfig) {
  yield* warnOfLoss(yield* connect(config))
}, Effect.scoped)

const prepared = Layer.effectDiscard(
  Effect.flatMap(Database, ({ config }) => Effect.andThen(prepare(config), look(config)))
)
const inspected = Layer.effectDiscard(Effect.flatMap(Database, ({ config }) => inspect(config)))

/** A migrated database: `DATABASE_URL` (Postgres 15 or newer), or else an embedded server in `TURNPIKE_DATA_DIR`. */
export const layer = Layer.merge(layerPoolWatched, prepared).pipe(Layer.provideMerge(database(ownServer)))

/** The same for a command, which migrates nothing, and may run beside the Turnpike that owns the embedded server. */
export const layerVisitor = Layer.merge(layerPool, inspected).pipe(
  Layer.provideMerge(database(Effect.catch(serverOfAnother, () => Effect.mapError(ownServer, besideOwner))))
)

/**
 * A migrated template for test databases, as a URL, until the scope closes. It lives on the server of `TEST_DATABASE_URL`,
 * or else on an embedded server of its own that trades durability for speed.
 */
export const testTemplate = Effect.gen(function* () {
  const external = yield* Config.option(Config.Redacted("TEST_DATABASE_URL"))
  const server = Option.isSome(external) ? external.value : yield* testServer
  const template = yield* scopedDatabase(server, "")
  yield* prepare(fromUrl(template))
  return template
})

/** Every build is a private, migrated database: a copy of the template that the test run prepared, or of its own. */
export const layerTest = layerPool.pipe(
  Layer.provideMerge(
    Layer.effect(
      Database,
      Effect.gen(function* () {
        const shared = yield* Config.option(Config.Redacted(testTemplateVariable))
        const template = Option.isSome(shared) ? shared.value : yield* testTemplate
        const name = new URL(Redacted.value(template)).pathname.slice(1)
        const copy = yield* scopedDatabase(template, name)
        // The clock of a test runs ahead of any connection that is being made, and a pool need not look after each of its minutes.
        const timeless = { connectTimeout: Duration.infinity, idleTimeout: Duration.infinity }
        return { config: { ...fromUrl(copy), ...timeless }, embedded: false }
      })
    )
  )
)

/** Where a test run announces the URL of its template to the processes that run the tests. */
export const testTemplateVariable = "TURNPIKE_TEST_TEMPLATE"

const testServer = Effect.gen(function* () {
  const dataDir = mkdtempSync(join(tmpdir(), testPrefix))
  yield* Effect.forEach(abandonedBefore(dataDir), (directory) => Effect.ignore(EmbeddedPostgres.discard(directory)))
  yield* Effect.addFinalizer(() => Effect.ignore(EmbeddedPostgres.discard(dataDir)))
  const server = yield* EmbeddedPostgres.make({
    dataDir,
    settings: {
      max_connections: "300",
      fsync: "off",
      synchronous_commit: "off",
      full_page_writes: "off",
      autovacuum: "off"
    }
  })
  const url = new URL(`postgres://${server.username}@localhost/${server.database}`)
  url.searchParams.set("host", server.socketDir)
  return Redacted.make(url.href)
})

const testPrefix = "turnpike-test-"

/** Directories of earlier test runs of this user. A run that still goes on refuses to be discarded. */
const abandonedBefore = (dataDir: string): ReadonlyArray<string> => {
  const mine = statSync(dataDir)
  return readdirSync(dirname(dataDir))
    .filter((entry) => entry.startsWith(testPrefix))
    .map((entry) => join(dirname(dataDir), entry))
    .filter((directory) => {
      const other = statSync(directory, { throwIfNoEntry: false })
      // A younger one may be about to be claimed.
      return other !== undefined && other.uid === mine.uid && other.mtimeMs < mine.mtimeMs - 60_000
    })
}

/** Creates a database on the server of `url`, as a copy of `template` if one is named, and drops it with the scope. */
const scopedDatabase = Effect.fnUntraced(function* (url: Redacted.Redacted, template: string) {
  const name = `turnpike_test_${process.pid}_${Math.abs(yield* Random.nextInt)}`
  const administer = (statement: (sql: PgClient.PgClient) => Effect.Effect<unknown, SqlError>) =>
    PgClient.makeClient({ ...fromUrl(url), database: "postgres", startupParameters: {} }).pipe(
      Effect.flatMap(statement),
      Effect.scoped,
      Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make)
    )
  yield* Effect.acquireRelease(
    administer((sql) =>
      template === ""
        ? sql`create database ${sql(name)} template template0 encoding 'UTF8'`
        : sql`create database ${sql(name)} template ${sql(template)}`
    ),
    () => Effect.orDie(administer((sql) => sql`drop database if exists ${sql(name)} with (force)`))
  )
  const named = new URL(Redacted.value(url))
  named.pathname = `/${name}`
  return Redacted.make(named.href)
})
