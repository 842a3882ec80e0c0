import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable } from "node:stream"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"
import { startServer } from "../chaos/Servers.ts"
import { listening } from "../layers/Listening.ts"

const dataDir = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "turnpike-demo-"))),
  (dir) => Effect.sync(() => rmSync(dir, { recursive: true, force: true }))
)

const databaseUrl = Effect.map(Layer.build(Layer.fresh(Postgres.layerTest)), (context) =>
  Redacted.value(Context.get(context, Database).config.url ?? Redacted.make(""))
)

/** How the demo ends, and what it has said until then. */
const demo = Effect.fnUntraced(function* (
  env: Record<string, string>,
  meanwhile: (child: ChildProcessByStdio<null, Readable, Readable>) => void = () => undefined,
  args: ReadonlyArray<string> = []
) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [join(import.meta.dirname, "../../src/demo.ts"), ...args], {
        env: { ...process.env, TURNPIKE_LOG_LEVEL: "Warn", TURNPIKE_SETTLEMENT_DELAY: "0", ...env },
        stdio: ["ignore", "pipe", "pipe"]
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGTERM"))
  )
  let said = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk))
  meanwhile(child)
  const [code] = yield* Effect.promise(() => once(child, "close"))
  return { code, said }
})

const server = (env: Record<string, string>) =>
  Effect.acquireRelease(
    Effect.promise(() => startServer(env)),
    ({ kill }) => Effect.promise(() => kill("SIGTERM"))
  )

describe("the demo", () => {
  it.live("shows a paid call on a server of its own, over DATABASE_URL too", () =>
    Effect.gen(function* () {
      const env = { TURNPIKE_DATA_DIR: yield* dataDir, DATABASE_URL: yield* databaseUrl }
      const { code, said } = yield* demo(env)
      assert.include(said, "The API was called 1 time.")
      assert.strictEqual(code, 0, said)
    })
  )

  it.live("tells what it is when asked, and shows nothing when it is called wrongly", () =>
    Effect.gen(function* () {
      const env = { TURNPIKE_DATA_DIR: yield* dataDir, DATABASE_URL: "nonsense" }
      const call = (flag: string) => demo(env, undefined, [flag])
      const help = yield* call("--help")
      assert.include(help.said, "One paid call and one transfer across currencies")
      assert.strictEqual(help.code, 0)
      const wrong = yield* call("--fast")
      assert.include(wrong.said, "Unrecognized flag: --fast")
      assert.strictEqual(wrong.code, 1)
      for (const { said } of [help, wrong]) assert.notMatch(said, /the demo starts one|The demo cannot run/)
    })
  )

  it.live("stops its server also when nobody reads it to the end", () =>
    Effect.gen(function* () {
      const env = { TURNPIKE_DATA_DIR: yield* dataDir, DATABASE_URL: yield* databaseUrl }
      // It is closed when its server is, which says what it has to say in the same place.
      const { code } = yield* demo(env, (child) => child.stdout.once("data", () => child.stdout.destroy()))
      assert.strictEqual(code, 0)
    })
  )

  it.live("says why the server that runs here cannot be shown", () =>
    Effect.gen(function* () {
      const env = { TURNPIKE_DATA_DIR: yield* dataDir, DATABASE_URL: yield* databaseUrl }
      yield* server(env)
      const { code, said } = yield* demo(env)
      assert.match(said, /The demo cannot run: http:\S+ calls no API on this machine/)
      assert.notInclude(said, "    at ", "a sentence, not a stack")
      assert.strictEqual(code, 1)
    })
  )

  it.live("waits for the server that is starting here, and starts none beside it", () =>
    Effect.gen(function* () {
      let asked = 0
      const starting = createServer((_, response) => response.writeHead(++asked > 2 ? 200 : 503).end())
      const base_url = `http://${yield* listening(starting)}`
      const TURNPIKE_DATA_DIR = yield* dataDir
      const credentials = {
        base_url,
        scanner_url: base_url,
        dashboard_url: base_url,
        environment: "live",
        tenant_id: "ten_01h455vb4pex5vsknk084sn02p",
        account_id: "acc_01h455vb4pex5vsknk084sn02q",
        api_key: "pk_live_key",
        scanner_key: "psk_live_key",
        owner_email: null,
        owner_password: null
      }
      writeFileSync(join(TURNPIKE_DATA_DIR, "credentials.json"), JSON.stringify(credentials))
      const { said } = yield* demo({ TURNPIKE_DATA_DIR, DATABASE_URL: "nonsense" })
      assert.include(said, `The demo cannot run: ${base_url} takes real money`)
      assert.notInclude(said, "the demo starts one of its own")
    })
  )

  it.live("ends as soon as the server that it started has ended, with what that one said", () =>
    Effect.gen(function* () {
      const env = { TURNPIKE_DATA_DIR: yield* dataDir, DATABASE_URL: "nonsense" }
      const { code, said } = yield* demo(env)
      assert.include(said, "Turnpike cannot run: DATABASE_URL cannot be read.")
      assert.include(said, "The demo cannot run: the server that it started has ended (exit code 1)")
      assert.strictEqual(code, 1)
    })
  )
})
