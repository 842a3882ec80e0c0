import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { ServerResponse } from "node:http"
import { afterAll } from "vitest"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { Webhooks } from "#services/Webhooks.ts"
import { closeAll } from "./PublicHttpHarness.ts"
import {
  answering,
  attempts,
  expandAll,
  happen,
  multiply,
  otherProcess,
  receiver,
  settle,
  subscribe,
  testLayer,
  until,
  times
} from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

/** A receiver that answers nothing until told otherwise. */
const silent = Effect.gen(function* () {
  const waiting: Array<ServerResponse> = []
  const one = yield* receiver((_, response) => void waiting.push(response))
  const release = Effect.sync(() => {
    one.state.answer = answering(200)
    for (const response of waiting.splice(0)) response.end()
  })
  return { ...one, waiting, release }
})

layer(testLayer({ batch: 4 }), { timeout: "60 seconds" })("repeats", (it) => {
  it.effect("come in between, however many first attempts are due", () =>
    Effect.gen(function* () {
      const { received, state, url } = yield* receiver(answering(500))
      const failing = yield* subscribe(url)
      yield* happen(failing.caller)
      yield* settle
      state.answer = answering(200)
      const { caller, id } = yield* subscribe(url)
      yield* multiply(id, 23)
      yield* happen(caller)
      yield* expandAll
      yield* TestClock.adjust("1 minute")
      yield* (yield* WebhookDeliveries).deliverDue
      const [first, ...rest] = received.map(({ headers }) => headers["webhook-id"])
      assert.strictEqual(rest.length, 25)
      assert.isBelow(rest.indexOf(first), 12)
    })
  )
})

layer(testLayer({ inFlight: 1 }), { timeout: "60 seconds" })("a process with one place", (it) => {
  it.effect("makes one call after the other", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver()
      const { caller } = yield* subscribe(url)
      yield* happen(caller, times(3))
      yield* settle
      assert.strictEqual(received.length, 3)
    })
  )
})

layer(testLayer(), { timeout: "60 seconds" })("the lanes of a subscription", (it) => {
  it.effect("have places of their own: a repeat does not wait for first attempts that hang", () =>
    Effect.gen(function* () {
      const { release, state, url, waiting } = yield* silent
      const hang = state.answer
      state.answer = answering(500)
      const { caller } = yield* subscribe(url)
      yield* happen(caller)
      yield* settle
      state.answer = hang
      yield* happen(caller, times(6))
      const hung = yield* Effect.forkScoped(settle)
      yield* until(() => waiting.length === 6)
      state.answer = answering(200)
      yield* TestClock.adjust("40 seconds")
      assert.strictEqual(yield* (yield* otherProcess()).deliverDue, 1)
      yield* release
      yield* Fiber.join(hung)
    })
  )

  it.effect("are left alone while they are full, until an attempt ended or its lease did", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { received, release, url, waiting } = yield* silent
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller, times(7))
      const hung = yield* Effect.forkScoped(settle)
      yield* until(() => waiting.length === 6)
      const [lane] = yield* sql`SELECT ready_at FROM webhook_lanes WHERE webhook_id = ${id}`
      const [lease] = yield* sql`SELECT max(lease_until) AS ready_at FROM webhook_deliveries WHERE webhook_id = ${id}`
      assert.deepStrictEqual(lane, lease)
      yield* release
      yield* Fiber.join(hung)
      assert.strictEqual(received.length, 7)
    })
  )
})

layer(testLayer(), { timeout: "60 seconds" })("a subscription that is shut", (it) => {
  it.effect("gets nothing of what was due when it was paused, however much that was", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver()
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller, times(450))
      yield* expandAll
      yield* (yield* Webhooks).update(caller, id, { status: "paused" })
      yield* (yield* WebhookDeliveries).deliverDue
      assert.strictEqual(received.length, 0)
      const all = yield* attempts(caller, id)
      assert.deepStrictEqual([...new Set(all.map(({ failure }) => failure))], ["stopped"])
    })
  )

  it.effect("gets what it asked for again while it is paused, and nothing after it said that it is gone", () =>
    Effect.gen(function* () {
      const { received, state, url } = yield* receiver()
      const { caller, id } = yield* subscribe(url)
      const since = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      yield* happen(caller, times(3))
      yield* settle
      yield* TestClock.adjust("1 second")
      const { deliverDue, replayAll } = yield* WebhookDeliveries
      yield* replayAll(caller, id, { since: new Date(since) })
      yield* (yield* Webhooks).update(caller, id, { status: "paused" })
      yield* TestClock.adjust("20 millis")
      yield* deliverDue
      assert.strictEqual(received.length, 4)
      state.answer = answering(410)
      yield* TestClock.adjust("20 millis")
      yield* deliverDue
      yield* TestClock.adjust("1 second")
      yield* deliverDue
      assert.strictEqual(received.length, 5)
      const replays = (yield* attempts(caller, id)).filter(({ cause }) => cause === "replay")
      assert.sameMembers(
        replays.map(({ failure }) => failure),
        [null, "status", "stopped"]
      )
    })
  )
})
