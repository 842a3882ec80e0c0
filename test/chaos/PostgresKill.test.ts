import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import { startLoad } from "./Load.ts"
import { compare } from "./Oracle.ts"
import { isReady, pause, startOrigin, startServer } from "./Servers.ts"

const cycles = Number(process.env["CHAOS_CYCLES"] ?? 5)

it.live(
  `Postgres killed ${cycles} times under load: 503 with Retry-After meanwhile, recovery by itself, nothing lost`,
  () =>
    Effect.gen(function* () {
      const dir = mkdtempSync(join(tmpdir(), "turnpike-chaos-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dir, { recursive: true, force: true })))
      const origin = yield* Effect.promise(startOrigin)
      const server = yield* Effect.promise(() => startServer({ TURNPIKE_DATA_DIR: dir }))
      const { told, unready } = yield* Effect.promise(() => killing(dir, server.base, origin.url))
      const { database, socketDir, username } = yield* EmbeddedPostgres.running(join(dir, "postgres"))
      const counts = yield* compare(
        `postgres://${username}@localhost/${database}?host=${encodeURIComponent(socketDir)}`,
        told
      )
      assert.isAbove(unready, 0, "readiness told that the database was away")
      assert.isAbove(counts.served, cycles)
      process.stdout.write(`chaos, Postgres killed: ${JSON.stringify({ cycles, ...counts })}\n`)
      assert.strictEqual(yield* Effect.promise(() => server.kill("SIGTERM")), 0)
      yield* Effect.promise(origin.stop)
    }),
  { timeout: 300_000 }
)

const killing = async (dir: string, base: string, originUrl: string) => {
  const { account_id, api_key } = JSON.parse(readFileSync(join(dir, "credentials.json"), "utf8"))
  const load = await startLoad({ key: api_key, bases: () => [base] }, account_id, originUrl, 8)
  let unready = 0
  for (let cycle = 0; cycle < cycles; cycle++) {
    await pause(300 + Math.random() * 500)
    const pid = postmaster(dir)
    if (pid === undefined) throw new Error("There is no postmaster")
    process.kill(pid, "SIGKILL")
    // Back when another postmaster serves; it may be back before anybody saw it gone.
    for (let back = false; !back; await pause(5)) {
      const isAnother = ![pid, undefined].includes(postmaster(dir))
      const ready = await isReady(base)
      if (!ready) unready++
      back = ready && isAnother
    }
  }
  const told = await load.stop()
  return { told, unready }
}

/** The postmaster that there is; one that starts replaces the file of the one before it. */
const postmaster = (dir: string): number | undefined => {
  try {
    return Number(readFileSync(join(dir, "postgres", "cluster", "postmaster.pid"), "utf8").split("\n")[0]) || undefined
  } catch {
    return undefined
  }
}
