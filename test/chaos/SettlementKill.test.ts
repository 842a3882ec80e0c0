import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { toTypeId } from "#domain/Ids.ts"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"
import { Doctor } from "#services/Doctor.ts"
import { broken } from "../services/SettlementsHarness.ts"
import { ask } from "./Paying.ts"
import { pause, type Server, startServer } from "./Servers.ts"

const cycles = Number(process.env["CHAOS_CYCLES"] ?? 8)

it.live(
  `two servers that settle over one database, ${cycles} times killed: every transfer ends once, and none is forgotten`,
  () =>
    Effect.gen(function* () {
      const dir = mkdtempSync(join(tmpdir(), "turnpike-settlements-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dir, { recursive: true, force: true })))
      const { database, socketDir, username } = yield* EmbeddedPostgres.make({ dataDir: join(dir, "postgres") })
      const url = `postgres://${username}@localhost/${database}?host=${encodeURIComponent(socketDir)}`
      const told = yield* Effect.promise(() => underFire(url, dir))
      const config = Postgres.fromUrl(Redacted.make(url))
      const books = Doctor.layer.pipe(
        Layer.provideMerge(PgClient.layer(config)),
        Layer.provideMerge(Layer.succeed(Database, { config, embedded: false }))
      )
      yield* compare(told).pipe(Effect.provide(books))
    }),
  { timeout: 300_000 }
)

/** What the client knows: the status it was told last of each transfer. */
type Told = ReadonlyMap<string, string>

const compare = Effect.fnUntraced(function* (told: Told) {
  assert.deepStrictEqual(yield* broken, [])
  const sql = yield* SqlClient.SqlClient
  const stored = yield* sql`SELECT id, status FROM transfers WHERE type = 'cross_border'`
  const counts: Record<string, number> = {}
  for (const { id, status } of stored) {
    const name = toTypeId("tx", String(id))
    assert.strictEqual(status, told.get(name), name)
    counts[String(status)] = (counts[String(status)] ?? 0) + 1
  }
  assert.strictEqual(stored.length, told.size)
  const ends = yield* sql`SELECT data #>> '{transfer,id}' AS id FROM events
    WHERE type IN ('transfer.completed', 'transfer.failed', 'transfer.cancelled') GROUP BY 1 HAVING count(*) > 1`
  assert.deepStrictEqual(ends, [])
  process.stdout.write(`chaos, settlements: ${JSON.stringify({ killed: cycles, ...counts })}\n`)
})

const underFire = async (url: string, dir: string): Promise<Told> => {
  const start = (name: string, port?: number) =>
    startServer({
      DATABASE_URL: url,
      TURNPIKE_DATA_DIR: join(dir, name),
      TURNPIKE_SETTLEMENT_DELAY: "0.2-1 s",
      ...(port === undefined ? {} : { PORT: String(port) })
    })
  const servers: [Server, Server] = [await start("a"), await start("b")]
  const { api_key } = JSON.parse(readFileSync(join(dir, "a", "credentials.json"), "utf8"))
  const client = { key: api_key, bases: () => servers.map(({ base }) => base) }
  const call = async (method: string, path: string, body?: object) =>
    ask(client, path, {
      method,
      headers: { authorization: `Bearer ${api_key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  const wallet = async (input: object): Promise<string> => (await call("POST", "/v1/wallets", input)).body.id
  const from = await wallet({ currency: "USDC" })
  const to = await wallet({ currency: "EURC" })
  await call("POST", `/v1/wallets/${from}/fund`, { amount: "10000", currency: "USDC", idempotency_key: "funds" })

  const state = { running: true, made: 0 }
  const told = new Map<string, string>()
  const customer = async (name: number) => {
    while (state.running) {
      const quote = await call("POST", "/v1/quotes", { from_currency: "USDC", to_currency: "EURC", amount: "1.00" })
      const wish = [null, null, "simulate:rail_error", "simulate:unknown", "cancel"][state.made % 5]
      const { body, status } = await call("POST", "/v1/transfers", {
        type: "cross_border",
        from_wallet_id: from,
        to_wallet_id: to,
        quote_id: quote.body.id,
        memo: wish,
        idempotency_key: `${name} ${state.made++}`
      })
      // Whoever finds no server for half a minute has to ask for a new quote.
      if (body.code === "QUOTE_EXPIRED") continue
      assert.strictEqual(status, 201, JSON.stringify(body))
      told.set(body.id, body.status)
      if (wish === "cancel") {
        const cancelled = await call("POST", `/v1/transfers/${body.id}/cancel`)
        assert.include([200, 409], cancelled.status)
      }
    }
  }
  const customers = Array.from({ length: 3 }, (_, name) => customer(name))
  for (let cycle = 0; cycle < cycles; cycle++) {
    await pause(200 + Math.random() * 600)
    for (const index of cycle % 4 === 3 ? ([0, 1] as const) : [cycle % 2 === 0 ? (0 as const) : (1 as const)]) {
      const { kill, port } = servers[index]
      await kill()
      servers[index] = await start(index === 0 ? "a" : "b", port)
    }
  }
  state.running = false
  await Promise.all(customers)
  // The lease of what a dead server held ends after ten seconds.
  const open = async (id: string) => {
    const { body } = await call("GET", `/v1/transfers/${id}`)
    told.set(id, body.status)
    return body.status === "pending" || body.status === "processing"
  }
  const end = process.hrtime.bigint() + 60_000_000_000n
  let left = [...told.keys()]
  while (left.length > 0 && process.hrtime.bigint() < end) {
    const isOpen = await Promise.all(left.map(open))
    left = left.filter((_, index) => isOpen[index])
    await pause(100)
  }
  assert.deepStrictEqual(left, [])
  for (const server of servers) assert.strictEqual(await server.kill("SIGTERM"), 0, "a graceful stop exits 0")
  return told
}
