import { Effect } from "effect"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"

// A process that owns a data directory until it is told to stop or killed. Prints `ready` or the error as JSON.
const dataDir = process.argv[2] ?? ""
const stopped = new Promise<void>((resolve) => process.once("SIGTERM", () => resolve()))
const settings = { fsync: "off", shared_buffers: "16MB" }
await Effect.runPromise(
  EmbeddedPostgres.make({ dataDir, settings }).pipe(
    Effect.tap(() => Effect.sync(() => process.stdout.write("ready\n"))),
    Effect.andThen(Effect.promise(() => stopped)),
    Effect.catchTag("EmbeddedPostgresError", ({ reason, message, ownerPid }) =>
      Effect.sync(() => process.stdout.write(`${JSON.stringify({ reason, message, ownerPid })}\n`))
    ),
    Effect.scoped
  )
)
process.exit(0)
