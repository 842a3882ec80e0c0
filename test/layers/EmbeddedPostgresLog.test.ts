import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Logger, Schedule } from "effect"
import { appendFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import { pidFile } from "#layers/EmbeddedPostgres/Postmaster.ts"
import * as ServerLog from "#layers/EmbeddedPostgres/ServerLog.ts"
import { directory, query } from "./EmbeddedPostgresHarness.ts"

describe("why an embedded Postgres ended", () => {
  it.live("it is said by a sentence of its own while the server cannot start again, and that it is back", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      const said: Array<string> = []
      const failed = yield* Deferred.make<void>()
      const hearing = Logger.make(({ message }) => {
        said.push(String(message))
        if (String(message).includes("did not start")) Deferred.doneUnsafe(failed, Effect.void)
      })
      const server = yield* Effect.provideService(
        EmbeddedPostgres.make({ dataDir, settings: { fsync: "off", shared_buffers: "16MB" } }),
        Logger.CurrentLoggers,
        new Set([hearing])
      )
      const cluster = join(dataDir, "cluster")
      renameSync(join(cluster, "pg_wal"), join(cluster, "pg_wal.away"))
      process.kill(pidFile(cluster).pid ?? 0, "SIGKILL")
      yield* Deferred.await(failed)
      renameSync(join(cluster, "pg_wal.away"), join(cluster, "pg_wal"))
      yield* Effect.retry(query(server, "select 1"), Schedule.spaced("5 millis"))
      assert.deepStrictEqual(said.slice(0, 2), [
        "Postgres ended by itself (SIGKILL); starting it again",
        `Postgres did not start on ${dataDir}: exit code 1: required WAL directory "pg_wal" does not exist`
      ])
    })
  )

  it.live("what a session was told is no reason of a server that somebody stopped", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      const ended = yield* Deferred.make<string>()
      const hearing = Logger.make(({ message }) => {
        if (String(message).includes("ended by itself")) Deferred.doneUnsafe(ended, Effect.succeed(String(message)))
      })
      const server = yield* Effect.provideService(
        EmbeddedPostgres.make({ dataDir, settings: { fsync: "off", shared_buffers: "16MB" } }),
        Logger.CurrentLoggers,
        new Set([hearing])
      )
      yield* Effect.flip(query({ ...server, username: "stranger" }, "select 1"))
      process.kill(pidFile(join(dataDir, "cluster")).pid ?? 0, "SIGINT")
      assert.strictEqual(yield* Deferred.await(ended), "Postgres ended by itself (exit code 0); starting it again")
    })
  )

  it("what a session was told is no reason of a server that began anew, either", () => {
    const told = `2026-11-27 06:37:10.242 UTC [13495] FATAL:  role "stranger" does not exist\n`
    const anew = "2026-11-27 06:37:13.501 UTC [13394] LOG:  all server processes terminated; reinitializing\n"
    const killed =
      "2026-11-27 06:37:18.911 UTC [13394] LOG:  startup process (PID 13417) was terminated by signal 9: Killed\n"
    const full = `2026-11-27 06:37:18.874 UTC [13417] FATAL:  could not extend file "base/5/16523": No space left on device\n`
    assert.isUndefined(ServerLog.reasonIn(told + anew + killed))
    assert.include(ServerLog.reasonIn(told + anew + full) ?? "", "No space left")
  })

  it.effect("it is found at the end of all that this server logged, and nothing of what one before it logged", () =>
    Effect.gen(function* () {
      const file = `${yield* directory}.log`
      const before = "2026-11-26 06:37:15.242 UTC [1] FATAL:  could not write lock file: No space left on device\n"
      writeFileSync(file, before)
      assert.isUndefined(ServerLog.reasonIn(ServerLog.end(file, before.length)))
      const recovering = "2026-11-27 06:37:15.242 UTC [2] LOG:  syncing data directory (fsync), elapsed time: 10.00 s\n"
      const reason = "could not write to file: Input/output error"
      const cut = "2026-11-27 06:37:18.911 UTC [3] FATAL:  terminating connection due to unexpected postmaster exit\n"
      const asked = '2026-11-27 06:37:16.112 UTC [4] FATAL:  role "nobody" does not exist\n'
      appendFileSync(
        file,
        `${recovering.repeat(1_000)}${asked}2026-11-27 06:37:18.874 UTC [2] PANIC:  ${reason}\n${cut}`
      )
      assert.strictEqual(ServerLog.reasonIn(ServerLog.end(file, before.length)), reason)
    })
  )

  it("a full disk is found among those who asked too early, and no backup is asked for", () => {
    const starting = "2026-11-27 06:37:15.242 UTC [13495] FATAL:  the database system is starting up\n"
    const log = `2026-11-27 06:37:13.501 UTC [13417] LOG:  database system was interrupted while in recovery at 2026-11-27 06:37:12 UTC
2026-11-27 06:37:13.501 UTC [13417] HINT:  This probably means that some data is corrupted and you will have to use the last backup for recovery.
${starting.repeat(60)}2026-11-27 06:37:18.874 UTC [13417] FATAL:  could not extend file "base/5/16523": No space left on device
2026-11-27 06:37:18.874 UTC [13417] HINT:  Check free disk space.
${starting}2026-11-27 06:37:18.911 UTC [13394] LOG:  startup process (PID 13417) exited with exit code 1
`
    assert.strictEqual(
      ServerLog.reasonIn(log),
      'could not extend file "base/5/16523": No space left on device. HINT: Check free disk space.'
    )
    assert.isUndefined(ServerLog.reasonIn(starting.repeat(3)))
  })
})
