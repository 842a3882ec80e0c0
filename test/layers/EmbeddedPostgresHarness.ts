import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, References } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { spawn } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"

const settings = { fsync: "off", shared_buffers: "16MB" }

/** Where a database may be made, whoever runs it. */
export const directory = Effect.acquireRelease(
  Effect.sync(() => {
    const parent = mkdtempSync(join(tmpdir(), "turnpike-embedded-"))
    chmodSync(parent, 0o711)
    return join(parent, "postgres")
  }),
  (dataDir) =>
    Effect.ignore(EmbeddedPostgres.discard(dataDir)).pipe(
      Effect.andThen(Effect.sync(() => rmSync(join(dataDir, ".."), { recursive: true, force: true })))
    )
)

export const query = (server: EmbeddedPostgres.Connection, statement: string) =>
  PgClient.makeClient({ path: server.socketPath, username: server.username, database: server.database }).pipe(
    Effect.flatMap((sql) => sql.unsafe(statement)),
    Effect.scoped,
    Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make)
  )

export const start = (dataDir: string) =>
  Effect.provideService(EmbeddedPostgres.make({ dataDir, settings }), References.MinimumLogLevel, "None")

/** Another process that makes the data directory its own; answers with the first line it prints. */
export const owner = (dataDir: string, uid?: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const script = fileURLToPath(new URL("./EmbeddedPostgresOwner.ts", import.meta.url))
      const child = spawn(process.execPath, [script, dataDir], {
        stdio: ["ignore", "pipe", "inherit"],
        ...(uid === undefined ? {} : { uid, gid: uid })
      })
      const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()))
      const line = new Promise<string>((resolve) => child.stdout.once("data", (chunk) => resolve(String(chunk).trim())))
      return { child, pid: child.pid ?? 0, line: Effect.promise(() => line), exited: Effect.promise(() => exited) }
    }),
    ({ child, exited }) =>
      Effect.andThen(
        Effect.sync(() => child.kill("SIGTERM")),
        exited
      )
  )
