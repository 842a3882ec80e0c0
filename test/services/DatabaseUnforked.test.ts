import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sayingOf } from "#services/Database/Reasons.ts"
import { isDatabaseAway } from "#services/Health.ts"

/** What Postgres sends to whoever connects while its machine has no room for another process, in English and in German. */
const answers = [
  "Ecould not fork new process for connection: Resource temporarily unavailable\n\0",
  "Ekonnte neuen Prozess für Verbindung nicht starten (fork-Fehler): Die Ressource ist zur Zeit nicht verfügbar\n\0"
]

it.live.each(answers)(
  "a Postgres that can make no process for a connection is away, and that is what is said of it",
  (answer) =>
    Effect.gen(function* () {
      const directory = mkdtempSync(join(tmpdir(), "turnpike-unforked-"))
      const path = join(directory, "socket")
      const server = createServer((socket) => socket.on("error", () => {}).end(answer))
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          server.close()
          rmSync(directory, { recursive: true, force: true })
        })
      )
      yield* Effect.callback<void>((resume) => {
        server.listen(path, () => resume(Effect.void))
      })
      const error = yield* Effect.flip(PgClient.makeClient({ path, username: "turnpike", database: "postgres" }))
      assert.isTrue(isDatabaseAway(error))
      assert.strictEqual(sayingOf(error), "Postgres could make no process for another connection; its log says why")
    }).pipe(Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make))
)
