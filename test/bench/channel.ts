import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { hash } from "node:crypto"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import * as Postgres from "#layers/Postgres.ts"
import { newUuid } from "#services/NewId.ts"
import { startServer } from "../chaos/Servers.ts"
import { percentile, report, say } from "./Bench.ts"
import { Listener } from "./channel/Listener.ts"
import { beside } from "./channel/Nchan.ts"
import * as ProcessUse from "./gateway/ProcessUse.ts"
import * as Turnpike from "./gateway/Turnpike.ts"

/** What a connection of an agent costs, and how soon it is told. The server is a process of its own; the clients are this one. */

const idle = Number(process.env["BENCH_CONNECTIONS"] ?? 5_000)
const crowd = Number(process.env["BENCH_CROWD"] ?? 1_000)
const facts = Number(process.env["BENCH_EVENTS"] ?? 1_000)
const spacing = Number(process.env["BENCH_SPACING"] ?? 5)

/** Waits for another process to get somewhere. */
const until = (holds: () => boolean, millis = 120_000) =>
  Effect.promise(async () => {
    const end = performance.now() + millis
    while (!holds() && performance.now() < end) await setTimeout(5)
    return holds()
  })

const run = Effect.gen(function* () {
  const dataDir = yield* Turnpike.temporaryData
  const first = yield* Turnpike.start(dataDir)
  const database = yield* EmbeddedPostgres.running(join(dataDir, "postgres"))
  const sql = yield* PgClient.makeClient({ ...Postgres.fromEmbedded(database), applicationName: "bench" })
  const url = `postgres://${database.username}@localhost/${database.database}?host=${encodeURIComponent(database.socketDir)}`

  /** An agent with so many sessions, as if it had logged in as often. */
  const agentWith = Effect.fnUntraced(function* (sessions: number) {
    const response = yield* Effect.promise(() =>
      fetch(`http://127.0.0.1:${first.port}/v1/agents`, {
        method: "POST",
        headers: { authorization: `Bearer ${first.credentials.api_key}`, "content-type": "application/json" },
        body: JSON.stringify({ name: "bench", generateKeypair: true })
      })
    )
    const { data }: ReturnType<typeof JSON.parse> = yield* Effect.promise(() => response.json())
    const tokens = Array.from({ length: sessions }, () => `sess_${newUuid().replaceAll("-", "")}`)
    yield* sql`INSERT INTO credentials (id, tenant_id, kind, name, scopes, hash, prefix, last_four, agent_id, auth_key_id, created_at,
        expires_at)
      SELECT r.id, g.tenant_id, 'session_token', 'bench', '{}', decode(r.hash, 'hex'), 'sess_', 'xxxx', g.id, k.id, now(),
        now() + interval '1 hour'
      FROM unnest(${tokens.map(() => newUuid())}::uuid[], ${tokens.map((token) => hash("sha256", token))}::text[]) AS r (id, hash),
        agents g JOIN agent_auth_keys k ON k.agent_id = g.id AND k.status = 'active'
      WHERE type_id('agt', g.id) = ${String(data.id)}`
    return { id: String(data.id), tokens }
  })
  type Agent = Effect.Success<ReturnType<typeof agentWith>>

  /** Commits facts for an agent, and says so on the bus as the platform does. */
  const commit = Effect.fnUntraced(function* ({ id }: Agent, count: number) {
    const committed = performance.timeOrigin + performance.now()
    yield* sql`WITH head AS (UPDATE ledger_head SET event_seq = event_seq + ${count}::int WHERE log = 1 RETURNING event_seq),
      written AS (
        INSERT INTO events (seq, id, tenant_id, type, data, created_at)
        SELECT event_seq - ${count}::int + place, gen_random_uuid(), g.tenant_id, 'a2a.task.created',
          jsonb_build_object('task', jsonb_build_object('to_agent_id', ${id}::text, 'committed', ${committed}::float8,
            'payload', repeat('x', 120))), now()
        FROM head, generate_series(1, ${count}::int) AS place, agents g WHERE type_id('agt', g.id) = ${id}
      ) SELECT pg_notify('turnpike_bus', 'events.appended ')`
  })

  const latencies: Array<number> = []
  const listen = Effect.fnUntraced(function* (
    port: number,
    agents: ReadonlyArray<Agent>,
    arrived: (millis: number) => void
  ) {
    const listeners: Array<Listener> = []
    for (const { id, tokens } of agents) {
      for (const token of tokens) {
        listeners.push(new Listener(port, id, token, listeners.length, arrived))
        if (listeners.length % 200 === 0) yield* until(() => listeners.filter(({ isOpen }) => !isOpen).length < 200)
      }
    }
    if (!(yield* until(() => listeners.every(({ isOpen }) => isOpen))))
      return yield* Effect.die("not all could connect")
    return listeners
  })
  const arrived = (millis: number) => void latencies.push(millis)
  const sampled = Effect.fnUntraced(function* (what: string, agent: Agent, target: number, listeners: number) {
    latencies.length = 0
    for (let count = 0; count < facts; count++) {
      yield* commit(agent, 1)
      yield* Effect.promise(() => setTimeout(spacing))
    }
    yield* until(() => latencies.length >= facts * listeners, 30_000)
    say(`     ${what}: ${latencies.length} arrivals, p50 ${percentile(latencies, 0.5).toFixed(1)} ms`)
    return report(
      `${what}: from before the commit to the socket, p99`,
      percentile(latencies, 0.99),
      target,
      "at most",
      "ms"
    )
  })

  // The code that opens connections is warm before they are counted.
  const warm = yield* listen(first.port, [yield* agentWith(500)], () => {})
  for (const one of warm) one.close()
  yield* Effect.promise(() => setTimeout(20_000))
  const before = ProcessUse.residentMegabytes(first.pid)
  const agents = yield* Effect.all(
    Array.from({ length: Math.ceil(idle / 100) }, () => agentWith(100)),
    { concurrency: 4 }
  )
  const started = performance.now()
  const sleepers = yield* listen(first.port, agents, () => {})
  const seconds = (performance.now() - started) / 1_000
  yield* Effect.promise(() => setTimeout(20_000))
  const each = ((ProcessUse.residentMegabytes(first.pid) - before) * 1_024) / sleepers.length
  say(
    `     ${sleepers.length} connections, ${(sleepers.length / seconds).toFixed(0)} opened a second; server ${before.toFixed(0)} MB before`
  )
  let met = report("resident memory of an idle connection", each, 15, "at most", "KB")

  const one = yield* agentWith(1)
  const [own] = yield* listen(first.port, [one], arrived)
  met = (yield* sampled("one process", one, 100, 1)) && met
  const second = yield* Effect.acquireRelease(
    Effect.promise(() => startServer({ DATABASE_URL: url, TURNPIKE_DATA_DIR: `${dataDir}-second` })),
    (server) => Effect.promise(() => server.kill("SIGTERM"))
  )
  const both = yield* agentWith(2)
  yield* listen(first.port, [{ ...both, tokens: both.tokens.slice(0, 1) }], arrived)
  yield* listen(second.port, [{ ...both, tokens: both.tokens.slice(1) }], arrived)
  met = (yield* sampled("two processes", both, 200, 2)) && met
  own?.close()
  for (const sleeper of sleepers) sleeper.close()
  yield* Effect.promise(() => setTimeout(3_000))

  const many = yield* agentWith(crowd)
  const hearers = yield* listen(first.port, [many], () => {})
  const cpu = ProcessUse.processorSeconds([first.pid])
  const began = performance.now()
  // As many at a time as can be told again to who is behind.
  for (let sent = 0; sent < facts; sent += 50) {
    yield* commit(many, Math.min(50, facts - sent))
    yield* until(() => hearers.every(({ events }) => events >= Math.min(facts, sent + 50)), 60_000)
  }
  const took = (performance.now() - began) / 1_000
  const delivered = hearers.reduce((sum, { events }) => sum + events, 0)
  const micros = ((ProcessUse.processorSeconds([first.pid]) - cpu) * 1e6) / delivered
  say(
    `     ${facts} events to each of ${crowd} connections: ${(delivered / took).toFixed(0)} a second, ${micros.toFixed(1)} µs of the server's processor each`
  )
  met = report("events of the crowd that arrived", delivered / (facts * crowd), 1, "at least") && met
  if (!met) process.exitCode = 1
}).pipe(Effect.scoped, Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make))

await Effect.runPromise(run)
await beside(idle, facts, spacing)
process.exit()
