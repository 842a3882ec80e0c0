import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, chmodSync, chownSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"

// Runs tests on the oldest Postgres that is supported, which refuses statements that newer ones take, and on one that an operator has set
// up for others: it orders texts as Czech does, and writes times, intervals, bytes and floats in its own way. The npm package brings only
// the newest, so it is the system's: on Debian the package postgresql-15.

const binaries = "/usr/lib/postgresql/15/bin"

/** What posts, pays, refunds, schedules, counts and proves: every statement of money runs in one of them. */
const money = [
  "test/http/Gateway",
  "test/http/X402.test.ts",
  "test/http/Refunds",
  "test/http/Disputes",
  "test/http/Schedules",
  "test/http/Streams.test.ts",
  "test/http/Batches",
  "test/http/CrossBorder.test.ts",
  "test/http/Statistics",
  "test/http/Webhooks",
  "test/http/Scanner.test.ts",
  "test/services/Schedules",
  "test/services/Settlements",
  "test/services/Doctor",
  "test/services/MoneyStreams"
]

/** A cluster that is there decides which binaries run it. */
const initialise = (dataDir: string) => {
  const owner =
    process.getuid?.() === 0
      ? { uid: idOf("-u", "postgres"), gid: idOf("-g", "postgres") }
      : { uid: undefined, gid: undefined }
  const cluster = join(dataDir, "cluster")
  chmodSync(dataDir, 0o755)
  mkdirSync(cluster, { mode: 0o700 })
  if (owner.uid !== undefined) chownSync(cluster, owner.uid, owner.gid)
  execFileSync(
    join(binaries, "initdb"),
    [
      "--pgdata",
      cluster,
      "--username=turnpike",
      "--encoding=UTF8",
      "--locale=C",
      "--locale-provider=icu",
      "--icu-locale=cs-CZ",
      "--auth=trust",
      "--no-sync"
    ],
    { ...owner, cwd: cluster, stdio: ["ignore", "ignore", "inherit"] }
  )
}
const idOf = (which: string, user: string) => Number(execFileSync("id", [which, user], { encoding: "utf8" }))

const main = Effect.gen(function* () {
  if (!existsSync(join(binaries, "initdb"))) {
    process.stderr.write(`There is no Postgres 15 in ${binaries}: nothing was tested\n`)
    return 1
  }
  const dataDir = mkdtempSync(join(tmpdir(), "turnpike-oldest-"))
  yield* Effect.addFinalizer(() => Effect.ignore(EmbeddedPostgres.discard(dataDir)))
  yield* Effect.sync(() => initialise(dataDir))
  const settings = {
    max_connections: "300",
    fsync: "off",
    synchronous_commit: "off",
    full_page_writes: "off",
    timezone: "Asia/Kathmandu",
    datestyle: "SQL, DMY",
    intervalstyle: "sql_standard",
    bytea_output: "escape",
    extra_float_digits: "-15"
  }
  const server = yield* EmbeddedPostgres.make({ dataDir, settings })
  const url = new URL(`postgres://${server.username}@localhost/${server.database}`)
  url.searchParams.set("host", server.socketDir)
  const asked = process.argv.slice(2)
  const child = spawn(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", ...(asked.length === 0 ? money : asked)],
    {
      cwd: fileURLToPath(new URL("..", import.meta.url)),
      env: { ...process.env, TEST_DATABASE_URL: url.href },
      stdio: "inherit"
    }
  )
  const [status] = yield* Effect.promise(() => once(child, "exit"))
  return Number(status ?? 1)
}).pipe(Effect.scoped)

NodeRuntime.runMain(Effect.tap(main, (status) => Effect.sync(() => (process.exitCode = status))))
