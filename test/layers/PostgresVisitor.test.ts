import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Ownership from "#layers/EmbeddedPostgres/Ownership.ts"
import * as Node from "#layers/Node.ts"
import * as Postgres from "#layers/Postgres.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "turnpike-visitor-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

it.live("a command is told of a server whose Postgres is down that it is, and not to stop that server", () =>
  Effect.gen(function* () {
    const dataDir = yield* directory
    const postgres = join(dataDir, "postgres")
    mkdirSync(join(postgres, "cluster"), { recursive: true })
    yield* Ownership.claim(postgres)
    const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ TURNPIKE_DATA_DIR: dataDir }))
    const cause = yield* Effect.sandbox(
      Layer.build(Layer.fresh(Postgres.layerVisitor).pipe(Layer.provide(settings)))
    ).pipe(Effect.flip)
    const why = Node.reasonOf(cause)
    assert.include(why, `(process ${process.pid}) has no database at the moment`)
    assert.include(why, join(postgres, "postgres.log"))
    assert.notInclude(why, "Stop that one")
  })
)
