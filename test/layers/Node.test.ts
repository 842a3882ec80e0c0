import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { EventEmitter } from "node:events"
import { connect, type Socket } from "node:net"
import type { ServerResponse } from "node:http"
import * as Node from "#layers/Node.ts"
import { patience } from "#layers/Node/Lines.ts"
import { End, Patience } from "#layers/Node/Stopping.ts"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { ConnectionLost } from "#services/Database/Pipeline.ts"
import { Deployment } from "#services/Deployment.ts"
import { HttpListener } from "#services/HttpListener.ts"
import { ask } from "../http/PlatformHarness.ts"

const Test = Layer.fresh(Node.layer).pipe(
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ PORT: "0", HOST: "127.0.0.1" })))
)

layer(Test, { timeout: "60 seconds" })("a server that is starting", (it) => {
  it.effect("is alive, and everything else is to come again", () =>
    Effect.gen(function* () {
      const { publicUrl } = yield* Deployment
      const live = yield* ask(`${publicUrl}/health/live`)
      assert.deepStrictEqual([live.status, live.text], [200, '{"status":"live"}'])
      for (const path of ["/health/ready", "/health/lively", "/v1/wallets"]) {
        const { body, headers, status } = yield* ask(`${publicUrl}${path}`, { headers: { "x-request-id": "mine" } })
        assert.deepStrictEqual([status, headers.get("retry-after")], [503, "1"], path)
        assert.deepInclude(body, {
          type: `${publicUrl}/docs/errors#SERVICE_UNAVAILABLE`,
          status: 503,
          code: "SERVICE_UNAVAILABLE",
          request_id: "mine"
        })
        assert.strictEqual(headers.get("content-type"), "application/problem+json")
        assert.strictEqual(headers.get("x-request-id"), "mine")
        assert.strictEqual(headers.get("x-environment"), "test")
      }
    })
  )
})

const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

it.effect("a server that waits before it closes is told by a second signal not to", () =>
  Effect.gen(function* () {
    const settings = { PORT: "0", HOST: "127.0.0.1", TURNPIKE_DRAIN_DELAY: "5 minutes" }
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(
      Layer.fresh(Node.layer).pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings)))),
      scope
    )
    const { intercept, server, stopping } = Context.get(context, HttpListener)
    yield* intercept(() => false).pipe(Scope.provide(scope))
    const before = new Set(process.listeners("SIGTERM"))
    const stopped = yield* Effect.forkChild(Scope.close(scope, Exit.void))
    const [heard] = yield* Effect.andThen(
      turn,
      Effect.sync(() => process.listeners("SIGTERM").filter((listener) => !before.has(listener)))
    ).pipe(Effect.repeat({ until: (added) => added.length > 0 }))
    assert.isTrue(stopping())
    assert.isTrue(server.listening)
    heard?.("SIGTERM")
    yield* Fiber.join(stopped)
    assert.isFalse(server.listening)
    assert.deepStrictEqual(new Set(process.listeners("SIGTERM")), before)
  })
)

/** More than the system takes on behalf of somebody who reads nothing. */
const large = Buffer.alloc(128_000_000)

/** A caller who has asked and reads nothing, and the answer to it, of a server that nobody else asks. */
const caller = Effect.fnUntraced(function* (hasOwnRules: boolean) {
  const context = yield* Layer.build(Test)
  const { intercept, server } = Context.get(context, HttpListener)
  const { publicUrl } = Context.get(context, Deployment)
  const asked = Promise.withResolvers<ServerResponse>()
  yield* intercept((_, response) => {
    asked.resolve(response)
    return hasOwnRules
  })
  const ignore = () => undefined
  server.on("request", ignore)
  const socket = connect(Number(new URL(publicUrl).port), "127.0.0.1").pause()
  yield* Effect.addFinalizer(() => Effect.sync(() => void socket.destroy()))
  socket.on("error", ignore)
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
  const response = yield* Effect.promise(() => asked.promise)
  return { server, socket, response }
})

const handleOf = (socket: Socket | null) =>
  (socket as Socket & { readonly _handle?: { readonly writeQueueSize: number } | null })._handle
/** What of an answer is still here. */
const left = (socket: Socket | null) => handleOf(socket)?.writeQueueSize ?? 0

/** Waits until the system takes no more. */
const settled = (socket: Socket | null) =>
  Effect.suspend(() => {
    let [before, quiet] = [-1, 0]
    const look = Effect.map(turn, () => {
      quiet = left(socket) === before ? quiet + 1 : 0
      before = left(socket)
      return quiet
    })
    return Effect.repeat(look, { until: (quiet) => quiet > 200 })
  })

describe("a caller who does not read", () => {
  for (const [name, hasOwnRules, time, isTold = true] of [
    ["an answer", false, patience.answer],
    ["an answer of a route that has rules of its own", true, patience.ownRules],
    ["an answer of which Deno does not tell how much is left", false, patience.ownRules, false]
  ] as const) {
    it.effect(`holds ${name} for so long, and not longer`, () =>
      Effect.gen(function* () {
        const { response } = yield* caller(hasOwnRules)
        const { socket } = response
        response.end(large)
        yield* settled(socket)
        if (!isTold) Object.defineProperty(handleOf(socket) ?? {}, "writeQueueSize", { value: undefined })
        yield* TestClock.adjust("5 seconds")
        yield* TestClock.adjust(Duration.subtract(time, Duration.seconds(5)))
        assert.isFalse(socket?.destroyed)
        yield* TestClock.adjust("5 seconds")
        assert.isTrue(socket?.destroyed)
      })
    )
  }

  it.effect("is noticed also after the connections could not be looked at once", () =>
    Effect.gen(function* () {
      const { response, server } = yield* caller(false)
      const { socket } = response
      response.end(large)
      yield* settled(socket)
      const broken = Object.defineProperty(new EventEmitter(), "writableLength", {
        get: () => {
          throw new Error("simulated")
        }
      })
      const answer = new EventEmitter()
      server.emit("request", { socket: broken, headers: {} }, answer)
      yield* TestClock.adjust("5 seconds")
      answer.emit("close")
      yield* TestClock.adjust("25 seconds")
      assert.isTrue(socket?.destroyed)
    })
  )

  it.effect("is left alone while nothing waits for it", () =>
    Effect.gen(function* () {
      const { response } = yield* caller(false)
      response.flushHeaders()
      yield* TestClock.adjust("1 hour")
      assert.isFalse(response.destroyed)
    })
  )

  it.effect("is left alone while it takes a little now and then, although it is slow", () =>
    Effect.gen(function* () {
      const { response, socket } = yield* caller(false)
      response.end(large)
      const taking = response.socket
      for (let time = 0; time < 4; time++) {
        yield* settled(taking)
        const before = left(taking)
        socket.resume()
        yield* Effect.repeat(turn, { until: () => left(taking) < before })
        socket.pause()
        yield* TestClock.adjust("10 seconds")
      }
      assert.isFalse(taking?.destroyed)
      assert.isAbove(left(taking), 0)
    })
  )
})

it.effect("a token for the metrics that no scraper could send ends the start", () =>
  Effect.gen(function* () {
    for (const token of ["two words", "clé", " ", "x".repeat(8_193)]) {
      const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ TURNPIKE_METRICS_TOKEN: token }))
      const exit = yield* Effect.exit(Layer.build(Layer.fresh(Node.policy).pipe(Layer.provide(settings))))
      const said = Exit.isFailure(exit) ? Node.reasonOf(exit.cause) : "started"
      assert.match(said, /TURNPIKE_METRICS_TOKEN.*printable ASCII without spaces/s)
    }
  }).pipe(Effect.scoped)
)

it.effect("a database that goes away during the start is said in a sentence", () =>
  Effect.gen(function* () {
    const said = (effect: Effect.Effect<never>) => Effect.map(Effect.flip(Effect.sandbox(effect)), Node.reasonOf)
    const lost = new ConnectionLost({ message: "The database closed the connection", cause: undefined })
    assert.strictEqual(yield* said(Effect.die(lost)), "The database went away: The database closed the connection")
    const late = ServiceUnavailable.because("the ledger did not come to it in time")
    assert.strictEqual(yield* said(Effect.die(late)), "The database went away: the ledger did not come to it in time")
    assert.include(yield* said(Effect.die(new TypeError("a bug"))), "TypeError: a bug")
  })
)

/** A server that answers when it is told to, what its one caller reads, and the stop of it. */
const stoppable = Effect.gen(function* () {
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(Test, scope)
  const { intercept, server } = Context.get(context, HttpListener)
  const asked: Array<ServerResponse> = []
  yield* Scope.provide(
    intercept((_, response) => asked.push(response) > 0),
    scope
  )
  const socket = connect(Number(new URL(Context.get(context, Deployment).publicUrl).port), "127.0.0.1")
  let read = ""
  socket.on("error", () => undefined).on("data", (chunk) => (read += chunk.toString()))
  /** The process stands still for so many milliseconds when it has asked. */
  const askAndStand = (still: number) =>
    Effect.suspend(() => {
      const before = asked.length
      socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      const until = performance.now() + still
      while (performance.now() < until);
      return Effect.repeat(turn, { until: () => asked.length > before || socket.destroyed })
    })
  const ask = askAndStand(0)
  const stop = Effect.forkChild(Scope.close(scope, Exit.void)).pipe(
    Effect.tap(Effect.repeat(turn, { until: () => !server.listening }))
  )
  const isRead = Effect.repeat(turn, { until: () => read.endsWith("done") })
  const connections = Effect.sync(() => read.match(/^connection: .*/gim))
  const closed = Effect.repeat(turn, { until: () => socket.destroyed })
  return { ask, askAndStand, stop, asked, isRead, connections: Effect.andThen(closed, connections) }
})

describe("a caller who keeps the connection", () => {
  it.effect("is told with the answer that was under way when the server stopped to go elsewhere", () =>
    Effect.gen(function* () {
      const { ask, asked, connections, stop } = yield* stoppable
      yield* ask
      const stopped = yield* stop
      asked[0]?.end("done")
      yield* Fiber.join(stopped)
      assert.deepStrictEqual(yield* connections, ["Connection: close"])
    })
  )

  it.effect("has the next request answered that was on its way when the server stopped", () =>
    Effect.gen(function* () {
      const { ask, asked, connections, isRead, stop } = yield* stoppable
      yield* ask
      asked[0]?.end("done")
      yield* isRead
      const stopped = yield* stop
      yield* ask
      asked[1]?.end("done")
      yield* Fiber.join(stopped)
      assert.deepStrictEqual(yield* connections, ["Connection: keep-alive", "Connection: close"])
    })
  )

  it.effect("has the next request answered that arrived and was not read when the idle are closed", () =>
    Effect.gen(function* () {
      const { ask, askAndStand, asked, connections, isRead, stop } = yield* stoppable
      yield* ask
      asked[0]?.end("done")
      yield* isRead
      const stopped = yield* stop
      yield* askAndStand(200)
      asked[1]?.end("done")
      yield* Fiber.join(stopped)
      assert.deepStrictEqual(yield* connections, ["Connection: keep-alive", "Connection: close"])
    })
  )
})

it.effect("a stop that something keeps from ending ends all the same", () =>
  Effect.gen(function* () {
    const ended = yield* Deferred.make<void>()
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(Test, scope).pipe(
      Effect.provideService(End, Effect.asVoid(Deferred.succeed(ended, undefined))),
      Effect.provideService(Patience, Duration.millis(10))
    )
    const frozen = yield* Deferred.make<void>()
    yield* Scope.addFinalizer(scope, Deferred.await(frozen))
    yield* Scope.provide(
      Context.get(context, HttpListener).intercept(() => false),
      scope
    )
    const stopped = yield* Effect.forkChild(Scope.close(scope, Exit.void))
    yield* Deferred.await(ended)
    assert.isUndefined(stopped.pollUnsafe())
    yield* Deferred.succeed(frozen, undefined)
    yield* Fiber.join(stopped)
  })
)
