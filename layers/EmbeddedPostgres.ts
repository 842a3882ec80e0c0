import { Clock, Deferred, Duration, Effect, Ref, Schedule } from "effect"
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { realTime } from "#services/RealTime.ts"
import * as Cluster from "./EmbeddedPostgres/Cluster.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgres/EmbeddedPostgresError.ts"
import * as Ownership from "./EmbeddedPostgres/Ownership.ts"
import * as Postmaster from "./EmbeddedPostgres/Postmaster.ts"

export { EmbeddedPostgresError }

/** How to reach an embedded server. There is no password: only its user and root can reach the socket. */
export interface Connection {
  readonly socketDir: string
  readonly socketPath: string
  readonly username: string
  readonly database: string
}

/** Durable, and sized for one service on a small machine. */
const defaults = {
  max_connections: "60",
  shared_buffers: "128MB",
  effective_cache_size: "512MB",
  work_mem: "8MB",
  maintenance_work_mem: "64MB",
  max_wal_size: "1GB",
  // Kept once they are there: to sync a file that has its blocks already takes a quarter to two fifths less.
  min_wal_size: "512MB",
  wal_compression: "on",
  // Filling a new segment with zeros holds up every commit for tens of milliseconds; a commit is as durable without.
  wal_init_zero: "off",
  random_page_cost: "1.1",
  jit: "off",
  // A table that just got its first rows is analysed before its plans hurt.
  autovacuum_naptime: "5s",
  // But not again with each tenth that a table grows: while all tables are young that would take a tenth of a processor under load.
  autovacuum_analyze_scale_factor: "0.5",
  autovacuum_vacuum_insert_scale_factor: "0.5",
  timezone: "UTC",
  log_timezone: "UTC",
  // Errors of statements are answered to whoever sent them; the log is about the server itself.
  log_min_messages: "log",
  log_checkpoints: "off"
}

/**
 * Runs a Postgres of our own on `dataDir` until the scope closes, creating the database on the first start and starting the
 * server again if it dies. One process owns a data directory: the next one fails with `InUse`. `settings` are server
 * settings by name and win over the defaults.
 */
export const make = Effect.fn("EmbeddedPostgres.make")(
  function* (options: { readonly dataDir: string; readonly settings?: Readonly<Record<string, string>> }) {
    yield* Cluster.prepareDirectory(resolve(options.dataDir))
    const dataDir = realpathSync(options.dataDir)
    yield* Ownership.claim(dataDir)
    const cluster = yield* Cluster.open(dataDir, { durable: options.settings?.fsync !== "off" })
    yield* Postmaster.clear(cluster)
    const socketDir = yield* openSocketDirectory(cluster)
    yield* supervise(cluster, {
      ...defaults,
      ...options.settings,
      listen_addresses: "",
      unix_socket_directories: socketDir,
      unix_socket_permissions: "0700"
    })
    return connection(socketDir)
  },
  Effect.provideService(Clock.Clock, realTime)
)

/** The server that another process runs on `dataDir` right now, for a visitor such as an administration command. */
export const running = (dataDir: string): Effect.Effect<Connection, EmbeddedPostgresError> =>
  Effect.suspend(() => {
    const { ready, socketDir } = Postmaster.pidFile(join(resolve(dataDir), "cluster"))
    return ready && socketDir !== undefined && Ownership.isOwned(resolve(dataDir))
      ? Effect.succeed(connection(socketDir))
      : new EmbeddedPostgresError({ reason: "Start", dataDir, message: `No Turnpike runs on ${dataDir}` })
  })

/** Deletes a data directory nobody owns, with the server a killed owner may have left on it. */
export const discard = Effect.fn("EmbeddedPostgres.discard")(
  function* (dataDir: string) {
    yield* Ownership.claim(dataDir)
    yield* Postmaster.clear({ directory: join(dataDir, "cluster") })
    yield* Effect.sync(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 }))
  },
  Effect.scoped,
  Effect.provideService(Clock.Clock, realTime)
)

const connection = (socketDir: string): Connection => ({
  socketDir,
  socketPath: socketIn(socketDir),
  username: Cluster.username,
  database: "postgres"
})

const socketIn = (directory: string) => join(directory, ".s.PGSQL.5432")

/** A socket path may have 107 bytes. Where the data directory is deeper than that, the socket lives in the temporary one. */
const openSocketDirectory = (cluster: Cluster.Cluster) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => {
        const inside = join(cluster.dataDir, "socket")
        const directory = Buffer.byteLength(socketIn(inside)) <= 107 ? inside : mkdtempSync(join(tmpdir(), "turnpike-"))
        Cluster.makePrivate(directory, cluster.runAs)
        return directory
      },
      catch: (cause) =>
        new EmbeddedPostgresError({
          reason: "DataDirectory",
          dataDir: cluster.dataDir,
          message: `The directory of the database socket could not be made: ${String(cause)}`
        })
    }),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  )

/** Keeps a server running until the scope closes, then stops it. Returns when the first one accepts connections. */
const supervise = Effect.fnUntraced(function* (cluster: Cluster.Cluster, settings: Readonly<Record<string, string>>) {
  const launch = Postmaster.launch(cluster, settings)
  const current = yield* Effect.acquireRelease(Effect.flatMap(launch, Ref.make), (ref) =>
    Effect.flatMap(Ref.get(ref), Postmaster.stop)
  )
  const ready = Effect.flatMap(Ref.get(current), (postmaster) => postmaster.ready)
  const restart = Postmaster.clear(cluster).pipe(
    Effect.andThen(Effect.uninterruptible(Effect.flatMap(launch, (postmaster) => Ref.set(current, postmaster)))),
    Effect.andThen(ready),
    // A file that may not be removed, or no more files to be had: whoever gave up would leave the server down for good, without a word.
    Effect.catchDefect((cause) => Effect.fail(notAgain(cluster, cause)))
  )
  yield* ready

  const restartAfterDeath = Effect.fnUntraced(function* (pause: Duration.Duration) {
    const postmaster = yield* Ref.get(current)
    const [lifetime, how] = yield* Effect.timed(Deferred.await(postmaster.ended))
    yield* Effect.logError(`Postgres ended by itself (${how}); starting it again`)
    yield* Effect.sleep(pause)
    yield* restart.pipe(
      Effect.tapError((error) => Effect.logError(error.message)),
      Effect.retry(Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced(longestPause)]))
    )
    yield* Effect.logInfo("Postgres is back")
    const isStable = Duration.isGreaterThan(lifetime, longestPause)
    return isStable ? shortestPause : Duration.min(Duration.times(pause, 2), longestPause)
  })
  yield* Effect.gen(function* () {
    let pause = shortestPause
    while (true) pause = yield* restartAfterDeath(pause)
  }).pipe(Effect.forkScoped)
})

const notAgain = ({ dataDir }: Cluster.Cluster, cause: unknown) =>
  new EmbeddedPostgresError({
    reason: "Start",
    dataDir,
    message: `Postgres could not be started again on ${dataDir}: ${cause instanceof Error ? cause.message : String(cause)}`
  })

const shortestPause = Duration.millis(20)
const longestPause = Duration.seconds(5)
