import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { systemAccount } from "#domain/LedgerAccount.ts"
import type { PostingRefused } from "#domain/PostingRefused.ts"
import { flat } from "#domain/Price.ts"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { Doctor } from "#services/Doctor.ts"
import { alternate, arrive, load, median, ratio, report, type Round, say } from "./Bench.ts"
import * as Poster from "./ledger/Poster.ts"
import * as SyncedFile from "./ledger/SyncedFile.ts"

// The ledger has as much room for young garbage here as in a server: `npm run bench:ledger` gives node what `npm start` does.
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5)
const millis = Number(process.env["BENCH_MILLIS"] ?? 2000)
const wallets = 10_000
const tenant = newUuid()
const issuance = systemAccount("issuance", "USDC")

/** A durable server of its own: fsync, synchronous_commit and full_page_writes are on. */
const database = Layer.effect(
  Database,
  Effect.gen(function* () {
    const dataDir = mkdtempSync(join(tmpdir(), "turnpike-bench-"))
    yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dataDir, { recursive: true, force: true })))
    const server = yield* EmbeddedPostgres.make({ dataDir, settings: { max_connections: "400" } })
    const config = Postgres.fromEmbedded(server)
    yield* Postgres.prepare(config)
    return { config, embedded: true }
  })
)
const pool = PgClient.layerFrom(
  Effect.flatMap(Database, ({ config }) => PgClient.make({ ...config, maxConnections: 64, minConnections: 64 }))
)
const Bench = Layer.merge(Ledger.layer, Doctor.layer).pipe(Layer.provideMerge(pool), Layer.provideMerge(database))

const ids = Array.from({ length: wallets }, newUuid)
const any = () => ids[Math.floor(Math.random() * wallets)] ?? ""
/** Two different wallets; `hot` sends nine of ten credits to one of them. */
const pair = (hot: boolean): readonly [string, string] => {
  const debit = ids[1 + Math.floor(Math.random() * (wallets - 1))] ?? ""
  const credit = hot && Math.random() < 0.9 ? (ids[0] ?? "") : any()
  return credit === debit ? pair(hot) : [debit, credit]
}

const prepareSides = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { post } = yield* Ledger
  yield* sql`INSERT INTO ledger_accounts (id, purpose, currency)
    SELECT id, 'wallet', 'USDC' FROM unnest(${ids}::uuid[]) AS id`
  const fund = (credit: string) =>
    post({
      id: newUuid(),
      steps: [
        { kind: "transfer", debit: issuance, credit, amount: 1_000_000_000_000n, currency: "USDC", code: "faucet" }
      ]
    })
  yield* Effect.forEach(ids, fund, { concurrency: 512, discard: true })
  yield* sql`CREATE TABLE plain_accounts (key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id uuid UNIQUE, balance bigint CHECK (balance >= 0)) WITH (fillfactor = 50)`
  yield* sql`INSERT INTO plain_accounts (id, balance) SELECT id, 1000000000000 FROM unnest(${ids}::uuid[]) AS id`
  yield* sql`CREATE TABLE plain_transfers (id uuid PRIMARY KEY, debit bigint, credit bigint, amount bigint, created_at timestamptz DEFAULT now())`
  yield* sql`CREATE TABLE plain_entries (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, transfer uuid, account bigint, amount bigint)`
  yield* sql`CREATE TABLE plain_outbox (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, type text, data jsonb)`
  yield* sql`CREATE TABLE plain_keys (tenant uuid, operation text, key text, transfer uuid, PRIMARY KEY (tenant, operation, key))`
  yield* sql`VACUUM ANALYZE`
})

const fact = (id: string, debit: string, credit: string) => ({
  transfer: { id, from_wallet_id: debit, to_wallet_id: credit, amount: "0.000001" }
})

/** Our side: the same rows as the plain side, posted by the ledger. */
const ours = (hot: boolean) =>
  Effect.map(Ledger, ({ post }) => () => {
    const [debit, credit] = pair(hot)
    const id = newUuid()
    return post({
      id,
      steps: [{ kind: "transfer", debit, credit, amount: 1n, currency: "USDC", code: "bench" }],
      idempotency: { tenant_id: tenant, operation: "bench", key: id, fingerprint: id },
      result: () => ({ transfer_id: id }),
      events: () => [{ tenant_id: tenant, type: "x402.endpoint.updated", data: fact(id, debit, credit) }]
    })
  })

/** What most ledgers do: one transaction per transfer, wallets locked in order, two entries, outbox and idempotency rows. */
const oneByOne = (hot: boolean) =>
  Effect.map(SqlClient.SqlClient, (sql) => () => {
    const [debit, credit] = pair(hot)
    const id = newUuid()
    return sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`INSERT INTO plain_keys VALUES (${tenant}, 'bench', ${id}, ${id})`
        const rows =
          yield* sql`SELECT key, id, balance FROM plain_accounts WHERE id IN (${debit}, ${credit}) ORDER BY key FOR UPDATE`
        const [from, to] = [rows.find((row) => row["id"] === debit), rows.find((row) => row["id"] === credit)]
        yield* sql`UPDATE plain_accounts SET balance = balance - 1 WHERE key = ${String(from?.["key"])}`
        yield* sql`UPDATE plain_accounts SET balance = balance + 1 WHERE key = ${String(to?.["key"])}`
        yield* sql`INSERT INTO plain_transfers (id, debit, credit, amount) VALUES (${id}, ${String(from?.["key"])}, ${String(to?.["key"])}, 1)`
        yield* sql`INSERT INTO plain_entries (transfer, account, amount) VALUES (${id}, ${String(from?.["key"])}, -1), (${id}, ${String(to?.["key"])}, 1)`
        yield* sql`INSERT INTO plain_outbox (type, data) VALUES ('x402.endpoint.updated', ${JSON.stringify(fact(id, debit, credit))}::jsonb)`
      })
    )
  })

const holdAndCapture = Effect.map(Ledger, ({ post }) => () => {
  const [debit, credit] = pair(false)
  const hold = newUuid()
  const between = { debit, credit, currency: "USDC", code: "bench", hold }
  return Effect.andThen(
    post({
      id: hold,
      steps: [{ kind: "hold", ...between, price: flat(1n), expires_at: new Date(Date.now() + 60_000) }]
    }),
    post({ id: newUuid(), steps: [{ kind: "capture", ...between }] })
  )
})

const pgbench = Effect.gen(function* () {
  const { config } = yield* Database
  if (spawnSync("pgbench", ["--version"]).status !== 0 || config.path === undefined) return undefined
  const host = config.path.replace(/\/[^/]*$/, "")
  const common = ["-h", host, "-U", config.username ?? "", config.database ?? ""]
  execFileSync("pgbench", ["-i", "-q", "-s", "10", ...common], { stdio: "ignore" })
  return (clients: number) =>
    Effect.sync((): Round => {
      const output = execFileSync(
        "pgbench",
        ["-n", "-M", "prepared", "-c", String(clients), "-j", "2", "-T", String(Math.ceil(millis / 1000)), ...common],
        {
          encoding: "utf8",
          stdio: ["ignore", "pipe", "ignore"]
        }
      )
      const tps = Number(/tps = ([\d.]+)/.exec(output)?.[1])
      return { perSecond: tps, p50: NaN, p99: NaN }
    })
})

const show = (label: string, results: ReadonlyArray<Round>) => {
  const middle = (of: (round: Round) => number) => median(results.map(of))
  const perSecond = middle((r) => r.perSecond).toFixed(0)
  const times = ([name, of]: readonly [string, (round: Round) => number]) =>
    // pgbench says its rate only.
    Number.isNaN(middle(of)) ? "" : `  ${name} ${middle(of).toFixed(2).padStart(7)} ms`
  const percentiles = [["p50", (r: Round) => r.p50] as const, ["p99", (r: Round) => r.p99] as const]
  say(`     ${label.padEnd(44)} ${perSecond.padStart(8)}/s${percentiles.map(times).join("")}`)
}

/** Callers who come at their own pace, against what one durable commit takes on this cluster. */
const arrivals = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const us = yield* ours(false)
  const commit = () => sql`INSERT INTO plain_outbox (type, data) VALUES ('commit', '{}')`
  const sync = yield* SyncedFile.make
  const {
    commits = [],
    open = [],
    synced = []
  } = yield* alternate<PostingRefused | SqlError.SqlError>(rounds, {
    open: arrive({ perSecond: 3_000, millis, work: us }),
    synced: arrive({ perSecond: 3_000, millis, work: sync }),
    commits: load({ concurrency: 1, millis: millis / 2, work: commit })
  })
  say("\n3,000 transfers a second arrive")
  show("ledger", open)
  show("a file that is written and synced, nothing else", synced)
  show("one durable commit", commits)
  const inCommits = (side: ReadonlyArray<Round>) =>
    median(side.map((round, index) => round.p99 / (commits[index]?.p50 ?? NaN)))
  report("p99 of arriving transfers, in durable commits", inCommits(open), 10, "at most")
  say(`     the file alone: ${inCommits(synced).toFixed(2)}`)
}).pipe(Effect.scoped)

/** Two processes that post into one log, against one that has it for itself. */
const processes = Effect.gen(function* () {
  const { config } = yield* Database
  const [one, other] = yield* Effect.acquireRelease(
    Effect.sync(() => [Poster.start(config), Poster.start(config)] as const),
    (started) => Effect.sync(() => void started.map((process) => process.kill()))
  )
  const alone = Effect.promise(() => Poster.round(one, { concurrency: 64, millis }))
  const together = Effect.promise(async (): Promise<Round> => {
    const order = { concurrency: 32, millis }
    const [a, b] = await Promise.all([Poster.round(one, order), Poster.round(other, order)])
    return { perSecond: a.perSecond + b.perSecond, p50: Math.max(a.p50, b.p50), p99: Math.max(a.p99, b.p99) }
  })
  const { two = [], single = [] } = yield* alternate(rounds, { two: together, single: alone })
  say("\none log, 64 callers")
  show("two processes", two)
  show("one process", single)
  report("two processes against one", ratio(two, single), 0.9, "at least")
  const findings = yield* (yield* Doctor).examine
  report(
    "promises of the books that are broken after it all",
    findings.filter((one) => one.broken.length > 0).length,
    0,
    "at most",
    ""
  )
}).pipe(Effect.scoped)

/** Callers who wait for their answer: one, 64 and 256 at a time. */
const callers = (hot: boolean) =>
  Effect.gen(function* () {
    const tpcb = yield* pgbench
    const [us, them] = [yield* ours(hot), yield* oneByOne(hot)]
    const shape = hot ? "hot" : "uniform"
    for (const concurrency of [1, 64, 256]) {
      const sides: { readonly [side: string]: Effect.Effect<Round, PostingRefused | SqlError.SqlError> } = {
        ours: load({ concurrency, millis, work: us }),
        plain: load({ concurrency, millis, work: them }),
        ...(tpcb === undefined || concurrency === 1 ? {} : { pgbench: tpcb(concurrency) })
      }
      const { ours: mine = [], plain = [], pgbench: tpc } = yield* alternate(rounds, sides)
      say(`\n${shape}, concurrency ${concurrency}`)
      show("ledger", mine)
      show("one transaction per transfer", plain)
      if (tpc !== undefined) show("pgbench TPC-B", tpc)
      if (concurrency === 1) {
        report(
          `${shape}: median at concurrency 1 against one by one`,
          ratio(mine, plain, (r) => r.p50),
          1.25,
          "at most"
        )
        report(
          `${shape}: p99 at concurrency 1 against one by one`,
          ratio(mine, plain, (r) => r.p99),
          1,
          "at most"
        )
      }
      if (concurrency === 64) {
        report(`${shape}: transfers/s against one by one`, ratio(mine, plain), hot ? 12 : 5, "at least")
        report(`${shape}: p99 at 64`, median(mine.map((r) => r.p99)), 15, "at most", "ms")
        if (tpc !== undefined && !hot) report("transfers/s against pgbench TPC-B", ratio(mine, tpc), 3, "at least")
      }
    }
  })

const pairs = Effect.gen(function* () {
  const [us, holds] = [yield* ours(false), yield* holdAndCapture]
  const { pairs = [], transfers = [] } = yield* alternate(rounds, {
    pairs: load({ concurrency: 64, millis, work: holds }),
    transfers: load({ concurrency: 64, millis, work: us })
  })
  say("\nhold + capture, concurrency 64")
  show("pairs", pairs)
  report("hold + capture pairs/s against transfers/s", ratio(pairs, transfers), 0.5, "at least")
})

const parts = { uniform: callers(false), hot: callers(true), pairs, arrivals, processes }
/** The parts to run; all unless the command line names some. */
const asked = process.argv.slice(2)

const main = Effect.gen(function* () {
  yield* prepareSides
  for (const [name, part] of Object.entries(parts)) if (asked.length === 0 || asked.includes(name)) yield* part
})

await Effect.runPromise(main.pipe(Effect.provide(Bench), Effect.scoped))
