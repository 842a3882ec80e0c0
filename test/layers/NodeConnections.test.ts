import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import type { ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import { SocketOutlet } from "#http/SocketOutlet.ts"
import * as Node from "#layers/Node.ts"
import { Deployment } from "#services/Deployment.ts"
import { HttpListener } from "#services/HttpListener.ts"

const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
const until = (met: () => boolean) => Effect.repeat(turn, { until: met })

const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

interface Caller {
  readonly socket: Socket
  readonly isGone: () => boolean
  readonly read: () => string
}

/** A server with room for so many, its callers, and what it was asked, which is answered when the test says so. */
const sceneFor = Effect.fnUntraced(function* (room: number) {
  const said: Array<string> = []
  const settings = ConfigProvider.fromUnknown({ PORT: "0", HOST: "127.0.0.1", TURNPIKE_MAX_CONNECTIONS: `${room}` })
  const context = yield* Layer.build(Layer.fresh(Node.layer).pipe(Layer.provide(ConfigProvider.layer(settings)))).pipe(
    Effect.provideService(Logger.CurrentLoggers, new Set([Logger.make(({ message }) => said.push(String(message)))]))
  )
  const { intercept, server } = Context.get(context, HttpListener)
  const asked: Array<ServerResponse> = []
  yield* intercept((_, response) => asked.push(response) > 0)
  let heard = 0
  for (const event of ["connection", "drop"]) server.on(event, () => heard++)
  const port = Number(new URL(Context.get(context, Deployment).publicUrl).port)

  const arriving = Effect.fnUntraced(function* (meanwhile: () => void) {
    const before = heard
    let [gone, read] = [false, ""]
    const socket = connect(port, "127.0.0.1")
    yield* Effect.addFinalizer(() => Effect.sync(() => void socket.destroy()))
    socket.on("error", () => undefined).on("data", (chunk) => (read += chunk.toString()))
    socket.once("close", () => (gone = true))
    meanwhile()
    yield* until(() => heard > before)
    return { socket, isGone: () => gone, read: () => read } satisfies Caller
  })
  const arrive = arriving(() => {})
  const ask = Effect.fnUntraced(function* ({ isGone, socket }: Caller) {
    const before = asked.length
    socket.write(request)
    yield* until(() => asked.length > before || isGone())
    return asked[before] ?? assert.fail("the connection was cut")
  })
  const isAnswered = Effect.fnUntraced(function* (caller: Caller) {
    const response = yield* ask(caller)
    response.end("done")
    yield* until(() => caller.read().endsWith("done"))
  })
  /** However long they have had their connections, the newcomer is cut off and not they. */
  const areKept = Effect.fnUntraced(function* (callers: ReadonlyArray<Caller>) {
    yield* TestClock.adjust("1 minute")
    yield* until((yield* arrive).isGone)
    assert.isFalse(callers.some(({ isGone }) => isGone()))
  })
  return { areKept, arrive, arriving, ask, asked, isAnswered, said }
})
const scene = sceneFor(3)

const full =
  "No more than 3 connections are taken (TURNPIKE_MAX_CONNECTIONS); idle ones that gave way to newcomers: 0, newcomers that were cut off: 1"

describe("when all connections are taken", () => {
  it.effect("a newcomer gets the place of whoever has asked for nothing for longest", () =>
    Effect.gen(function* () {
      const { arrive, isAnswered } = yield* scene
      const callers = [yield* arrive, yield* arrive]
      yield* TestClock.adjust("100 millis")
      callers.push(yield* arrive)
      yield* until(() => callers.some(({ isGone }) => isGone()))
      yield* Effect.forEach(callers.slice(1), isAnswered)
      yield* isAnswered(yield* arrive)
      assert.deepStrictEqual(
        callers.map(({ isGone }) => isGone()),
        [true, false, false]
      )
    })
  )

  it.effect("who has had an answer keeps its place for longer than who never asked", () =>
    Effect.gen(function* () {
      const { arrive, isAnswered } = yield* scene
      const known = yield* arrive
      yield* isAnswered(known)
      const silent = yield* arrive
      yield* TestClock.adjust("100 millis")
      yield* isAnswered(yield* arrive)
      yield* until(() => silent.isGone() || known.isGone())
      assert.isFalse(known.isGone())
      yield* isAnswered(yield* arrive)
      yield* until(known.isGone)
    })
  )

  it.effect("whose request is under way keeps it, a newcomer is cut off, and the operator is told once a minute", () =>
    Effect.gen(function* () {
      const { arrive, ask, said } = yield* scene
      const callers = [yield* arrive, yield* arrive, yield* arrive]
      const answers = yield* Effect.forEach(callers, ask)
      yield* TestClock.adjust("1 hour")
      for (let time = 0; time < 2; time++) {
        const newcomer = yield* arrive
        yield* until(newcomer.isGone)
        yield* TestClock.adjust("10 seconds")
      }
      for (const answer of answers) answer.end("done")
      yield* until(() => callers.every(({ read }) => read().endsWith("done")))
      assert.deepStrictEqual(said, [full])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(said, [full, full], "what was told is not told again")
    })
  )

  it.effect("a newcomer who was cut off finds a place when it comes again", () =>
    Effect.gen(function* () {
      const { arrive, isAnswered } = yield* scene
      const callers = [yield* arrive, yield* arrive, yield* arrive]
      yield* TestClock.adjust("100 millis")
      const newcomer = yield* arrive
      yield* until(newcomer.isGone)
      yield* isAnswered(yield* arrive)
      yield* until(() => callers.some(({ isGone }) => isGone()))
    })
  )

  it.effect("whose next request is under way keeps it, however long ago the one before it was answered", () =>
    Effect.gen(function* () {
      const { arrive, ask, isAnswered } = yield* scene
      const callers = [yield* arrive, yield* arrive, yield* arrive]
      yield* Effect.forEach(callers, isAnswered)
      const answers = yield* Effect.forEach(callers, ask)
      yield* TestClock.adjust("1 minute")
      const newcomer = yield* arrive
      yield* until(newcomer.isGone)
      for (const answer of answers) answer.end("done again")
      yield* until(() => callers.every(({ isGone, read }) => isGone() || read().endsWith("done again")))
      assert.isFalse(callers.some(({ isGone }) => isGone()))
    })
  )

  it.effect("whose next request waited behind the one before it keeps it", () =>
    Effect.gen(function* () {
      const { areKept, arrive, asked } = yield* scene
      const callers = [yield* arrive, yield* arrive, yield* arrive]
      for (const { socket } of callers) socket.write(request + request)
      yield* until(() => asked.length === 3)
      for (const answer of asked.slice()) answer.end("done")
      yield* until(() => asked.length === 6)
      yield* areKept(callers)
    })
  )

  it.effect("whose connection is a stream's keeps it", () =>
    Effect.gen(function* () {
      const { areKept, arrive, ask } = yield* scene
      const callers = [yield* arrive, yield* arrive, yield* arrive]
      for (const response of yield* Effect.forEach(callers, ask)) {
        if (response.socket === null) return yield* Effect.die("nobody is there")
        new SocketOutlet(response, response.socket, ["content-type", "text/event-stream"], () => {}).begin()
      }
      yield* areKept(callers)
    })
  )

  it.effect("who left by himself is not who gives way", () =>
    Effect.gen(function* () {
      const { arrive, isAnswered } = yield* scene
      const left = [yield* arrive, yield* arrive]
      for (const { socket } of left) socket.destroy()
      yield* until(() => left.every(({ isGone }) => isGone()))
      const silent = yield* arrive
      yield* TestClock.adjust("100 millis")
      for (let time = 0; time < 3; time++) yield* isAnswered(yield* arrive)
      yield* until(silent.isGone)
    })
  )

  it.effect("a request that arrived with a newcomer is read before it is said who asks for nothing", () =>
    Effect.gen(function* () {
      const { arrive, arriving, asked } = yield* scene
      const [asking, silent] = [yield* arrive, yield* arrive]
      yield* TestClock.adjust("100 millis")
      // Behind the connection, which is asked for in a tick of its own.
      yield* arriving(() => process.nextTick(() => asking.socket.write(request)))
      yield* until(() => asking.isGone() || silent.isGone())
      assert.deepStrictEqual([asking.isGone(), asked.length], [false, 1])
    })
  )

  it.effect("one of a hundred places is kept free", () =>
    Effect.gen(function* () {
      const { arrive } = yield* sceneFor(200)
      const callers: Array<Caller> = []
      for (let caller = 0; caller < 200; caller++) callers.push(yield* arrive)
      yield* TestClock.adjust("100 millis")
      const newcomer = yield* arrive
      yield* until(newcomer.isGone)
      for (let time = 0; time < 10; time++) yield* turn
      assert.deepStrictEqual(
        callers.map(({ isGone }) => isGone()),
        callers.map((_, place) => place < 2)
      )
    })
  )

  it.effect("nobody gives way who has only just come, or has only just been answered", () =>
    Effect.gen(function* () {
      const { arrive, isAnswered } = yield* scene
      const callers = [yield* arrive, yield* arrive, yield* arrive]
      yield* Effect.forEach(callers, isAnswered)
      yield* TestClock.adjust("99 millis")
      const newcomer = yield* arrive
      yield* until(newcomer.isGone)
      assert.isFalse(callers.some(({ isGone }) => isGone()))
    })
  )
})
