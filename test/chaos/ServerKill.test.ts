import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import { startLoad } from "./Load.ts"
import { compare } from "./Oracle.ts"
import { pause, type Server, startOrigin, startServer } from "./Servers.ts"

const cycles = Number(process.env["CHAOS_CYCLES"] ?? 30)

it.live(
  `two servers on one database, ${cycles} times killed at random moments under load: nothing acknowledged is lost, nothing doubled`,
  () =>
    Effect.gen(function* () {
      const dir = mkdtempSync(join(tmpdir(), "turnpike-chaos-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dir, { recursive: true, force: true })))
      const { database, socketDir, username } = yield* EmbeddedPostgres.make({ dataDir: join(dir, "postgres") })
      const url = `postgres://${username}@localhost/${database}?host=${encodeURIComponent(socketDir)}`
      const { summary, told } = yield* Effect.promise(() => underFire(url, dir))
      const counts = yield* compare(url, told)
      assert.isAbove(counts.served, cycles)
      process.stdout.write(`chaos, servers killed: ${JSON.stringify({ ...summary, ...counts })}\n`)
    }),
  { timeout: 900_000 }
)

const underFire = async (url: string, dir: string) => {
  const origin = await startOrigin()
  const start = (name: string, port?: number) =>
    startServer({
      DATABASE_URL: url,
      TURNPIKE_DATA_DIR: join(dir, name),
      TURNPIKE_ALLOW_HOSTS: `127.0.0.1:${origin.port}`,
      ...(port === undefined ? {} : { PORT: String(port) })
    })
  const servers: [Server, Server] = [await start("a"), await start("b")]
  const { account_id, api_key } = JSON.parse(readFileSync(join(dir, "a", "credentials.json"), "utf8"))
  const client = { key: api_key, bases: () => servers.map((server) => server.base) }
  const load = await startLoad(client, account_id, origin.url, 12)

  let killed = 0
  const restart = async (index: 0 | 1) => {
    const { kill, port } = servers[index]
    await kill()
    killed++
    servers[index] = await start(index === 0 ? "a" : "b", port)
  }
  for (let cycle = 0; cycle < cycles; cycle++) {
    await pause(100 + Math.random() * 500)
    if (cycle % 5 === 4) await Promise.all([restart(0), restart(1)])
    else await restart(Math.random() < 0.5 ? 0 : 1)
  }
  const told = await load.stop()
  for (const server of servers) assert.strictEqual(await server.kill("SIGTERM"), 0, "a graceful stop exits 0")
  await origin.stop()
  const originCalls = [...origin.hits.values()].reduce((sum, one) => sum + one, 0)
  return { told, summary: { killed, originCalls } }
}
