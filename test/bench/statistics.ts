import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Layer, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { toTypeId } from "#domain/Ids.ts"
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
import { newUuid } from "#services/NewId.ts"
import { Statistics } from "#services/Statistics.ts"
import { Tenants } from "#services/Tenants.ts"
import { Wallets } from "#services/Wallets.ts"
import { alternate, load, median, ratio, report, say } from "./Bench.ts"

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

/**
 * A database of its own with an endpoint and so many payments: of a hundredth as many payers, over the last thirty days, a tenth
 * of them failed.
 */
const filled = Effect.fnUntraced(function* (server: EmbeddedPostgres.Connection, name: string, payments: number) {
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
  const { endpoint, seller, statistics, till } = shop
  const payers = Array.from({ length: payments / 100 }, newUuid)
  const shown = payers.map((payer) => toTypeId("wal", payer))
  yield* sql`CREATE TABLE bench_payers (place int PRIMARY KEY, id uuid NOT NULL, shown text NOT NULL)`
  for (let from = 0; from < payers.length; from += 10_000) {
    yield* sql`INSERT INTO bench_payers SELECT ${from} + place, id, shown
      FROM unnest(${payers.slice(from, from + 10_000)}::uuid[], ${shown.slice(from, from + 10_000)}::text[])
        WITH ORDINALITY AS one (id, shown, place)`
  }
  const step = 100_000
  for (let from = 0; from < payments; from += step) {
    const upTo = Math.min(from + step, payments) - 1
    // Payers come by chance, some more often than others; time goes up to now, where it is thickest: every window has many.
    yield* sql`WITH calls AS MATERIALIZED (
        SELECT n, gen_random_uuid() AS id, 1 + floor(power(random(), 2) * ${payers.length})::int AS place,
          now() - interval '30 days' * power(1 - n::float8 / ${payments}, 4) AS at, n % 10 = 9 AS failed,
          (5 + 40 * random() + 2000 * power(random(), 20))::int AS ms
        FROM generate_series(${from}::bigint, ${upTo}::bigint) AS n
      ), called AS MATERIALIZED (
        SELECT c.*, p.id AS payer_id, p.shown FROM calls c JOIN bench_payers p USING (place)
      ), paid AS (
        INSERT INTO payments (id, tenant_id, endpoint_id, protocol, rail, payer_id, payee_wallet_id, method, currency, network,
          price, amount, charged, state, attempt, proof_expires_at, origin_status, origin_ms, failure, created_at, completed_at)
        SELECT id, ${seller.tenant_id}, ${endpoint.id}, 'native', 'ledger', payer_id, ${till}, 'GET', 'USDC',
          'solana-devnet', '{"base":"10000","tiers":[]}', 10000, CASE WHEN failed THEN NULL ELSE 10000 END,
          CASE WHEN failed THEN 'expired' ELSE 'captured' END, 1, at, CASE WHEN failed THEN 503 ELSE 200 END, ms,
          CASE WHEN failed THEN 'origin_status' END, at, CASE WHEN failed THEN NULL ELSE at END
        FROM called
      )
      INSERT INTO events (seq, id, tenant_id, type, data, created_at)
      SELECT n + 1, gen_random_uuid(), ${seller.tenant_id},
        CASE WHEN failed THEN 'x402.payment.failed' ELSE 'x402.payment.completed' END,
        jsonb_build_object('payment', jsonb_build_object('id', id, 'endpoint_id', ${endpoint.id}::text,
          'payer_wallet_id', shown, 'amount', '0.01', 'charged', CASE WHEN failed THEN NULL ELSE '0.01' END,
          'currency', 'USDC', 'network', 'solana-devnet', 'method', 'GET', 'origin_ms', ms,
          'failure', CASE WHEN failed THEN 'origin_status' END, 'created_at', at)), at
      FROM called`
  }
  yield* sql`UPDATE ledger_head SET event_seq = ${payments}`
  const started = performance.now()
  yield* Effect.repeat(statistics.rollUp, { while: (passed) => passed > 0 })
  const seconds = (performance.now() - started) / 1000
  say(`     ${payments} payments of ${payers.length} payers: counted ${Math.round(payments / seconds)} events a second`)
  yield* statistics.tidy
  yield* sql`VACUUM ANALYZE`
  return { ...shop, sql, payers: shown }
})
type Filled = Effect.Success<ReturnType<typeof filled>>

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
  const small = yield* filled(server, "short", short)
  const large = yield* filled(server, "long", long)
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
