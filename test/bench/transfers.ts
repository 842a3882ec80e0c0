import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import * as Postgres from "#layers/Postgres.ts"
import { newUuid } from "#services/NewId.ts"
import { alternate, median, ratio, report, type Round, say } from "./Bench.ts"
import { type Connection, post } from "./gateway/Connection.ts"
import { drive, expectStatus, onEach, open } from "./gateway/HttpLoad.ts"
import * as Peer from "./gateway/Peer.ts"
import * as ProcessUse from "./gateway/ProcessUse.ts"
import * as Turnpike from "./gateway/Turnpike.ts"

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5)
const millis = Number(process.env["BENCH_MILLIS"] ?? 2000)
const many = Number(process.env["BENCH_TRANSFERS"] ?? 10_000_000)
/** The parts to run; all but `size`, which fills a large database first, unless the command line names some. */
const parts = process.argv.slice(2)
const runs = (part: "rate" | "batch" | "schedules" | "size") =>
  parts.length === 0 ? part !== "size" : parts.includes(part)
const connections = 64
const wallets = 1000

const show = (label: string, results: ReadonlyArray<Round>) => {
  const middle = (of: (round: Round) => number) => median(results.map(of)).toFixed(2).padStart(7)
  const perSecond = median(results.map((round) => round.perSecond)).toFixed(0)
  say(
    `     ${label.padEnd(52)} ${perSecond.padStart(8)}/s  p50 ${middle((r) => r.p50)} ms  p99 ${middle((r) => r.p99)} ms`
  )
}

/** The database of the server, for whoever fills it or works beside it. */
const databaseOf = ({ dataDir }: Turnpike.Turnpike) =>
  Effect.map(EmbeddedPostgres.running(join(dataDir, "postgres")), Postgres.fromEmbedded)

/** Two different wallets; `hot` sends nine of ten credits to one of them. */
const pairOf = (ids: ReadonlyArray<string>, hot: boolean): readonly [string, string] => {
  const from = 1 + Math.floor(Math.random() * (ids.length - 1))
  const to = hot && Math.random() < 0.9 ? 0 : Math.floor(Math.random() * ids.length)
  return from === to ? pairOf(ids, hot) : [ids[from] ?? "", ids[to] ?? ""]
}

const transferring =
  (ids: ReadonlyArray<string>, authorization: string, hot: boolean) =>
  async (connection: Connection): Promise<boolean> => {
    const [from, to] = pairOf(ids, hot)
    const body = `{"type":"internal","from_wallet_id":"${from}","to_wallet_id":"${to}","amount":"0.000001","currency":"USDC","idempotency_key":"${newUuid()}"}`
    const answer = expectStatus(201, await connection.exchange(post("/v1/transfers", body, authorization)))
    if (!/"status":"completed"/.test(answer.body)) throw new Error(answer.body)
    return true
  }

/** What one request costs the server and its Postgres, in milliseconds of processor. */
const spending = <E, R>(server: Turnpike.Turnpike, spent: Array<string>, stretch: Effect.Effect<Round, E, R>) =>
  Effect.gen(function* () {
    const use = () => [
      ProcessUse.processorSeconds([server.pid]),
      ProcessUse.processorSeconds(ProcessUse.descendants(server.pid))
    ]
    const [before, started] = [use(), performance.now()]
    const round = yield* stretch
    const made = (round.perSecond * (performance.now() - started)) / 1000
    spent.push(
      use()
        .map((after, index) => (((after - (before[index] ?? 0)) * 1000) / made).toFixed(3))
        .join(" and ")
    )
    return round
  })

const plainTables = (ids: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE plain_accounts (id uuid PRIMARY KEY, balance bigint CHECK (balance >= 0)) WITH (fillfactor = 50)`
    yield* sql`INSERT INTO plain_accounts SELECT id, 1000000000000 FROM unnest(${ids}::uuid[]) AS id`
    yield* sql`CREATE TABLE plain_transfers (id uuid PRIMARY KEY, debit uuid, credit uuid, amount bigint, status text, created_at timestamptz DEFAULT now())`
    yield* sql`CREATE TABLE plain_entries (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, transfer uuid, account uuid, amount bigint)`
    yield* sql`CREATE TABLE plain_outbox (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, type text, data jsonb)`
    yield* sql`CREATE TABLE plain_keys (key text PRIMARY KEY, transfer uuid, result jsonb)`
    yield* sql`VACUUM ANALYZE`
  })

/** The server's wallets, as many as we measure with, each with more money than it will spend. */
const makeWallets = (server: Turnpike.Turnpike, authorization: string) =>
  Effect.gen(function* () {
    const ids: Array<string> = []
    yield* onEach(server.port, 32, async (connection) => {
      while (ids.length < wallets) {
        const place = ids.push("") - 1
        const made = expectStatus(201, await connection.exchange(post("/v1/wallets", "{}", authorization)))
        const id = /"id":"(wal_[a-z0-9]+)"/.exec(made.body)?.[1] ?? ""
        expectStatus(
          201,
          await connection.exchange(
            post(`/v1/wallets/${id}/fund`, '{"amount":"10000.00","currency":"USDC"}', authorization)
          )
        )
        ids[place] = id
      }
    })
    return ids
  })

const rate = (server: Turnpike.Turnpike, ids: ReadonlyArray<string>, authorization: string) =>
  Effect.gen(function* () {
    const config = yield* databaseOf(server)
    const plainIds = ids.map(() => newUuid())
    yield* Effect.provideServiceEffect(plainTables(plainIds), SqlClient.SqlClient, PgClient.makeClient(config))
    const echoPort = yield* Peer.start("echo", {})
    const plainPort = yield* Peer.start("plain", { config })
    const at = (port: number, work: (connection: Connection) => Promise<boolean>) =>
      drive({ port, connections, millis, work })
    const spent: Array<string> = []
    const {
      echo = [],
      ours = [],
      oursHot = [],
      plain = [],
      plainHot = []
    } = yield* alternate(rounds, {
      ours: spending(server, spent, at(server.port, transferring(ids, authorization, false))),
      plain: at(plainPort, transferring(plainIds, authorization, false)),
      oursHot: at(server.port, transferring(ids, authorization, true)),
      plainHot: at(plainPort, transferring(plainIds, authorization, true)),
      echo: at(echoPort, async (connection) => {
        const [from, to] = pairOf(ids, false)
        const body = `{"type":"internal","from_wallet_id":"${from}","to_wallet_id":"${to}","amount":"0.000001","currency":"USDC","idempotency_key":"${newUuid()}"}`
        expectStatus(201, await connection.exchange(post("/v1/transfers", body, authorization)))
        return true
      })
    })
    say(`\nPOST /v1/transfers, internal, ${connections} connections, ${wallets} wallets`)
    show("turnpike", ours)
    show("turnpike, nine of ten credits to one wallet", oursHot)
    show("plain server, one transaction per transfer", plain)
    show("the same, nine of ten credits to one wallet", plainHot)
    show("bare node:http that parses and echoes", echo)
    say(`     a transfer costs ${spent.at(-1)} ms of processor in the server and in Postgres`)
    report("transfers/s against the bare echo", ratio(ours, echo), 0.2, "at least")
    report("transfers/s against the plain server", ratio(ours, plain), 3, "at least")
    report("the same, nine of ten credits to one wallet", ratio(oursHot, plainHot), 8, "at least")
    report("p99 of a transfer in its medians", median(ours.map(({ p50, p99 }) => p99 / p50)), 4, "at most")
  })

const batch = (server: Turnpike.Turnpike, ids: ReadonlyArray<string>, authorization: string) =>
  Effect.gen(function* () {
    const times: Array<number> = []
    const [connection] = yield* open(server.port, 1)
    for (let round = -2; round < Math.max(5, rounds * 3); round++) {
      const [from] = pairOf(ids, false)
      const others = ids.filter((id) => id !== from)
      const items = Array.from(
        { length: 1000 },
        (_, index) => `{"to_wallet_id":"${others[index % others.length]}","amount":"0.000001","currency":"USDC"}`
      )
      const body = `{"from_wallet_id":"${from}","idempotency_key":"${newUuid()}","transfers":[${items.join(",")}]}`
      const before = performance.now()
      const answer = yield* Effect.promise(() => connection.exchange(post("/v1/transfers/batch", body, authorization)))
      if (round >= 0) times.push(performance.now() - before)
      if (!/"completed":1000/.test(expectStatus(201, answer).body)) throw new Error(answer.body.slice(0, 500))
    }
    say("\nPOST /v1/transfers/batch, 1,000 items")
    report("median of a batch", median(times), 250, "at most", "ms")
  })

/** One-shot schedules for one second, and two servers of which either may execute them. */
const schedules = (server: Turnpike.Turnpike, ids: ReadonlyArray<string>, authorization: string) =>
  Effect.gen(function* () {
    const { database, socketDir, username } = yield* EmbeddedPostgres.running(join(server.dataDir, "postgres"))
    const url = `postgres://${username}@localhost/${database}?host=${encodeURIComponent(socketDir)}`
    const dataDir = yield* Turnpike.temporaryData
    yield* Turnpike.start(dataDir, url)
    const sql = yield* PgClient.makeClient(yield* databaseOf(server))
    const due = new Date(Math.ceil(Date.now() / 1000) * 1000 + 20_000).toISOString()
    let left = 1000
    yield* onEach(server.port, 16, async (connection) => {
      while (left-- > 0) {
        const [from, to] = pairOf(ids, false)
        const body = `{"from_wallet_id":"${from}","to_wallet_id":"${to}","amount":"0.000001","currency":"USDC","scheduled_at":"${due}"}`
        expectStatus(201, await connection.exchange(post("/v1/scheduled-transfers", body, authorization)))
      }
    })
    const made = sql`SELECT count(*)::int AS made, count(DISTINCT initiated_by_id)::int AS different,
        extract(epoch FROM max(created_at) - ${due}::timestamptz)::float8 AS last,
        extract(epoch FROM min(created_at) - ${due}::timestamptz)::float8 AS first
      FROM transfers WHERE scheduled_at = ${due}::timestamptz AND status = 'completed'`
    const [all] = yield* Effect.repeat(made, {
      until: ([row]) => Number(row?.["made"]) >= 1000 || Date.now() > Date.parse(due) + 60_000,
      schedule: Schedule.spaced("500 millis")
    })
    say(
      `\n1,000 schedules due in one second, two servers: the first executed after ${Number(all?.["first"]).toFixed(1)} s`
    )
    report("executed", Number(all?.["made"]), 1000, "at most", "")
    report("executed at least once", Number(all?.["different"]), 1000, "at least", "")
    report("the last of them after its time (one poll of 30 s and 5 s)", Number(all?.["last"]), 35, "at most", "s")
  })

/** Does something while the indexes of these tables that only make reading fast are away: a filled table is indexed faster than filled. */
const withoutIndexes = <E, R>(tables: ReadonlyArray<string>, filling: Effect.Effect<void, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const indexes = yield* sql<{ name: string; definition: string }>`SELECT i.indexrelid::regclass::text AS name,
        pg_get_indexdef(i.indexrelid) AS definition
      FROM pg_index i WHERE i.indrelid::regclass::text IN ${sql.in(tables)} AND NOT i.indisunique`
    yield* Effect.forEach(indexes, ({ name }) => sql.unsafe(`DROP INDEX ${name}`))
    yield* filling
    yield* Effect.forEach(indexes, ({ definition }) => sql.unsafe(definition))
  })

/** Adds completed transfers with their movements and facts, straight into the tables. */
const fill = (count: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* withoutIndexes(
      ["events", "movements", "transfers"],
      Effect.gen(function* () {
        const step = 250_000
        for (let from = 0; from < count; from += step) yield* fillStep(from, Math.min(from + step, count) - 1)
      })
    )
    yield* sql`VACUUM ANALYZE`
  })

const fillStep = (from: number, until: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`WITH w AS MATERIALIZED (
        SELECT w.id, w.tenant_id, w.owner_id, a.key, row_number() OVER (ORDER BY w.id) - 1 AS place
        FROM wallets w JOIN ledger_accounts a ON a.id = w.id
      ), made AS MATERIALIZED (
        SELECT n, ('01900000-' || lpad(to_hex(n / 65536), 4, '0') || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS id,
          f.tenant_id, f.id AS payer, f.owner_id, f.key AS debit, t.id AS payee, t.key AS credit
        FROM generate_series(${from}::bigint, ${until}::bigint) AS n
        JOIN w f ON f.place = n % ${wallets}::bigint JOIN w t ON t.place = (n * 7 + 1) % ${wallets}::bigint
        WHERE f.id <> t.id ORDER BY n
      ), facts AS (
        INSERT INTO events (seq, id, tenant_id, type, data, created_at)
        SELECT -n - 1, id, tenant_id, 'transfer.completed', jsonb_build_object('transfer', jsonb_build_object('id', id)), now() FROM made
      ), lines AS (
        INSERT INTO movements (seq, command_id, step, kind, debit, credit, amount, debit_posted, debit_held, credit_posted, code, created_at)
        SELECT -n - 1, id, 0, 'transfer', debit, credit, 1, 0, 0, 0, 'transfer', now() FROM made
      )
      INSERT INTO transfers (id, tenant_id, type, status, amount, currency, from_wallet_id, to_wallet_id, from_account_id,
        to_account_id, fee, initiated_by_type, initiated_by_id, protocol, protocol_metadata, created_at, updated_at, completed_at)
      SELECT id, tenant_id, 'internal', 'completed', 1, 'USDC', payer, payee, owner_id, owner_id, 0, 'api_key', 'key', 'internal', '{}',
        now(), now(), now() FROM made`
  })

/** Two servers, one of which has made very many transfers before. */
const size = Effect.gen(function* () {
  const side = (count: number) =>
    Effect.gen(function* () {
      const server = yield* Turnpike.start(yield* Turnpike.temporaryData)
      const authorization = bearer(server)
      const ids = yield* makeWallets(server, authorization)
      const config = yield* databaseOf(server)
      const slow = {
        ...config,
        startupParameters: { statement_timeout: "0", synchronous_commit: "off", maintenance_work_mem: "1GB" }
      }
      yield* Effect.provideServiceEffect(fill(count), SqlClient.SqlClient, PgClient.makeClient(slow))
      return drive({ port: server.port, connections, millis, work: transferring(ids, authorization, false) })
    })
  say(`\nfilling one database with 10000 transfers and one with ${many}`)
  const { few = [], full = [] } = yield* alternate(rounds, { full: yield* side(many), few: yield* side(10_000) })
  show("turnpike, 10,000 transfers made before", few)
  show(`turnpike, ${many} transfers made before`, full)
  report(`transfers/s at ${many} transfers against 10000`, ratio(full, few), 0.8, "at least")
})

const bearer = ({ credentials }: Turnpike.Turnpike) => `Authorization: Bearer ${credentials.api_key}\r\n`

const main = Effect.gen(function* () {
  if (runs("rate") || runs("batch") || runs("schedules")) {
    yield* Effect.scoped(
      Effect.gen(function* () {
        const server = yield* Turnpike.start(yield* Turnpike.temporaryData)
        const authorization = bearer(server)
        const ids = yield* makeWallets(server, authorization)
        if (runs("rate")) yield* Effect.scoped(rate(server, ids, authorization))
        if (runs("batch")) yield* Effect.scoped(batch(server, ids, authorization))
        if (runs("schedules")) yield* Effect.scoped(schedules(server, ids, authorization))
      })
    )
  }
  if (runs("size")) yield* Effect.scoped(size)
})

NodeRuntime.runMain(main.pipe(Effect.scoped, Effect.provide(Reactivity.layer)))
