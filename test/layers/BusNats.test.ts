import { afterAll, afterEach, assert, describe, it, layer } from "@effect/vitest"
import { connect } from "@nats-io/transport-node"
import { ConfigProvider, Deferred, Effect, Exit, Layer, Logger, PubSub, Redacted, Result } from "effect"
import { once } from "node:events"
import { type AddressInfo, connect as connectTo, createServer, type Socket } from "node:net"
import * as Bus from "#layers/Bus.ts"
import * as BusNats from "#layers/BusNats.ts"
import * as Nats from "#layers/Nats.ts"
import * as Postgres from "#layers/Postgres.ts"
import { EventBus } from "#services/EventBus.ts"
import { Health } from "#services/Health.ts"
import { Secrets } from "#services/Secrets.ts"
import * as NatsServer from "./NatsServer.ts"

describe("NATS_URL", () => {
  it("is a list of addresses, with who we are in the first that says it", () => {
    const good: ReadonlyArray<readonly [string, object]> = [
      ["nats://a", { servers: ["a:4222"] }],
      ["a:1, b", { servers: ["a:1", "b:4222"] }],
      ["tls://a:5,nats://b", { servers: ["a:5", "b:4222"], tls: {} }],
      ["nats://[::1]:7", { servers: ["[::1]:7"] }],
      ["nats://a,nats://me:p%40ss@b", { servers: ["a:4222", "b:4222"], user: "me", pass: "p@ss" }],
      ["nats://t0ken@a", { servers: ["a:4222"], token: "t0ken" }]
    ]
    for (const [text, options] of good)
      assert.deepStrictEqual(Result.getOrThrow(Nats.parse(text)).options, options, text)
  })

  it("is refused when it is something else, without being repeated", () => {
    for (const text of [",", "http://me:hunter2@a", "nats://me:hunter2@a b", "nats://me:hunter2@a,ws://b", "nats://"]) {
      const refused = Result.merge(Nats.parse(text))
      assert.instanceOf(refused, Nats.NatsMisconfigured, text)
      assert.notInclude(String(refused.message), "hunter2")
    }
    for (const text of ["nats://me:hunter2%zz@a", "nats://hunter2%@a"]) {
      const refused = Result.merge(Nats.parse(text))
      assert.instanceOf(refused, Nats.NatsMisconfigured, text)
      assert.match(String(refused.message), /percent sign/)
      assert.notInclude(String(refused.message), "hunter2")
    }
  })
})

if (NatsServer.binary === undefined) {
  it("was not tried: no nats-server is installed", () => assert.isUndefined(NatsServer.binary))
} else {
  const server = await NatsServer.make()
  await server.start()
  afterEach(async () => {
    server.resume()
    await server.stop()
    await server.start()
  })
  afterAll(() => server.end())

  /** A way to NATS that breaks with a message which it does not carry, and is there again. */
  const breaking = async (target: string) => {
    const { hostname, port } = new URL(target)
    const sockets = new Set<Socket>()
    const broken = Promise.withResolvers<void>()
    let last: string | undefined
    const cut = () => sockets.forEach((socket) => void socket.destroy())
    const front = createServer((near) => {
      const far = connectTo(Number(port), hostname)
      for (const socket of [near, far]) {
        sockets.add(socket)
        socket.on("error", () => socket.destroy())
        socket.on("close", () => [near, far].map((one) => one.destroy()))
      }
      far.on("data", (data) => void near.write(data))
      near.on("data", (data) => {
        if (last === undefined || !data.includes(last)) return void far.write(data)
        last = undefined
        cut()
        broken.resolve()
      })
    }).listen(0, "127.0.0.1")
    await once(front, "listening")
    const breakAt = (message: string) => {
      last = message
      return broken.promise
    }
    const url = `nats://127.0.0.1:${(front.address() as AddressInfo).port}`
    return { url, breakAt, end: () => [cut(), front.close()] }
  }

  const patient = Layer.succeed(BusNats.Patience, "2 seconds")
  const process = (url: string) => {
    const bus = BusNats.layer.pipe(Layer.provide(Secrets.layer), Layer.provide(Nats.layer(Redacted.make(url))))
    return Effect.map(Layer.build(Layer.fresh(bus.pipe(Layer.provide(patient)))), (context) =>
      Effect.provideContext(EventBus, context)
    ).pipe(Effect.flatten)
  }
  const upTo = (reader: PubSub.Subscription<string>, last: string) =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      while (seen.at(-1) !== last) seen.push(yield* PubSub.take(reader))
      return seen
    })
  /** Says it again until it is heard: what is said while NATS is away is not kept. */
  const heard = (bus: EventBus["Service"], reader: PubSub.Subscription<string>, subject: string, message: string) =>
    Effect.repeat(
      Effect.andThen(bus.publish(subject, message), Effect.timeoutOption(upTo(reader, message), "200 millis")),
      { until: (option) => option._tag === "Some" }
    )

  layer(Postgres.layerTest, { timeout: "60 seconds", excludeTestServices: true })("the bus over NATS", (it) => {
    for (const emptied of [false, true]) {
      it.effect(
        `a server that was restarted${emptied ? " empty" : ""} is found again, and every reader is told to look again`,
        () =>
          Effect.gen(function* () {
            const [here, there] = [yield* process(server.url), yield* process(server.url)]
            const readers = [
              yield* here.subscribe("left"),
              yield* there.subscribe("left"),
              yield* there.subscribe("right")
            ]
            yield* Effect.promise(() => server.stop("SIGTERM"))
            yield* Effect.repeat(there.reachable, { until: (reachable) => !reachable })
            yield* here.publish("left", "while it was away")
            if (emptied) server.empty()
            yield* Effect.promise(() => server.start())
            const [left, far, right] = readers
            if (left === undefined || far === undefined || right === undefined) return assert.fail()
            assert.deepStrictEqual(
              yield* upTo(left, "while it was away"),
              ["while it was away"],
              "its own readers hear it"
            )
            for (const reader of [left, far, right]) assert.strictEqual(yield* PubSub.take(reader), "")
            yield* heard(here, far, "left", "again")
            yield* heard(there, left, "left", "and back")
          })
      )
    }

    it.effect("a clock that is set back while NATS is away keeps nobody from finding it again", () =>
      Effect.gen(function* () {
        const bus = yield* process(server.url)
        const { now } = Date
        yield* Effect.addFinalizer(() => Effect.sync(() => Object.assign(Date, { now })))
        yield* Effect.promise(() => server.stop())
        yield* Effect.repeat(bus.reachable, { until: (reachable) => !reachable })
        // Somebody must have tried in vain by the clock as it was.
        const tried = yield* process(server.url)
        Object.assign(Date, { now: () => now() - 3_600_000 })
        yield* Effect.promise(() => server.start())
        for (const each of [bus, tried]) yield* Effect.repeat(each.reachable, { until: (reachable) => reachable })
      })
    )

    it.effect(
      "without NATS a process starts and hears itself; when NATS comes, all hear each other and look again",
      () =>
        Effect.gen(function* () {
          const early = yield* process(server.url)
          const far = yield* early.subscribe("news")
          yield* Effect.promise(() => server.stop())
          const late = yield* process(server.url)
          const near = yield* late.subscribe("news")
          assert.isFalse(yield* late.reachable)
          yield* late.publish("news", "alone")
          assert.strictEqual(yield* PubSub.take(near), "alone")
          yield* Effect.promise(() => server.start())
          assert.strictEqual(yield* PubSub.take(near), "")
          assert.strictEqual(yield* PubSub.take(far), "")
          yield* heard(late, far, "news", "together")
        })
    )

    it.effect("readiness shows whether NATS is there, and does not depend on it", () =>
      Effect.gen(function* () {
        const bus = yield* process(server.url)
        const context = yield* Layer.build(Health.layer.pipe(Layer.provide(Layer.succeed(EventBus, bus))))
        const health = yield* Effect.provideContext(Health, context)
        assert.strictEqual(yield* health.bus, "up")
        yield* Effect.promise(() => server.stop())
        yield* Effect.repeat(bus.reachable, { until: (reachable) => !reachable })
        assert.strictEqual(yield* health.bus, "down")
        assert.strictEqual((yield* health.database).postgres, "up")
      })
    )

    it.effect("a server that hangs holds nobody up: little waits for it, and who missed something looks again", () =>
      Effect.gen(function* () {
        const [here, there] = [yield* process(server.url), yield* process(server.url)]
        const [near, far] = [yield* here.subscribe("flood"), yield* there.subscribe("flood")]
        server.pause()
        const large = "x".repeat(4_000)
        for (let count = 0; count < 5_000; count++) yield* here.publish("flood", large)
        yield* here.publish("flood", "last")
        assert.strictEqual((yield* upTo(near, "last")).length, 1_024, "its own readers hear it at once")
        assert.isFalse(yield* here.reachable)
        server.resume()
        assert.include(yield* upTo(far, ""), "")
        yield* heard(here, far, "flood", "again")
      })
    )

    it.effect("what was on its way over a connection that broke is missed by the others, who look again", () =>
      Effect.gen(function* () {
        const way = yield* Effect.acquireRelease(
          Effect.promise(() => breaking(server.url)),
          ({ end }) => Effect.sync(end)
        )
        const [here, there] = [yield* process(way.url), yield* process(server.url)]
        const far = yield* there.subscribe("news")
        const taken = way.breakAt("on its way")
        yield* here.publish("news", "on its way")
        yield* Effect.promise(() => taken)
        assert.strictEqual(yield* PubSub.take(far), "")
        yield* heard(here, far, "news", "again")
      })
    )

    it.effect("what comes twice or out of order is passed on as it came", () =>
      Effect.gen(function* () {
        const here = yield* process(server.url)
        const reader = yield* here.subscribe("odd")
        const stranger = yield* Effect.acquireRelease(
          Effect.promise(() => connect({ servers: [server.url.slice("nats://".length)] })),
          (connection) => Effect.promise(() => connection.close())
        )
        const said: Array<string> = []
        stranger.subscribe("turnpike.>", { callback: (_, message) => void said.push(message.subject) })
        yield* Effect.promise(() => stranger.flush())
        yield* here.publish("odd", "1")
        while (said.length === 0) yield* Effect.promise(() => stranger.flush())
        for (const message of ["3", "2", "2"]) stranger.publish(said[0] ?? "", message)
        assert.deepStrictEqual(yield* upTo(reader, "2"), ["1", "3", "2"])
        assert.strictEqual(yield* PubSub.take(reader), "2")
        assert.match(said[0] ?? "", /^turnpike\.[0-9a-f]{16}\.bus\.odd$/)
      })
    )

    it.effect("two databases on one NATS do not hear each other", () =>
      Effect.gen(function* () {
        const here = yield* process(server.url)
        const others = Bus.layer.pipe(Layer.provide(Layer.fresh(Postgres.layerTest)), Layer.fresh)
        const provider = ConfigProvider.orElse(
          ConfigProvider.fromUnknown({ NATS_URL: server.url }),
          yield* ConfigProvider.ConfigProvider
        )
        const context = yield* Effect.provideService(Layer.build(others), ConfigProvider.ConfigProvider, provider)
        const stranger = yield* Effect.provideContext(EventBus, context)
        const [near, far] = [yield* here.subscribe("news"), yield* stranger.subscribe("news")]
        yield* here.publish("news", "ours")
        yield* stranger.publish("news", "theirs")
        // What one process writes arrives in order: once its second message went round, the first would have been here.
        const third = yield* process(server.url)
        const witness = yield* third.subscribe("news")
        yield* heard(here, witness, "news", "end")
        yield* stranger.publish("news", "end")
        assert.notInclude(yield* upTo(near, "end"), "theirs")
        assert.notInclude(yield* upTo(far, "end"), "ours")
      })
    )

    it.effect("a password that NATS refuses is not logged; the process works alone", () =>
      Effect.gen(function* () {
        const guarded = yield* Effect.acquireRelease(
          Effect.promise(() => NatsServer.make({ user: "turnpike", jetstream: false })),
          (guarded) => Effect.promise(() => guarded.end())
        )
        yield* Effect.promise(() => guarded.start())
        const lines: Array<string> = []
        const logger = Logger.map(Logger.formatJson, (line) => void lines.push(line))
        const refused = yield* process(guarded.url.replace("secret-of-turnpike", "hunter2")).pipe(
          Effect.provide(Logger.layer([logger]))
        )
        assert.isFalse(yield* refused.reachable)
        assert.match(lines.join("\n"), /NATS is away \(.*[Aa]uthorization/)
        assert.notInclude(lines.join("\n"), "hunter2")
        assert.isTrue(yield* (yield* process(guarded.url)).reachable)
      })
    )

    it.effect("a NATS that is there again and refuses us is told of", () =>
      Effect.gen(function* () {
        const guarded = yield* Effect.acquireRelease(
          Effect.promise(() => NatsServer.make({ user: "turnpike", jetstream: false })),
          (guarded) => Effect.promise(() => guarded.end())
        )
        const lines: Array<string> = []
        const refused = yield* Deferred.make<void>()
        const logger = Logger.make(({ message }) => {
          lines.push(String(message))
          if (/still away \(.*authorization/i.test(String(message))) Deferred.doneUnsafe(refused, Exit.void)
        })
        yield* process(guarded.url.replace("secret-of-turnpike", "hunter2")).pipe(
          Effect.provide(Logger.layer([logger]))
        )
        yield* Effect.promise(() => guarded.start())
        yield* Deferred.await(refused)
        assert.match(lines[0] ?? "", /^NATS is away \(connection refused\)/)
      })
    )
  })
}
