import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import * as Postgres from "#layers/Postgres.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "turnpike-standby-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** What the doctor says of that database, to whom nothing else is told. */
const doctored = (server: EmbeddedPostgres.Connection) =>
  Effect.callback<{ readonly code: number | null; readonly out: string; readonly error: string }>((resume) => {
    const { PATH = "" } = process.env
    const url = new URL(`postgres://${server.username}@localhost/${server.database}`)
    url.searchParams.set("host", server.socketDir)
    const cli = join(import.meta.dirname, "../src/cli.ts")
    const env = { PATH, DATABASE_URL: url.href }
    const child = execFile(process.execPath, [cli, "doctor"], { env }, (_, out, error) =>
      resume(Effect.succeed({ code: child.exitCode, out, error }))
    )
    return Effect.sync(() => child.kill())
  })

it.live(
  "the doctor proves the books on a standby",
  () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      const serving = EmbeddedPostgres.make({ dataDir, settings: { fsync: "off" } })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* serving
          yield* Postgres.prepare(Postgres.fromEmbedded(server))
          // Its keys are made by whoever comes first.
          const first = yield* doctored(server)
          assert.strictEqual(first.code, 0, first.error)
        })
      )
      writeFileSync(join(dataDir, "cluster", "standby.signal"), "")
      const standby = yield* serving
      const { code, error, out } = yield* doctored(standby)
      assert.strictEqual(code, 0, error)
      assert.match(out, /The books are in order\.\n$/)
    }).pipe(Effect.scoped),
  { timeout: 120_000 }
)
