import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { type ChildProcess, fork } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { Agent } from "undici"
import { Principal } from "#domain/Principal.ts"
import { serviceSignature, standardSignature } from "#domain/WebhookSignature.ts"
import * as BusMemory from "#layers/BusMemory.ts"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import * as Platform from "#layers/Platform.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"
import { Deployment } from "#services/Deployment.ts"
import { EventLog } from "#services/EventLog.ts"
import { newUuid } from "#services/NewId.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { Tenants } from "#services/Tenants.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { bodyOf, headersOf } from "#services/WebhookDeliveries/Message.ts"
import { Webhooks } from "#services/Webhooks.ts"
import { alternate, median, percentile, ratio, report, type Round, say } from "./Bench.ts"
import * as ProcessUse from "./gateway/ProcessUse.ts"

/** What it takes to deliver events, against a bare loop that signs and posts the same bodies to the same receivers. */

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5)
/** How many facts a round commits, for 100 subscriptions. */
const events = Number(process.env["BENCH_EVENTS"] ?? 100)
const subscriptions = 100
/** How many facts are committed a second, and for how many seconds, where latencies are measured. */
const pace = Number(process.env["BENCH_PACE"] ?? 4)
const seconds = Number(process.env["BENCH_SECONDS"] ?? 20)
const finished = 30_000

type Receipt = readonly [number: number, receiver: number, at: number]
const now = () => performance.timeOrigin + performance.now()

/** The receivers, in a process of their own. */
const receivers = Effect.gen(function* () {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => fork(fileURLToPath(new URL("webhooks/receivers.ts", import.meta.url)))),
    (child) => Effect.promise(() => stopped(child))
  )
  const [port] = yield* Effect.promise(() => once(child, "message"))
  const ask = async (what: "hang" | "heal" | "more"): Promise<ReadonlyArray<Receipt>> => {
    const answer = once(child, "message")
    child.send(what)
    const [receipts] = await answer
    return receipts
  }
  return { port: Number(port), ask, pid: child.pid }
})
type Receivers = Effect.Success<typeof receivers>

const stopped = async (child: ChildProcess) => {
  const ended = once(child, "exit")
  child.kill("SIGKILL")
  await ended
}

/** The platform with the worker of webhooks, over a server of its own; and a tenant with its subscriptions. */
const platform = Effect.fnUntraced(function* (port: number) {
  const dataDir = mkdtempSync(join(tmpdir(), "turnpike-bench-"))
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dataDir, { recursive: true, force: true })))
  const server = yield* EmbeddedPostgres.make({ dataDir, settings: { max_wal_size: "4GB" } })
  const config = Postgres.fromEmbedded(server)
  yield* Postgres.prepare(config)
  const deployment = {
    environment: "sandbox",
    publicUrl: "http://turnpike.test",
    scannerUrl: "http://turnpike.test"
  } as const
  const outbound = { ...PublicHttpPolicy.defaultValue(), allowLoopback: true }
  const services = yield* Layer.build(
    WebhookDeliveries.layerWorker.pipe(
      Layer.provideMerge(Platform.layer),
      Layer.provide(Layer.succeed(PublicHttpPolicy, outbound)),
      Layer.provideMerge(PgClient.layer({ ...config, maxConnections: 10 })),
      Layer.provide([
        Layer.succeed(Database, { config, embedded: true }),
        Layer.succeed(Deployment, deployment),
        BusMemory.layer
      ])
    )
  )
  return yield* Effect.provide(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { append } = yield* EventLog
      const { account_id, id } = yield* (yield* Tenants).create({ name: "bench" })
      const actor = { actor_type: "api_key", actor_id: "key" } as const
      const caller = new Principal({ tenant_id: id, environment: "sandbox", account_id, scopes: ["*:*"], ...actor })
      const { create } = yield* Webhooks
      for (let place = 0; place < subscriptions; place++) {
        yield* create(caller, { url: `http://127.0.0.1:${port}/hooks/${place}`, events: ["transfer.*"] })
      }
      const fact = (number: number) => ({ tenant_id: id, type: "transfer.completed", data: dataOf(number) }) as const
      return { sql, commit: (numbers: ReadonlyArray<number>) => append(numbers.map(fact)) }
    }),
    services
  )
})
type Bench = Effect.Success<ReturnType<typeof platform>>

const dataOf = (number: number) => ({
  number,
  transfer: {
    id: "tx_01jd8z7h4xe8ct1w2k8a9rqkz3",
    type: "internal",
    status: "completed",
    amount: "12.50",
    currency: "USDC",
    from_wallet_id: "wal_01jd8z7h4xe8ct1w2k8a9rqkz4",
    to_wallet_id: "wal_01jd8z7h4xe8ct1w2k8a9rqkz5",
    fee: "0",
    created_at: "2026-01-01T00:00:00.000Z",
    completed_at: "2026-01-01T00:00:00.000Z"
  }
})

/** Everything that came until this many had. */
const gather = async ({ ask }: Receivers, count: number): Promise<ReadonlyArray<Receipt>> => {
  const all: Array<Receipt> = []
  while (all.length < count) {
    await setTimeout(20)
    all.push(...(await ask("more")))
  }
  return all
}
const roundOf = (receipts: ReadonlyArray<Receipt>, since: (number: number) => number, began: number): Round => {
  const latencies = receipts.map(([number, , at]) => at - since(number))
  const end = receipts.reduce((latest, [, , at]) => Math.max(latest, at), began)
  return {
    perSecond: (receipts.length * 1000) / (end - began),
    p50: median(latencies),
    p99: percentile(latencies, 0.99)
  }
}

let numbers = 0
const ours = (bench: Bench, all: Receivers) =>
  Effect.gen(function* () {
    const began = now()
    yield* bench.commit(Array.from({ length: events }, () => numbers++))
    const receipts = yield* Effect.promise(() => gather(all, events * subscriptions))
    return roundOf(receipts, () => began, began)
  })

/** As many calls at once as we make, over connections that are kept. */
const bare = (all: Receivers) =>
  Effect.promise(async () => {
    const agent = new Agent({ connections: null, pipelining: 1 })
    const secret = `whsec_${randomBytes(24).toString("base64")}`
    const origin = `http://127.0.0.1:${all.port}`
    const began = now()
    let next = 0
    const one = async (call: number) => {
      const ids = { id: newUuid(), tenant_id: newUuid() }
      const text = bodyOf(
        { ...ids, type: "transfer.completed", at: new Date(), data: JSON.stringify(dataOf(call % events)) },
        "sandbox"
      )
      const body = Buffer.from(text)
      const timestamp = Math.floor(Date.now() / 1000)
      const signed = { event: ids.id, timestamp, body }
      const headers = headersOf(
        { event: ids.id, delivery: newUuid(), webhook: ids.tenant_id, timestamp },
        { service: serviceSignature([secret], signed), standard: standardSignature([secret], signed) }
      )
      const path = `/hooks/${call % subscriptions}`
      const answer = await agent.request({ origin, path, method: "POST", headers, body })
      await answer.body.arrayBuffer()
    }
    const loop = async () => {
      while (next < events * subscriptions) await one(next++)
    }
    await Promise.all(Array.from({ length: 6 * subscriptions }, loop))
    const receipts = await gather(all, events * subscriptions)
    await agent.close()
    return roundOf(receipts, () => began, began)
  })

const show = (label: string, results: ReadonlyArray<Round>) => {
  const middle = (of: (round: Round) => number) => median(results.map(of)).toFixed(1).padStart(8)
  say(
    `     ${label.padEnd(52)} ${middle((r) => r.perSecond)}/s  p50 ${middle((r) => r.p50)} ms  p99 ${middle((r) => r.p99)} ms`
  )
}

/** Facts that are committed one after the other, and how long each took from its commit to the receivers that answer. */
const paced = (bench: Bench, all: Receivers, isHealthy: (place: number) => boolean) =>
  Effect.gen(function* () {
    const committed = new Map<number, number>()
    const receipts: Array<Receipt> = []
    const began = now()
    for (let count = 0; count < pace * seconds; count++) {
      const number = numbers++
      yield* bench.commit([number])
      committed.set(number, now())
      yield* Effect.promise(() => setTimeout(Math.max(0, began + ((count + 1) * 1000) / pace - now())))
      receipts.push(...(yield* Effect.promise(() => all.ask("more"))))
    }
    yield* Effect.promise(() => setTimeout(1000))
    receipts.push(...(yield* Effect.promise(() => all.ask("more"))))
    const healthy = receipts.filter(([number, place]) => isHealthy(place) && committed.has(number))
    const expected =
      committed.size * Array.from({ length: subscriptions }, (_, place) => place).filter(isHealthy).length
    if (healthy.length < expected) say(`     only ${healthy.length} of ${expected} came`)
    return roundOf(healthy, (number) => committed.get(number) ?? began, began)
  })

const main = Effect.gen(function* () {
  const all = yield* receivers
  const bench = yield* platform(all.port)
  const results = yield* alternate(rounds, { ours: ours(bench, all), bare: bare(all) })
  const { bare: loop = [], ours: mine = [] } = results
  say(`\n${events} facts at once for ${subscriptions} subscriptions: ${events * subscriptions} deliveries`)
  show("turnpike, from the commit of the facts", mine)
  show("bare undici loop that signs and posts", loop)
  report("deliveries/s against the bare loop", ratio(mine, loop), 0.4, "at least")
  report("deliveries/s", median(mine.map(({ perSecond }) => perSecond)), 1500, "at least", "/s")

  const isHealthy = (place: number) => place % 10 !== 0
  const hang = <E>(what: "hang" | "heal", run: Effect.Effect<Round, E>) =>
    Effect.andThen(
      Effect.promise(() => all.ask(what)),
      run
    )
  const { healed = [], hanging = [] } = yield* alternate(1, {
    healed: hang("heal", paced(bench, all, isHealthy)),
    hanging: hang("hang", paced(bench, all, isHealthy))
  })
  yield* Effect.promise(() => all.ask("heal"))
  say(`\n${pace} facts a second for ${subscriptions} subscriptions, those of nine of ten receivers`)
  show("all answer", healed)
  show("one of ten hangs for 15 s on every call", hanging)
  report("p99 from commit to receipt", median(healed.map(({ p99 }) => p99)), 1000, "at most", "ms")
  report(
    "p99 of the others while one of ten hangs",
    ratio(hanging, healed, ({ p99 }) => p99),
    1.2,
    "at most"
  )

  // What is under way to those that hung, and is left to be repeated to them, is not what is measured.
  yield* Effect.repeat(
    Effect.andThen(
      Effect.promise(() => setTimeout(1000)),
      bench.sql`SELECT 1 FROM webhook_deliveries WHERE status = 'sending' LIMIT 1`
    ),
    { until: (underWay) => underWay.length === 0 }
  )
  yield* bench.sql`UPDATE webhook_deliveries SET status = 'delivered' WHERE status = 'pending'`
  yield* bench.sql`UPDATE webhook_lanes SET ready_at = NULL, finished = 0`
  yield* bench.sql`INSERT INTO webhook_deliveries (webhook_id, id, chain_id, tenant_id, cause, event_id, event_type, event_seq,
      attempt, again, first_at, due_at, status, sent_at, created_at)
    SELECT w.id, d.id, d.id, w.tenant_id, 'event', d.id, 'transfer.completed', 1, 1, false, now(), now(), 'delivered', now(), now()
    FROM (SELECT id, tenant_id, row_number() OVER () AS place FROM webhooks) w,
      LATERAL (SELECT new_uuid() AS id, n FROM generate_series(1, ${finished}::int) AS n) d WHERE d.n % ${subscriptions}::int = w.place - 1`
  yield* bench.sql`VACUUM ANALYZE`
  // Until the garbage of this process, which made the load, is collected as well.
  yield* Effect.promise(() => setTimeout(30_000))
  const pids = [process.pid, ...ProcessUse.descendants(process.pid)].filter((pid) => pid !== all.pid)
  const before = ProcessUse.processorSeconds(pids)
  yield* Effect.promise(() => setTimeout(20_000))
  say(`\nnothing to do, ${finished} finished deliveries`)
  report(
    "processor, our process and Postgres together",
    ((ProcessUse.processorSeconds(pids) - before) / 20) * 100,
    1,
    "at most",
    "%"
  )
})

await Effect.runPromise(main.pipe(Effect.scoped, Effect.provide(Reactivity.layer)))
