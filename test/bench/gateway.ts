import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { join } from "node:path"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import * as Postgres from "#layers/Postgres.ts"
import { alternate, median, percentile, ratio, report, type Round, say } from "./Bench.ts"
import { type Buyer, makeBuyer } from "./gateway/Buyer.ts"
import { type Connection, get } from "./gateway/Connection.ts"
import { drive, expectStatus, open } from "./gateway/HttpLoad.ts"
import * as Peer from "./gateway/Peer.ts"
import * as ProcessUse from "./gateway/ProcessUse.ts"
import { measureRest } from "./gateway/Rest.ts"
import * as Turnpike from "./gateway/Turnpike.ts"

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5)
const millis = Number(process.env["BENCH_MILLIS"] ?? 2000)
/** The parts to run; all unless the command line names some. */
const parts = process.argv.slice(2)
const runs = (part: "rest" | "unpaid" | "paid" | "latency") => parts.length === 0 || parts.includes(part)
const connections = 32

const show = (label: string, results: ReadonlyArray<Round>) => {
  const middle = (of: (round: Round) => number) => median(results.map(of)).toFixed(2).padStart(7)
  const perSecond = median(results.map((round) => round.perSecond))
    .toFixed(0)
    .padStart(8)
  say(`     ${label.padEnd(44)} ${perSecond}/s  p50 ${middle((r) => r.p50)} ms  p99 ${middle((r) => r.p99)} ms`)
}

/** The same request again and again. */
const repeat = (request: string, status: number) => async (connection: Connection) => {
  expectStatus(status, await connection.exchange(request))
  return true
}

/** What anybody is told who calls without paying, and a server that can say only that. */
const unpaid = (server: Turnpike.Turnpike, path: string) =>
  Effect.gen(function* () {
    const sample = yield* Effect.scoped(
      Effect.flatMap(open(server.port, 1), ([connection]) => Effect.promise(() => connection.exchange(get(path))))
    )
    const [, ...lines] = expectStatus(402, sample).head.split("\r\n")
    // These three Node adds itself, there as here.
    const headers = lines.filter((line) => !/^(?:date|connection|keep-alive):/i.test(line))
    const barePort = yield* Peer.start("bare", {
      status: 402,
      headers: headers.flatMap((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
      body: sample.body
    })
    const { turnpike = [], node = [] } = yield* alternate(rounds, {
      turnpike: drive({ port: server.port, connections, millis, work: repeat(get(path), 402) }),
      node: drive({ port: barePort, connections, millis, work: repeat(get(path), 402) })
    })
    say(`\nunpaid call, ${connections} connections (${sample.head.length + sample.body.length} bytes)`)
    show("turnpike", turnpike)
    show("bare node:http, same bytes", node)
    report("unpaid 402/s against bare node:http", ratio(turnpike, node), 0.5, "at least")
  })

/** What the server and its Postgres spent, in processor milliseconds, on one of some calls. */
interface Spent {
  readonly server: number
  readonly postgres: number
}

/**
 * Paid retries for one stretch at a time. The payments, enough for the speed of the last stretch and half more, are made before.
 * `spent` gets what each stretch cost: unlike what it took, that hardly depends on who else uses the machine.
 */
const paidRetries = (server: Turnpike.Turnpike, buyer: Buyer, connections: number, spent: Array<Spent>) => {
  let expected = 50 * connections
  const use = () => ({
    server: ProcessUse.processorSeconds([server.pid]),
    postgres: ProcessUse.processorSeconds(ProcessUse.descendants(server.pid))
  })
  return Effect.gen(function* () {
    const proofs = yield* buyer.pay(Math.ceil((expected * millis) / 1000))
    const [before, unused] = [use(), proofs.length]
    const round = yield* drive({ port: server.port, connections, millis, work: buyer.retry(proofs) })
    const [after, calls] = [use(), unused - proofs.length]
    const each = (part: keyof Spent) => ((after[part] - before[part]) * 1000) / calls
    spent.push({ server: each("server"), postgres: each("postgres") })
    expected = round.perSecond * 1.5
    return round
  })
}

/** The ways to the same origin without us: a bare proxy, and the least that forwarding can cost. */
interface Ways {
  readonly proxy: number
  readonly dispatch: number
}

const paid = (server: Turnpike.Turnpike, path: string, ways: Ways) =>
  Effect.gen(function* () {
    const buyer = yield* makeBuyer(server, path)
    const spent: Array<Spent> = []
    const {
      retries = [],
      cycles = [],
      proxied = [],
      dispatched = []
    } = yield* alternate(rounds, {
      retries: paidRetries(server, buyer, connections, spent),
      cycles: drive({ port: server.port, connections, millis, work: buyer.cycle }),
      proxied: drive({ port: ways.proxy, connections, millis, work: repeat(get("/"), 200) }),
      dispatched: drive({ port: ways.dispatch, connections, millis, work: repeat(get("/"), 200) })
    })
    say(`\npaid call, ${connections} connections`)
    show("paid retry", retries)
    show("402, payment and paid retry", cycles)
    show("bare undici proxy", proxied)
    show("undici's dispatcher straight onto the response", dispatched)
    const each = (part: keyof Spent) => median(spent.map((stretch) => stretch[part])).toFixed(2)
    say(
      `     a paid retry costs ${each("server")} ms of processor time in the server, ${each("postgres")} ms in Postgres`
    )
    report("paid retries/s against a bare undici proxy", ratio(retries, proxied), 0.25, "at least")
    report("whole cycles/s against its requests/s", ratio(cycles, proxied), 0.1, "at least")
    const [share, whole] = [ratio(retries, dispatched), ratio(cycles, dispatched)].map((value) => value.toFixed(2))
    say(`     against the dispatcher ${share} x and ${whole} x`)
    report("p99 of a paid retry", median(retries.map((round) => round.p99)), 50, "at most", "ms")
  })

/** One durable commit on the cluster of `server`: one row, one connection. */
const durableCommit = (server: Turnpike.Turnpike) =>
  Effect.gen(function* () {
    const cluster = yield* EmbeddedPostgres.running(join(server.dataDir, "postgres"))
    const sql = yield* PgClient.makeClient({ ...Postgres.fromEmbedded(cluster), applicationName: "bench" })
    yield* sql`CREATE SCHEMA bench`
    yield* sql`CREATE TABLE bench.commits AS SELECT 0::bigint AS count`
    return Effect.orDie(sql`UPDATE bench.commits SET count = count + 1`)
  }).pipe(Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make), Effect.orDie)

/** How long some things take that are done in turn, each as often as the others, in milliseconds. */
const inTurn = Effect.fnUntraced(function* (
  sides: { readonly [side: string]: Effect.Effect<unknown> },
  more: () => boolean
) {
  const times: { [side: string]: Array<number> } = Object.fromEntries(Object.keys(sides).map((side) => [side, []]))
  const end = performance.now() + millis
  while (performance.now() < end && more()) {
    for (const [side, call] of Object.entries(sides)) {
      const before = performance.now()
      yield* call
      times[side]?.push(performance.now() - before)
    }
  }
  return times
})

/**
 * One call after the other. A disk that just worked syncs several times as fast as one that waited for a moment, so commits in
 * a row would say nothing about the commits of a call: paid retry, bare proxy and commit take turns here call by call.
 */
const latency = (server: Turnpike.Turnpike, path: string, proxyPort: number) =>
  Effect.gen(function* () {
    const buyer = yield* makeBuyer(server, path)
    const commit = yield* durableCommit(server)
    const added: Array<number> = []
    const all = { retry: [] as Array<number>, proxied: [] as Array<number>, commit: [] as Array<number> }
    const stretch = Effect.gen(function* () {
      const proofs = yield* buyer.pay(Math.ceil(millis / 2))
      const [ours] = yield* open(server.port, 1)
      const [theirs] = yield* open(proxyPort, 1)
      const sides = {
        retry: Effect.promise(() => buyer.retry(proofs)(ours)),
        proxied: Effect.promise(() => repeat(get("/"), 200)(theirs)),
        commit
      }
      return yield* inTurn(sides, () => proofs.length > 0)
    })
    for (let round = -1; round < rounds; round++) {
      const { commit: commits = [], proxied = [], retry = [] } = yield* Effect.scoped(stretch)
      if (round < 0) continue
      added.push((median(retry) - median(proxied)) / median(commits))
      all.retry.push(...retry)
      all.proxied.push(...proxied)
      all.commit.push(...commits)
    }
    say("\none connection, in turn")
    const line = (label: string, times: ReadonlyArray<number>) =>
      say(
        `     ${label.padEnd(55)} p50 ${median(times).toFixed(2).padStart(7)} ms  p99 ${percentile(times, 0.99).toFixed(2).padStart(7)} ms`
      )
    line("paid retry", all.retry)
    line("bare undici proxy", all.proxied)
    line("one durable commit", all.commit)
    report("added median latency, in durable commits", median(added), 3, "at most")
  })

const main = Effect.gen(function* () {
  const dataDir = yield* Turnpike.temporaryData
  if (runs("rest")) yield* measureRest(dataDir)
  if (parts.length > 0 && parts.every((part) => part === "rest")) return
  const server = yield* Turnpike.start(dataDir)
  const originPort = yield* Peer.start("origin", {})
  const path = yield* Turnpike.sell(server, `http://127.0.0.1:${originPort}/`)
  const ways: Ways = {
    proxy: yield* Peer.start("proxy", { originPort }),
    dispatch: yield* Peer.start("dispatch", { originPort })
  }
  if (runs("unpaid")) yield* Effect.scoped(unpaid(server, path))
  if (runs("paid")) yield* Effect.scoped(paid(server, path, ways))
  if (runs("latency")) yield* Effect.scoped(latency(server, path, ways.proxy))
  say(`\nserver after the load: ${Turnpike.memory(server)}`)
}).pipe(Effect.scoped)

NodeRuntime.runMain(main)
