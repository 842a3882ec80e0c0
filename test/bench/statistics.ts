import * as PgClient from "@effect/sql-pg/PgClient"
import { Clock, Effect, Layer, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { Principal } from "#domain/Principal.ts"
import { StatisticsWindow } from "#domain/Statistics.ts"
import * as BusMemory from "#layers/BusMemory.ts"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import * as Platform from "#layers/Platform.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"
import { Deployment } from "#services/Deployment.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { EventLog } from "#services/EventLog.ts"
import { realTime } from "#services/RealTime.ts"
import { Statistics } from "#services/Statistics.ts"
import { Tenants } from "#services/Tenants.ts"
import { Wallets } from "#services/Wallets.ts"
import { alternate, load, median, ratio, report, say } from "./Bench.ts"
import * as History from "./statistics/History.ts"

/** Whether statistics are read as fast with many payments as with few. Set BENCH_PAYMENTS=10000000 for the whole of it. */

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5)
const millis = Number(process.env["BENCH_MILLIS"] ?? 1000)
const long = Number(process.env["BENCH_PAYMENTS"] ?? 1_000_000)
const short = 10_000

const deployment = {
  environment: "sandbox",
  publicUrl: "http://turnpike.test",
  scannerUrl: "http://turnpike.test"
} as const

/** A database of its own with an endpoint that will have so many payments, of a hundredth as many payers. */
const opened = Effect.fnUntraced(function* (server: EmbeddedPostgres.Connection, name: string, payments: number) {
  const admin = yield* PgClient.makeClient(Postgres.fromEmbedded(server))
  yield* admin.unsafe(`CREATE DATABASE ${name}`)
  const config = { ...Postgres.fromEmbedded(server), database: name }
  yield* Postgres.prepare(config)
  const services = yield* Layer.build(
    Platform.layer.pipe(
      Layer.provide([
        PgClient.layer({ ...config, maxConnections: 10 }),
        Layer.succeed(Database, { config, embedded: true }),
        Layer.succeed(Deployment, deployment),
        BusMemory.layer
      ])
    )
  )
  const shop = yield* Effect.provide(
    Effect.gen(function* () {
      const { account_id, id } = yield* (yield* Tenants).create({ name: "bench" })
      const actor = { actor_type: "api_key", actor_id: "key" } as const
      const seller = new Principal({ tenant_id: id, environment: "sandbox", account_id, scopes: ["*:*"], ...actor })
      const { id: till } = yield* (yield* Wallets).create(seller, {})
      const endpoint = yield* (yield* Endpoints).create(seller, { name: "bench", path: "/", method: "GET" })
      return { seller, till, endpoint, log: yield* EventLog, statistics: yield* Statistics }
    }),
    services
  )
  const sql = yield* PgClient.makeClient({
    ...config,
    startupParameters: { statement_timeout: "0", synchronous_commit: "off" }
  })
  const payers = payments / 100
  const shown = yield* Effect.provideService(History.prepare(payers), SqlClient.SqlClient, sql)
  return { ...shop, sql, payments, payers: shown }
})
type Filled = Effect.Success<ReturnType<typeof opened>>

const history = ({ payers, payments: all, sql, ...shop }: Filled, from: number, to: number) =>
  Effect.provideService(History.append(shop, { from, to, all, payers: payers.length }), SqlClient.SqlClient, sql)
const countAtOnce = ({ sql, ...shop }: Filled) =>
  Effect.provideService(History.countAtOnce(shop), SqlClient.SqlClient, sql)
const follow = ({ statistics }: Filled) =>
  Effect.andThen(Effect.repeat(statistics.rollUp, { while: (passed) => passed > 0 }), statistics.tidy)
const vacuum = ({ sql }: Filled) => sql`VACUUM ANALYZE`

/** All payments, of which the follower of the log counts the last ones and the others are counted at once: it would take an hour. */
const fillLong = Effect.fnUntraced(function* (large: Filled) {
  yield* history(large, 0, long - short)
  yield* countAtOnce(large)
  yield* history(large, long - short, long)
  yield* follow(large)
  yield* vacuum(large)
})

/** All payments, counted by the follower; whether counting them at once comes to the same. */
const fillShort = Effect.fnUntraced(function* (small: Filled) {
  yield* history(small, 0, short)
  const now = realTime.currentTimeMillisUnsafe()
  const still: Clock.Clock = Object.assign(Object.create(realTime), {
    currentTimeMillisUnsafe: () => now,
    currentTimeMillis: Effect.succeed(now)
  })
  const { endpoint, seller, statistics } = small
  const seen = Effect.forEach(StatisticsWindow.literals, (window) => statistics.read(seller, endpoint.id, window))
  const same = Effect.gen(function* () {
    yield* follow(small)
    const followed = yield* seen
    yield* countAtOnce(small)
    return isDeepStrictEqual(yield* seen, followed)
  }).pipe(Effect.provideService(Clock.Clock, still))
  report("windows that counting at once makes differ", Number(!(yield* same)), 0, "at most", "")
  yield* vacuum(small)
})

const reads = ({ endpoint, seller, statistics }: Filled, window: StatisticsWindow) =>
  load({ concurrency: 1, millis, work: () => statistics.read(seller, endpoint.id, window) })

/** A call that ends, and a look at the statistics that must show it. */
const callAndRead = ({ endpoint, log, payers, seller, statistics }: Filled) =>
  load({
    concurrency: 1,
    millis,
    work: (loop, turn) => {
      const payer_wallet_id = payers[(loop + 4 * turn) % payers.length]
      const payment = { endpoint_id: endpoint.id, payer_wallet_id, charged: "0.01", failure: null, origin_ms: 20 }
      const fact = { tenant_id: seller.tenant_id, type: "x402.payment.completed", data: { payment } } as const
      return Effect.andThen(log.append([fact]), statistics.read(seller, endpoint.id, "30d"))
    }
  })

const Total = Schema.Tuple([Schema.Struct({ calls: Schema.BigInt, payers: Schema.BigInt })])

/** How long the same takes when it is counted anew, in milliseconds; and whether it is the same. */
const scan = Effect.fnUntraced(function* ({ endpoint, seller, sql, statistics }: Filled) {
  const started = performance.now()
  const [{ calls, payers }] = yield* Effect.flatMap(
    sql`SELECT count(*) AS calls, count(DISTINCT payer_id) AS payers FROM payments
      WHERE endpoint_id = ${endpoint.id} AND state = 'captured'`,
    Schema.decodeUnknownEffect(Total)
  )
  const seconds = performance.now() - started
  const { totalCalls, uniquePayers } = yield* statistics.read(seller, endpoint.id, "all")
  return { millis: seconds, same: totalCalls === calls && uniquePayers === payers }
})

const main = Effect.gen(function* () {
  const dataDir = mkdtempSync(join(tmpdir(), "turnpike-bench-"))
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dataDir, { recursive: true, force: true })))
  const server = yield* EmbeddedPostgres.make({ dataDir, settings: { max_wal_size: "8GB" } })
  say(`filling one database with ${short} payments and one with ${long}`)
  const small = yield* opened(server, "short", short)
  const large = yield* opened(server, "long", long)
  yield* fillShort(small)
  yield* fillLong(large)
  const anew = yield* scan(large)
  report("statistics differ from the payments themselves", Number(!anew.same), 0, "at most", "")
  say(`     counting ${long} payments anew: ${anew.millis.toFixed(0)} ms`)
  for (const window of StatisticsWindow.literals) {
    const { few = [], many = [] } = yield* alternate(rounds, { many: reads(large, window), few: reads(small, window) })
    const each = `${median(many.map(({ p50 }) => p50)).toFixed(2)} ms against ${median(few.map(({ p50 }) => p50)).toFixed(2)} ms`
    report(
      `reading ${window}: ${each}`,
      ratio(many, few, ({ p50 }) => p50),
      1.25,
      "at most"
    )
  }
  const { few = [], many = [] } = yield* alternate(rounds, { many: callAndRead(large), few: callAndRead(small) })
  const each = `${median(many.map(({ p50 }) => p50)).toFixed(2)} ms against ${median(few.map(({ p50 }) => p50)).toFixed(2)} ms`
  report(
    `a call and a look at it: ${each}`,
    ratio(many, few, ({ p50 }) => p50),
    1.25,
    "at most"
  )
})

await Effect.runPromise(main.pipe(Effect.scoped, Effect.provide(Reactivity.layer)))
