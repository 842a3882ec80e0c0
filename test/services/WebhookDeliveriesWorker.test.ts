import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import type { ServerResponse } from "node:http"
import { afterAll } from "vitest"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { closeAll } from "./PublicHttpHarness.ts"
import {
  attempts,
  broken,
  expandAll,
  happen,
  receiver,
  subscribe,
  testLayer,
  until
} from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

/** The worker of a process, and how the process stops. */
const worker = Effect.gen(function* () {
  const scope = yield* Scope.fork(yield* Effect.scope)
  yield* Layer.buildWithScope(WebhookDeliveries.layerWorker, scope)
  return { stop: Scope.close(scope, Exit.void) }
})

/** Seconds pass, a little of each in real time, until it is so, which it must be. */
const secondsUntil = <E, R>(isSo: Effect.Effect<boolean, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`SELECT pg_sleep(0.01)`.pipe(
      Effect.andThen(TestClock.adjust("1 second")),
      Effect.andThen(isSo),
      Effect.repeat({ until: (so) => so, times: 1000 }),
      Effect.tap((so) => Effect.sync(() => assert.isTrue(so, "it has never come to be so")))
    )
  )

const waiting = (responses: Array<ServerResponse>) => secondsUntil(Effect.sync(() => responses.length > 0))

// No lease ends while seconds pass, however many of them a busy machine needs.
const policy = { lease: Duration.hours(1), drain: Duration.seconds(8) }

layer(testLayer(policy), { timeout: "60 seconds" })("the worker of webhooks", (it) => {
  it.effect("takes what happens to its receiver without anybody's doing and without waiting for a clock", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver()
      const { caller } = yield* subscribe(url)
      const { stop } = yield* worker
      yield* happen(caller)
      yield* until(() => received.length === 1)
      assert.strictEqual(JSON.parse(received[0]?.body ?? "").type, "transfer.completed")
      yield* stop
    })
  )

  it.effect("goes on by itself when the database has dropped its connections, in the middle of a call too", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const responses: Array<ServerResponse> = []
      const { state, url } = yield* receiver((_, response) => void responses.push(response))
      const { caller, id } = yield* subscribe(url)
      const { stop } = yield* worker
      const cut = sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'turnpike-webhooks-%'`
      yield* happen(caller)
      yield* waiting(responses)
      assert.isAtLeast((yield* cut).length, 1)
      state.answer = (_, response) => response.end()
      for (const response of responses) response.end()
      yield* happen(caller, ["transfer.failed"])
      const written = Effect.map(
        attempts(caller, id),
        (all) => all.filter(({ status }) => status === "delivered").length
      )
      yield* secondsUntil(Effect.map(written, (count) => count === 2))
      yield* stop
      assert.deepStrictEqual(
        (yield* attempts(caller, id)).map(({ attempt, status }) => [attempt, status]),
        [
          [1, "delivered"],
          [1, "delivered"]
        ]
      )
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("that stops waits for the calls in flight and writes what came of them", () =>
    Effect.gen(function* () {
      const responses: Array<ServerResponse> = []
      const { url } = yield* receiver((_, response) => void responses.push(response))
      const { caller, id } = yield* subscribe(url)
      const { stop } = yield* worker
      yield* happen(caller)
      yield* waiting(responses)
      const stopping = yield* Effect.forkScoped(stop)
      yield* TestClock.adjust("7 seconds")
      for (const response of responses) response.end("in the end")
      yield* Fiber.join(stopping)
      const [only] = yield* attempts(caller, id)
      assert.strictEqual(only?.status, "delivered")
      assert.strictEqual(only?.response?.body, "in the end")
    })
  )

  it.effect("that stops leaves calls that hang after eight seconds to another, who makes them again at once", () =>
    Effect.gen(function* () {
      const responses: Array<ServerResponse> = []
      const { received, state, url } = yield* receiver((_, response) => void responses.push(response))
      const { caller, id } = yield* subscribe(url)
      const { deliver, drain } = yield* WebhookDeliveries
      yield* happen(caller)
      yield* expandAll
      const delivering = yield* Effect.forkScoped(deliver)
      yield* until(() => responses.length > 0)
      state.answer = (_, response) => response.end()
      yield* Fiber.interrupt(delivering)
      const draining = yield* Effect.forkScoped(drain, { startImmediately: true })
      yield* TestClock.adjust("7999 millis")
      assert.isUndefined(draining.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(draining)
      // No time passes any more.
      const other = yield* worker
      yield* until(() => received.length === 2)
      // What was given up is nobody's any more, whatever comes of it; whoever stops waits until it has come.
      for (const response of responses) response.writeHead(500).end()
      yield* other.stop
      assert.deepStrictEqual(
        (yield* attempts(caller, id)).map(({ attempt, failure }) => [attempt, failure]),
        [
          [1, "lost"],
          [1, null]
        ]
      )
      assert.strictEqual(received[0]?.body, received[1]?.body)
      assert.deepStrictEqual(yield* broken, [])
    })
  )
})
