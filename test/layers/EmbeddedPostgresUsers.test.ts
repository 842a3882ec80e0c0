import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { chmodSync, chownSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import { directory, owner, query, start } from "./EmbeddedPostgresHarness.ts"

const isRoot = process.getuid?.() === 0
const nobody = 65534

const learns = (server: EmbeddedPostgres.Connection) => query(server, "create table facts as select 42 as fact")
const remembers = (server: EmbeddedPostgres.Connection) =>
  Effect.map(query(server, "select fact from facts"), (rows) => assert.deepStrictEqual(rows, [{ fact: 42 }]))

describe("an embedded Postgres and its users", () => {
  it.live.skipIf(!isRoot)("root can keep the database where nobody else may enter", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      chmodSync(join(dataDir, ".."), 0o700)
      yield* Effect.scoped(Effect.andThen(start(dataDir), learns))
      yield* Effect.andThen(start(dataDir), remembers)
    })
  )

  it("a directory where the file system has room for none is refused", () => {
    const script = join(import.meta.dirname, "EmbeddedPostgresOwner.ts")
    const child = spawnSync(process.execPath, [script, "/proc/turnpike/postgres"], {
      timeout: 20_000,
      killSignal: "SIGKILL"
    })
    assert.match(
      String(child.stdout),
      /"DataDirectory".*\/proc\/turnpike\/postgres cannot be used: .*mkdir '\/proc\/turnpike'/
    )
  })

  // The node binary of a checkout that only root may enter cannot be run by anybody else.
  const othersMayRun = isRoot && spawnSync(process.execPath, ["--version"], { uid: nobody, gid: nobody }).status === 0
  it.live.skipIf(!othersMayRun)("an ordinary user owns a database, and root can run it afterwards", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      mkdirSync(dataDir)
      chownSync(dataDir, nobody, nobody)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { line } = yield* owner(dataDir, nobody)
          assert.strictEqual(yield* line, "ready")
          const server = yield* EmbeddedPostgres.running(dataDir)
          yield* learns(server)
        })
      )
      yield* Effect.scoped(Effect.andThen(start(dataDir), remembers))
      assert.strictEqual(yield* (yield* owner(dataDir, nobody)).line, "ready")
    })
  )

  it.live.skipIf(!othersMayRun)("a user without a name is told why he gets no database, and what to do", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      mkdirSync(dataDir)
      chownSync(dataDir, 54_321, 54_321)
      assert.match(yield* (yield* owner(dataDir, 54_321)).line, /"Initialise".*54321.*a user that \/etc\/passwd knows/)
    })
  )
})
