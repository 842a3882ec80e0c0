import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import * as NatsServer from "../layers/NatsServer.ts"
import { leaveAlone, openChannels } from "./Channels.ts"
import { eventsAfter, everythingDelivered, inStream, startReceiver } from "./Deliveries.ts"
import { startLoad } from "./Load.ts"
import { compare } from "./Oracle.ts"
import { api, type Client, must } from "./Paying.ts"
import { pause, type Server, startOrigin, startServer } from "./Servers.ts"

const seconds = Number(process.env["CHAOS_SECONDS"] ?? 6)
const families = ["transfer", "batch", "scheduled_transfer", "refund", "dispute", "stream", "x402", "agent"]

it.live(
  `three servers killed at random for ${seconds} s under load${NatsServer.binary === undefined ? "" : ", NATS restarted empty"}: nothing is lost, everybody is told`,
  () =>
    Effect.gen(function* () {
      const dir = mkdtempSync(join(tmpdir(), "turnpike-chaos-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dir, { recursive: true, force: true })))
      const settings = { max_connections: "200" }
      const dataDir = join(dir, "postgres")
      const { database, socketDir, username } = yield* EmbeddedPostgres.make({ dataDir, settings })
      const url = `postgres://${username}@localhost/${database}?host=${encodeURIComponent(socketDir)}`
      const nats =
        NatsServer.binary === undefined
          ? undefined
          : yield* Effect.acquireRelease(
              Effect.promise(() => NatsServer.make()),
              (server) => Effect.promise(() => server.end())
            )
      const { summary, told } = yield* Effect.promise(() => underFire(url, dir, nats))
      const counts = yield* compare(url, told)
      process.stdout.write(`chaos, three servers: ${JSON.stringify({ seconds, ...summary, ...counts })}\n`)
    }),
  { timeout: 420_000 + seconds * 2_000 }
)

const underFire = async (url: string, dir: string, nats: NatsServer.NatsServer | undefined) => {
  const origin = await startOrigin()
  const receiver = await startReceiver()
  const servers: Array<Server> = []
  try {
    return await withServers(url, dir, nats, origin, receiver, servers)
  } finally {
    await Promise.all(servers.map(({ kill }) => kill()))
    await origin.stop()
    await receiver.stop()
  }
}

const withServers = async (
  url: string,
  dir: string,
  nats: NatsServer.NatsServer | undefined,
  origin: Awaited<ReturnType<typeof startOrigin>>,
  receiver: Awaited<ReturnType<typeof startReceiver>>,
  servers: Array<Server>
) => {
  await nats?.start()
  const start = (index: number, port?: number) =>
    startServer({
      DATABASE_URL: url,
      NATS_URL: nats?.url ?? "",
      TURNPIKE_DATA_DIR: join(dir, String(index)),
      TURNPIKE_ALLOW_HOSTS: `127.0.0.1:${origin.port},127.0.0.1:${receiver.port}`,
      ...(port === undefined ? {} : { PORT: String(port) })
    })
  const first = await start(0)
  servers.push(first, ...(await Promise.all([start(1), start(2)])))
  const { account_id, api_key } = JSON.parse(readFileSync(join(dir, "0", "credentials.json"), "utf8"))
  const client = { key: api_key, bases: () => servers.map(({ base }) => base) }
  await revokedEverywhere(client)

  for (const wanted of [families, families, ["transfer"], ["agent", "x402"]]) await receiver.subscribe(client, wanted)
  const since = (await eventsAfter(url, 0n)).at(-1)?.seq ?? 0n
  const load = await startLoad(client, account_id, origin.url, 6)
  const channels = await openChannels(client, 3, load.told)
  const alone = await leaveAlone(client, servers[2] ?? first, url, load.told)

  let killed = 1
  const restart = async (index: number) => {
    const { kill, port } = servers[index] ?? first
    await kill()
    killed++
    servers[index] = await start(index, port)
  }
  servers[2] = await start(2, servers[2]?.port)
  const killing = (async () => {
    for (const began = performance.now(); performance.now() - began < seconds * 1_000; ) {
      await pause(200 + Math.random() * 800)
      const index = Math.floor(Math.random() * 3)
      await Promise.all(Math.random() < 0.25 ? [restart(index), restart((index + 1) % 3)] : [restart(index)])
    }
  })()
  await pause(seconds * 500)
  await nats?.stop()
  nats?.empty()
  await pause(1_000)
  await nats?.start()
  await killing

  const listened = await channels.settle()
  await alone.ended()
  const told = await load.stop()
  await channels.close()
  const delivered = await everythingDelivered(url, since, receiver.subscriptions)
  assert.isAbove(delivered.expected, 100)
  if (nats !== undefined) await streamed(url, nats.url)
  for (const { kill } of servers) assert.strictEqual(await kill("SIGTERM"), 0, "a graceful stop exits 0")
  return { told, summary: { killed, natsRestartedEmpty: nats === undefined ? 0 : 1, delivered, channels: listened } }
}

/** A key that is revoked at one server is worth nothing at the others. */
const revokedEverywhere = async (client: Client) => {
  const [here = "", ...others] = client.bases()
  const at = (base: string, key = client.key) => ({ key, bases: () => [base] })
  const { id, key } = await must(at(here), "POST", "/v1/api-keys", { name: "Brief", scopes: ["*:*"] })
  for (const base of others) await must(at(base, key), "GET", "/v1/context")
  await api(at(here), "DELETE", `/v1/api-keys/${id}`)
  const revokedAt = performance.now()
  for (const base of others) {
    while ((await api(at(base, key), "GET", "/v1/context")).status !== 401) {
      // Who does not hear of it believes what it knows for ten seconds.
      assert.isBelow(performance.now() - revokedAt, 9_000, "a revocation is heard, not waited for")
      await pause(10)
    }
  }
}

/** The stream that was made again has everything, in order: it all happened within the last ten minutes. */
const streamed = async (url: string, natsUrl: string) => {
  const began = performance.now()
  for (;;) {
    const [stored, events] = [await inStream(natsUrl).catch(() => []), await eventsAfter(url, 0n)]
    if (stored.length >= events.length) {
      const all = events.map(({ id }) => id)
      return assert.deepStrictEqual(stored.slice(0, all.length), all)
    }
    assert.isBelow(performance.now() - began, 30_000, `${stored.length} of ${events.length} events are in the stream`)
    await pause(200)
  }
}
