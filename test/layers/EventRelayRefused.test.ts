import { afterAll, assert, it } from "@effect/vitest"
import { jetstreamManager } from "@nats-io/jetstream"
import { connect as connectNats } from "@nats-io/transport-node"
import { Effect, Fiber, Layer, Logger, Metric, PubSub, Redacted, Result, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import * as BusNats from "#layers/BusNats.ts"
import * as EventRelay from "#layers/EventRelay.ts"
import * as JetStream from "#layers/EventRelay/JetStream.ts"
import * as Nats from "#layers/Nats.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Deployment } from "#services/Deployment.ts"
import { EventBus } from "#services/EventBus.ts"
import { EventLog } from "#services/EventLog.ts"
import { newUuid } from "#services/NewId.ts"
import { Secrets } from "#services/Secrets.ts"
import * as NatsServer from "./NatsServer.ts"

/** A NATS whose JetStream hangs: it reads no more of a connection over which JetStream was asked something, as one with a full disk. */
const hanging = async (target: string) => {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const asked = Promise.withResolvers<void>()
  const state = { stalled: 0 }
  const front = createServer((client) => {
    const server = connect(Number(port), hostname)
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on("error", () => socket.destroy())
      socket.on("close", () => {
        client.destroy()
        server.destroy()
      })
    }
    server.on("data", (data) => void client.write(data))
    client.on("data", (data) => {
      if (!data.includes("$JS.API")) return void server.write(data)
      client.pause()
      state.stalled++
      asked.resolve()
    })
  }).listen(0, "127.0.0.1")
  await once(front, "listening")
  const end = () => {
    for (const socket of sockets) socket.destroy()
    front.close()
  }
  return { url: `nats://127.0.0.1:${(front.address() as AddressInfo).port}`, asked: asked.promise, state, end }
}

if (NatsServer.binary === undefined) {
  it("was not tried: no nats-server is installed", () => assert.isUndefined(NatsServer.binary))
} else {
  const plain = await NatsServer.make({ jetstream: false })
  const streaming = await NatsServer.make()
  await Promise.all([plain.start(), streaming.start()])
  afterAll(() => Promise.all([plain.end(), streaming.end()]))

  const tenant = newUuid()
  const here = Layer.succeed(Deployment, { environment: "sandbox", publicUrl: "http://a", scannerUrl: "http://a" })
  const platform = () => Layer.mergeAll(EventLog.layer, here).pipe(Layer.provideMerge(Layer.fresh(Postgres.layerTest)))
  const client = (url: string) => Nats.make(Result.getOrThrow(Nats.parse(url)))
  const relayOver = (url: string) =>
    Effect.flatMap(client(url), (nats) => Effect.provideService(EventRelay.make, Nats.Nats, nats))
  const happen = Effect.flatMap(EventLog, ({ append }) =>
    append([{ tenant_id: tenant, type: "transfer.created", data: { transfer: {} } }])
  )
  const stuck = Effect.acquireRelease(
    Effect.promise(() => hanging(plain.url)),
    ({ end }) => Effect.sync(end)
  )
  const fact = <E>(
    name: string,
    body: Effect.Effect<unknown, E, Scope.Scope | Layer.Success<ReturnType<typeof platform>>>
  ) => it.effect(name, () => Effect.provide(body, platform()), { timeout: 60_000 })

  fact(
    "without JetStream that is said once, and nothing else happens",
    Effect.gen(function* () {
      const one = yield* relayOver(plain.url)
      yield* happen
      const lines: Array<string> = []
      const logger = Logger.map(Logger.formatJson, (line) => void lines.push(line))
      yield* Effect.provide(Effect.repeat(one.turn, { times: 5 }), Logger.layer([logger]))
      assert.strictEqual(lines.length, 1)
      assert.match(lines[0] ?? "", /jetstream is not enabled/i)
    })
  )

  fact(
    "a stream that takes nothing is seen to be behind",
    Effect.gen(function* () {
      const { turn } = yield* relayOver(plain.url)
      yield* Effect.repeat(happen, { times: 2 })
      yield* turn
      assert.strictEqual((yield* Metric.value(EventRelay.behind)).value, 3)
    })
  )

  fact(
    "a NATS that has less of a disk than a stream may take is given a smaller one",
    Effect.gen(function* () {
      const small = yield* Effect.acquireRelease(
        Effect.promise(() => NatsServer.make({ disk: "256MB" })),
        (server) => Effect.promise(() => server.end())
      )
      yield* Effect.promise(() => small.start())
      const { turn } = yield* relayOver(small.url)
      yield* happen
      yield* Effect.repeat(turn, { while: (more) => more })
      assert.strictEqual((yield* Metric.value(EventRelay.behind)).value, 0)
      const connection = yield* Effect.acquireRelease(
        Effect.promise(() => connectNats({ servers: small.url })),
        (open) => Effect.promise(() => open.close())
      )
      const { message } = yield* JetStream.look(connection)
      assert.strictEqual(message?.place, 1n)
    })
  )

  it.effect("a stream that was given other subjects is named as the reason, not a JetStream that is off", () =>
    Effect.gen(function* () {
      const connection = yield* Effect.acquireRelease(
        Effect.promise(() => connectNats({ servers: streaming.url })),
        (open) => Effect.promise(() => open.close())
      )
      const { streams } = yield* Effect.promise(() => jetstreamManager(connection))
      yield* Effect.promise(() => streams.add({ name: JetStream.streamName, subjects: ["other.>"] }))
      const { client } = yield* JetStream.look(connection)
      const message = { id: "evt_1", place: 1n, subject: "events.ten_1.transfer.created", body: "{}" }
      for (const after of [undefined, { lastSequence: 0 }]) {
        const refused = yield* Effect.flip(JetStream.append(client, [message], after))
        assert.include(refused.message, JetStream.streamName)
      }
    })
  )

  fact(
    "a relay that is refused again lets others try for two seconds",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { turn } = yield* relayOver(plain.url)
      const leases = Effect.map(sql`SELECT xmin::text AS written FROM relays`, ([row]) => row?.["written"])
      yield* happen
      yield* Effect.repeat(turn, { times: 1 })
      const then = yield* leases
      yield* Effect.repeat(turn, { times: 5 })
      assert.strictEqual(yield* leases, then)
      yield* TestClock.adjust("2 seconds")
      yield* turn
      assert.notStrictEqual(yield* leases, then)
    })
  )

  fact(
    "a JetStream that hangs holds up no signal between processes",
    Effect.gen(function* () {
      const { asked, url } = yield* stuck
      const nats = yield* client(url)
      const bus = BusNats.layer.pipe(Layer.provide(Secrets.layer), Layer.provide(Layer.succeed(Nats.Nats, nats)))
      const process = Effect.map(Layer.build(Layer.fresh(bus)), (context) => Effect.provideContext(EventBus, context))
      const here = yield* Effect.flatten(process)
      const other = BusNats.layer.pipe(
        Layer.provide(Secrets.layer),
        Layer.provide(Nats.layer(Redacted.make(plain.url)))
      )
      const there = yield* Effect.provideContext(EventBus, yield* Layer.build(Layer.fresh(other)))
      const reader = yield* there.subscribe("news")
      const { turn } = yield* Effect.provideService(EventRelay.make, Nats.Nats, nats)
      yield* happen
      const hung = yield* Effect.forkScoped(turn)
      yield* Effect.promise(() => asked)
      assert.isTrue(yield* here.reachable)
      yield* here.publish("news", "told")
      assert.strictEqual(yield* Effect.repeat(PubSub.take(reader), { until: (one) => one !== "" }), "told")
      yield* Fiber.interrupt(hung)
    })
  )

  fact(
    "a connection over which JetStream gives no answer is replaced, so that nothing piles up on it",
    Effect.gen(function* () {
      const { state, url } = yield* stuck
      const { turn } = yield* Effect.provideService(relayOver(url), JetStream.Patience, "100 millis")
      yield* happen
      const again = Effect.andThen(TestClock.adjust("2 seconds"), turn)
      yield* Effect.repeat(Effect.provideService(again, JetStream.Patience, "100 millis"), {
        until: () => state.stalled >= 2
      })
    })
  )
}
