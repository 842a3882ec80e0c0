import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Deferred, Effect, Logger, Schedule } from "effect"
import { spawn, spawnSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import { prepareDirectory } from "#layers/EmbeddedPostgres/Cluster.ts"
import { pidFile } from "#layers/EmbeddedPostgres/Postmaster.ts"
import { bootId, pidNamespace } from "#layers/EmbeddedPostgres/Processes.ts"
import { directory, owner, query, start } from "./EmbeddedPostgresHarness.ts"

// A stopped cluster that holds one committed row, made once and copied by whoever needs one.
const seed = mkdtempSync(join(tmpdir(), "turnpike-embedded-"))
beforeAll(() => {
  chmodSync(seed, 0o711)
  return Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(start(join(seed, "postgres")), (server) =>
        query(server, "create table facts as select 42 as fact")
      )
    )
  )
})
afterAll(() => rmSync(seed, { recursive: true, force: true }))

const copySeed = (dataDir: string) => Effect.sync(() => spawnSync("cp", ["-a", join(seed, "postgres"), dataDir]))
const remembering = Effect.tap(directory, copySeed)

const remembers = (server: EmbeddedPostgres.Connection) =>
  Effect.map(query(server, "select fact from facts"), (rows) => assert.deepStrictEqual(rows, [{ fact: 42 }]))

const postmasterOf = (dataDir: string) => pidFile(join(dataDir, "cluster")).pid ?? 0

const isRunning = (pid: number) =>
  existsSync(`/proc/${pid}/stat`) && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))

const until = (condition: () => boolean) =>
  Effect.sync(condition).pipe(Effect.repeat({ until: (met) => met, schedule: Schedule.spaced("2 millis") }))

const killedOwner = Effect.fnUntraced(function* (dataDir: string) {
  const { child, line, exited } = yield* owner(dataDir)
  assert.strictEqual(yield* line, "ready")
  child.kill("SIGKILL")
  yield* exited
  return postmasterOf(dataDir)
})

describe("EmbeddedPostgres", () => {
  it.live("the first start makes a durable, checksummed UTF-8 database that only its own user can reach", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      const server = yield* EmbeddedPostgres.make({ dataDir })
      const facts = yield* query(
        server,
        `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
                current_setting('data_checksums') as checksums, current_setting('server_encoding') as encoding,
                current_setting('listen_addresses') as tcp`
      )
      assert.deepStrictEqual(facts, [{ fsync: "on", commit: "on", checksums: "on", encoding: "UTF8", tcp: "" }])
      for (const path of [join(dataDir, "cluster"), server.socketDir, server.socketPath]) {
        assert.strictEqual(statSync(path).mode & 0o077, 0, path)
      }
    })
  )

  it.effect("nobody else may list or write the directories that are made for it", () =>
    Effect.gen(function* () {
      const parent = join(yield* directory, "made")
      yield* prepareDirectory(join(parent, "postgres"))
      assert.strictEqual(statSync(parent).mode & 0o066, 0)
    })
  )

  it.live("data is there after a restart", () =>
    Effect.gen(function* () {
      const dataDir = yield* remembering
      yield* Effect.andThen(start(dataDir), remembers)
    })
  )

  it.live("a killed server is started again by itself, with everything that was committed", () =>
    Effect.gen(function* () {
      const dataDir = yield* remembering
      const server = yield* start(dataDir)
      const killed = postmasterOf(dataDir)
      process.kill(killed, "SIGKILL")
      yield* until(() => ![0, killed].includes(postmasterOf(dataDir)))
      yield* Effect.retry(remembers(server), Schedule.spaced("5 millis"))
    })
  )

  it.live("a process that a killed server had only just forked is ended with the sessions", () =>
    Effect.gen(function* () {
      const dataDir = yield* remembering
      const server = yield* start(dataDir)
      const cluster = join(dataDir, "cluster")
      // As Postgres is before it has told what it is for: by its arguments nobody would know it.
      const forked = yield* Effect.acquireRelease(
        Effect.sync(() => spawn("/bin/sh", ["-c", "printf postgres > /proc/$$/comm; read line"], { cwd: cluster })),
        (child) => Effect.sync(() => child.kill("SIGKILL"))
      )
      yield* until(() => readFileSync(`/proc/${forked.pid}/comm`, "utf8") === "postgres\n")
      process.kill(postmasterOf(dataDir), "SIGKILL")
      yield* until(() => !isRunning(forked.pid ?? 0))
      yield* Effect.retry(remembers(server), Schedule.spaced("5 millis"))
    })
  )

  it.live("a killed server is started again as soon as it can be, whatever kept it from that", () =>
    Effect.gen(function* () {
      const dataDir = yield* remembering
      const failed = yield* Deferred.make<void>()
      const hearing = Logger.make(({ message }) => {
        if (String(message).includes("could not be started again")) Deferred.doneUnsafe(failed, Effect.void)
      })
      const server = yield* Effect.provideService(
        EmbeddedPostgres.make({ dataDir, settings: { fsync: "off" } }),
        Logger.CurrentLoggers,
        new Set([hearing])
      )
      // What the server leaves cannot be taken away, as where a file system is read-only for a while.
      const lock = `${server.socketPath}.lock`
      rmSync(lock)
      mkdirSync(lock)
      process.kill(postmasterOf(dataDir), "SIGKILL")
      yield* Deferred.await(failed)
      rmSync(lock, { recursive: true })
      yield* Effect.retry(remembers(server), Schedule.spaced("5 millis"))
    })
  )

  it.live("a server left behind by a killed owner is ended, and the next start finds its data", () =>
    Effect.gen(function* () {
      const dataDir = yield* remembering
      const orphan = yield* killedOwner(dataDir)
      const server = yield* start(dataDir)
      assert.notStrictEqual(postmasterOf(dataDir), orphan)
      assert.isFalse(isRunning(orphan))
      yield* remembers(server)
    })
  )

  it.live("owner and server killed: the next start recovers", () =>
    Effect.gen(function* () {
      const dataDir = yield* remembering
      process.kill(yield* killedOwner(dataDir), "SIGKILL")
      yield* Effect.andThen(start(dataDir), remembers)
    })
  )

  it.live("a second owner is refused and told who the first one is", () =>
    Effect.gen(function* () {
      const dataDir = yield* remembering
      const first = yield* owner(dataDir)
      assert.strictEqual(yield* first.line, "ready")
      const error = yield* Effect.flip(start(dataDir))
      assert.strictEqual(error.reason, "InUse")
      assert.strictEqual(error.ownerPid, first.pid)
      assert.include(error.message, `${dataDir} is in use by another Turnpike (process ${first.pid})`)
      yield* Effect.andThen(EmbeddedPostgres.running(dataDir), remembers)
    })
  )

  it.live("a copy of a directory whose server runs is no way to that server", () =>
    Effect.gen(function* () {
      const dataDir = yield* remembering
      yield* start(dataDir)
      const copy = join(dataDir, "../copy")
      spawnSync("cp", ["-a", dataDir, copy])
      assert.strictEqual((yield* Effect.flip(EmbeddedPostgres.running(copy))).reason, "Start")
      symlinkSync(dataDir, join(dataDir, "../link"))
      yield* Effect.andThen(EmbeddedPostgres.running(join(dataDir, "../link")), remembers)
    })
  )

  it.live("a second owner in the same process is refused, and nothing runs for a visitor once the first is gone", () =>
    Effect.gen(function* () {
      const dataDir = yield* remembering
      yield* Effect.scoped(Effect.andThen(start(dataDir), Effect.flip(start(dataDir)))).pipe(
        Effect.map((error) => assert.strictEqual(error.ownerPid, process.pid))
      )
      assert.strictEqual((yield* Effect.flip(EmbeddedPostgres.running(dataDir))).reason, "Start")
    })
  )

  it.live("of four starters at once exactly one becomes the owner", () =>
    Effect.gen(function* () {
      const dataDir = yield* remembering
      const starters = yield* Effect.forEach([1, 2, 3, 4], () => owner(dataDir))
      const lines = yield* Effect.forEach(starters, ({ line }) => line, { concurrency: 4 })
      assert.strictEqual(lines.filter((line) => line === "ready").length, 1)
      assert.strictEqual(lines.filter((line) => line.includes("InUse")).length, 3)
    })
  )

  it.live("a claim of a process that is gone does not count, even when its pid is in use again", () =>
    Effect.gen(function* () {
      const dataDir = yield* remembering
      const [boot, namespace] = [bootId(), pidNamespace()]
      writeFileSync(join(dataDir, "owners", `${process.ppid}.1.${boot}.${namespace}`), "")
      writeFileSync(join(dataDir, "owners", `${process.ppid}.1.otherone.${namespace}`), "")
      writeFileSync(join(dataDir, "owners", `1.1.${boot}.another`), "")
      yield* Effect.andThen(start(dataDir), remembers)
    })
  )

  it.live("an owner in another container counts as long as its server answers", () =>
    Effect.gen(function* () {
      const dataDir = yield* remembering
      assert.strictEqual(yield* (yield* owner(dataDir)).line, "ready")
      const claims = join(dataDir, "owners")
      for (const claim of readdirSync(claims)) renameSync(join(claims, claim), join(claims, `1.1.${bootId()}.another`))
      const error = yield* Effect.flip(start(dataDir))
      assert.include(error, { reason: "InUse", ownerPid: 1 })
    })
  )

  it.live("a stale pid file that names somebody else's process does not stop the start", () =>
    Effect.gen(function* () {
      const dataDir = yield* remembering
      const cluster = join(dataDir, "cluster")
      const { uid, gid } = statSync(cluster)
      const stranger = yield* Effect.acquireRelease(
        Effect.sync(() => spawn("sleep", ["600"], { stdio: "ignore", uid, gid })),
        (child) => Effect.sync(() => child.kill())
      )
      writeFileSync(join(cluster, "postmaster.pid"), `${stranger.pid}\n${cluster}\n1\n5432\n\n\n\nready\n`)
      yield* Effect.andThen(start(dataDir), remembers)
      assert.isNull(stranger.exitCode)
    })
  )

  it.live("a first start that was killed half-way is begun anew", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      const { child, exited } = yield* owner(dataDir)
      yield* until(() => existsSync(dataDir) && readdirSync(dataDir).some((entry) => entry.startsWith("initdb-")))
      child.kill("SIGKILL")
      yield* exited
      const server = yield* start(dataDir)
      assert.deepStrictEqual(yield* query(server, "select 1 as one"), [{ one: 1 }])
      assert.deepStrictEqual(
        readdirSync(dataDir).filter((entry) => entry.startsWith("initdb-")),
        []
      )
    })
  )

  it.live("a data directory too deep for a socket gets its socket elsewhere, gone with the scope", () =>
    Effect.gen(function* () {
      const dataDir = join(yield* directory, "d".repeat(100))
      mkdirSync(join(dataDir, ".."))
      yield* copySeed(dataDir)
      const server = yield* Effect.scoped(Effect.tap(start(dataDir), remembers))
      assert.isBelow(Buffer.byteLength(server.socketPath), 108)
      assert.isFalse(existsSync(server.socketDir))
    })
  )

  it.live("a database of a Postgres version that is not there is refused by name", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      mkdirSync(join(dataDir, "cluster"), { recursive: true })
      writeFileSync(join(dataDir, "cluster", "PG_VERSION"), "9\n")
      const error = yield* Effect.flip(start(dataDir))
      assert.strictEqual(error.reason, "Version")
      assert.include(error.message, "made by Postgres 9")
    })
  )
})
