import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { systemAccount } from "#domain/LedgerAccount.ts"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { turnpikeFlags } from "../../scripts/cluster/Start.ts"
import { alternate, load, ratio, report, say } from "./Bench.ts"

/** Whether the ledger stays as fast, and the doctor as bounded, when the log is long. */

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5)
const millis = Number(process.env["BENCH_MILLIS"] ?? 2000)
const long = Number(process.env["BENCH_MOVEMENTS"] ?? 10_000_000)
const short = 10_000
const wallets = 10_000
const issuance = systemAccount("issuance", "USDC")

/** A database of its own with so many movements: faucet money, one unit after the other round the wallets. */
const filled = (server: EmbeddedPostgres.Connection, name: string, movements: number) =>
  Effect.gen(function* () {
    const admin = yield* PgClient.makeClient(Postgres.fromEmbedded(server))
    yield* admin.unsafe(`CREATE DATABASE ${name}`)
    const config = { ...Postgres.fromEmbedded(server), database: name }
    yield* Postgres.prepare(config)
    const sql = yield* PgClient.makeClient({
      ...config,
      startupParameters: { statement_timeout: "0", synchronous_commit: "off" }
    })
    const ids = Array.from({ length: wallets }, newUuid)
    yield* sql`INSERT INTO ledger_accounts (id, purpose, currency) SELECT id, 'wallet', 'USDC' FROM unnest(${ids}::uuid[]) AS id`
    const step = 500_000
    for (let from = 0; from < movements; from += step) {
      yield* sql`INSERT INTO movements (seq, command_id, step, kind, debit, credit, amount, debit_posted, debit_held, credit_posted, code, created_at)
        SELECT n + 1, ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 0, 'transfer', i.key, first.key + n % ${wallets}, 1,
          -n - 1, 0, n / ${wallets} + 1, 'faucet', now()
        FROM generate_series(${from}::bigint, ${Math.min(from + step, movements) - 1}::bigint) AS n,
          (SELECT key FROM ledger_accounts WHERE id = ${issuance}) AS i,
          (SELECT min(key) AS key FROM ledger_accounts WHERE purpose = 'wallet') AS first`
    }
    yield* sql`UPDATE ledger_accounts a SET posted = e.sum FROM (
        SELECT credit AS key, sum(amount) AS sum FROM movements GROUP BY credit
        UNION ALL SELECT debit, -sum(amount) FROM movements GROUP BY debit
      ) e WHERE a.key = e.key`
    yield* sql`UPDATE ledger_head SET movement_seq = ${movements}`
    yield* sql`VACUUM ANALYZE`
    return { config, ids }
  })

const opened = (config: PgClient.PgClientConfig) =>
  Layer.build(
    Ledger.layer.pipe(
      Layer.provide(PgClient.layer(config)),
      Layer.provide(Layer.succeed(Database, { config, embedded: true }))
    )
  )

const transfers = ({
  config,
  ids
}: {
  readonly config: PgClient.PgClientConfig
  readonly ids: ReadonlyArray<string>
}) =>
  Effect.gen(function* () {
    const services = yield* opened(config)
    const { post } = yield* Effect.provide(Ledger, services)
    const work = () => {
      const index = Math.floor(Math.random() * wallets)
      return post({
        id: newUuid(),
        steps: [
          { kind: "transfer", debit: issuance, credit: ids[index] ?? "", amount: 1n, currency: "USDC", code: "bench" }
        ]
      })
    }
    return load({ concurrency: 64, millis, work })
  })

/** `npm run turnpike -- doctor` as a process of its own, with the peak of its memory. */
const doctorAt = async (server: EmbeddedPostgres.Connection, database: string) => {
  const url = `postgres://${server.username}@localhost/${database}?host=${encodeURIComponent(server.socketDir)}`
  const started = performance.now()
  const child = spawn(process.execPath, [...turnpikeFlags, join(import.meta.dirname, "../../src/cli.ts"), "doctor"], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ["ignore", "pipe", "inherit"]
  })
  let output = ""
  child.stdout.on("data", (chunk) => (output += chunk))
  let peak = 0
  const watch = setInterval(() => {
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8")
    peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1000)
  }, 100)
  const [code] = await once(child, "exit")
  clearInterval(watch)
  return { code: Number(code), output, peak, seconds: (performance.now() - started) / 1000 }
}

const main = Effect.gen(function* () {
  const dataDir = mkdtempSync(join(tmpdir(), "turnpike-bench-"))
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dataDir, { recursive: true, force: true })))
  const server = yield* EmbeddedPostgres.make({ dataDir, settings: { max_wal_size: "8GB" } })
  say(`filling one database with ${short} movements and one with ${long}`)
  const small = yield* transfers(yield* filled(server, "short", short))
  const large = yield* transfers(yield* filled(server, "long", long))
  const { few = [], many = [] } = yield* alternate(rounds, { many: large, few: small })
  report(`transfers/s at ${long} movements against ${short}`, ratio(many, few), 0.8, "at least")

  const { code, output, peak, seconds } = yield* Effect.promise(() => doctorAt(server, "long"))
  say(output.trimEnd().replaceAll(/^/gm, "     "))
  report("exit code of the doctor", code, 0, "at most", "")
  report(`doctor at ${long} movements`, seconds, 60, "at most", "s")
  report("its peak resident memory", peak, 200, "at most", "MB")
})

await Effect.runPromise(main.pipe(Effect.scoped, Effect.provide(Reactivity.layer)))
