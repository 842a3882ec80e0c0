import * as PgClient from "@effect/sql-pg/PgClient"
import { assert } from "@effect/vitest"
import { connect } from "@nats-io/transport-node"
import { jetstream, jetstreamManager } from "@nats-io/jetstream"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { toTypeId } from "#domain/Ids.ts"
import * as Postgres from "#layers/Postgres.ts"
import { type Client, must } from "./Paying.ts"
import { pause } from "./Servers.ts"

/** What one subscription asks for, and how often it was told each event. */
export interface Subscription {
  readonly id: string
  readonly families: ReadonlyArray<string>
  readonly told: Map<string, number>
}

/** A receiver that counts what it is told. */
export const startReceiver = async () => {
  const subscriptions = new Map<string, Subscription>()
  const server = createServer((request, response) => {
    const event = String(request.headers["x-service-event-id"])
    const { told } = subscriptions.get(String(request.headers["x-service-webhook-id"])) ?? {}
    request.resume().on("end", () => {
      told?.set(event, (told.get(event) ?? 0) + 1)
      response.end()
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const subscribe = async (client: Client, families: ReadonlyArray<string>) => {
    const events = families.map((family) => `${family}.*`)
    const { id } = await must(client, "POST", "/v1/webhooks", { url: `http://127.0.0.1:${port}/`, events })
    subscriptions.set(id, { id, families, told: new Map() })
  }
  const stop = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, "close")
  }
  return { port, subscriptions, subscribe, stop }
}

/** The comings and goings of an agent, as the log tells of them. */
export const comingsOf = (url: string, agent: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql`SELECT type FROM events WHERE type IN ('agent.connected', 'agent.disconnected')
      AND data->'agent'->>'id' = ${agent} ORDER BY seq`
    return rows.map(({ type }) => String(type))
  }).pipe(
    Effect.provide(Layer.fresh(PgClient.layer(Postgres.fromUrl(Redacted.make(url))))),
    Effect.scoped,
    Effect.runPromise
  )

/** The events after this place, as they stand in the database. */
export const eventsAfter = (url: string, place: bigint) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql`SELECT seq, id, type FROM events WHERE seq > ${place} ORDER BY seq`
    return rows.map(({ id, seq, type }) => ({
      seq: BigInt(String(seq)),
      id: toTypeId("evt", String(id)),
      type: String(type)
    }))
  }).pipe(
    Effect.provide(Layer.fresh(PgClient.layer(Postgres.fromUrl(Redacted.make(url))))),
    Effect.scoped,
    Effect.runPromise
  )

const isOf = ({ families }: Subscription, type: string) => families.some((family) => type.startsWith(`${family}.`))

/** How long the last delivery may take, in milliseconds: a lease of a dead process, and one step of the schedule of retries. */
const longest = 150_000

/** Waits until every subscription was told every event of its families, and says how often. */
export const everythingDelivered = async (
  url: string,
  since: bigint,
  subscriptions: ReadonlyMap<string, Subscription>
) => {
  const began = performance.now()
  for (;;) {
    const events = await eventsAfter(url, since)
    const all = [...subscriptions.values()]
    const wanted = all.map((one) => events.filter(({ type }) => isOf(one, type)).map(({ id }) => id))
    const missing = all.flatMap(({ id, told }, index) =>
      (wanted[index] ?? []).filter((event) => !told.has(event)).map((event) => `${event} to ${id}`)
    )
    if (missing.length === 0) {
      const deliveries = all.reduce(
        (sum, { told }) => sum + [...told.values()].reduce((times, one) => times + one, 0),
        0
      )
      const expected = wanted.reduce((sum, ids) => sum + ids.length, 0)
      for (const [index, { told }] of all.entries()) {
        const known = new Set(wanted[index])
        assert.deepStrictEqual(
          [...told.keys()].filter((event) => !known.has(event)),
          [],
          "nobody is told what did not happen"
        )
      }
      return {
        events: events.length,
        expected,
        repeated: deliveries - expected,
        lastAfter: Math.round(performance.now() - began)
      }
    }
    assert.isBelow(
      performance.now() - began,
      longest,
      `${missing.length} are missing, such as ${missing.slice(0, 3).join(", ")}`
    )
    await pause(250)
  }
}

/** The ids of what is in the stream of events, in its order. */
export const inStream = async (natsUrl: string): Promise<ReadonlyArray<string>> => {
  const connection = await connect({ servers: natsUrl })
  const { streams } = await jetstreamManager(connection)
  const { state } = await streams.info("TURNPIKE_EVENTS")
  const ids: Array<string> = []
  const consumer = await jetstream(connection).consumers.get("TURNPIKE_EVENTS")
  if (state.messages > 0) {
    for await (const message of await consumer.consume()) {
      ids.push(message.headers?.get("Nats-Msg-Id") ?? "")
      if (message.seq >= state.last_seq) break
    }
  }
  await connection.close()
  return ids
}
