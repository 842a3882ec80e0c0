import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import type { ServerResponse } from "node:http"
import { afterAll } from "vitest"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { closeAll } from "./PublicHttpHarness.ts"
import {
  answering,
  attempts,
  happen,
  otherProcess,
  receiver,
  settle,
  subscribe,
  testLayer,
  until,
  times
} from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

/** Does something in a transaction of another's, and leaves it open: `finally` goes on with it. */
const another = Effect.fnUntraced(function* <A, B>(
  first: Effect.Effect<A, SqlError.SqlError>,
  last: Effect.Effect<B, SqlError.SqlError>
) {
  const sql = yield* SqlClient.SqlClient
  const began = yield* Deferred.make<void>()
  const end = yield* Deferred.make<void>()
  const running = yield* first.pipe(
    Effect.andThen(Deferred.succeed(began, undefined)),
    Effect.andThen(Deferred.await(end)),
    Effect.andThen(last),
    sql.withTransaction,
    Effect.forkScoped
  )
  yield* Deferred.await(began)
  return { finish: Effect.andThen(Deferred.succeed(end, undefined), Fiber.join(running)) }
})

/** Whether somebody comes to wait for a lock before this is over. */
const waits = Effect.fnUntraced(function* (fiber: Fiber.Fiber<unknown, unknown>, lock = "%") {
  const sql = yield* SqlClient.SqlClient
  const waiting = Effect.repeat(
    sql`SELECT pg_sleep(0.002), EXISTS (
      SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event LIKE ${lock} AND datname = current_database()) AS waits`,
    { until: ([row]) => row?.["waits"] === true, times: 10_000 }
  )
  return yield* Effect.raceFirst(Effect.as(waiting, true), Effect.as(Fiber.await(fiber), false))
})

layer(testLayer(), { timeout: "60 seconds" })("who makes attempts", (it) => {
  it.effect("waits for nobody who has lanes in hand, and makes those of other subscriptions meanwhile", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { received, state, url } = yield* receiver(answering(500))
      const held = yield* subscribe(url)
      const free = yield* subscribe(url)
      const both = Effect.andThen(happen(held.caller), happen(free.caller))
      yield* both
      yield* settle
      yield* TestClock.adjust("40 seconds")
      state.answer = answering(200)
      yield* both
      const { deliverDue, expand } = yield* WebhookDeliveries
      yield* Effect.repeat(expand, { while: (isMore) => isMore })
      const other = yield* another(
        sql`SELECT 1 FROM webhook_lanes WHERE webhook_id = ${held.id} FOR NO KEY UPDATE`,
        Effect.void
      )
      const delivering = yield* Effect.forkScoped(deliverDue)
      assert.isFalse(yield* waits(delivering))
      assert.strictEqual(yield* Fiber.join(delivering), 2)
      yield* other.finish
      assert.strictEqual(yield* deliverDue, 2)
      assert.strictEqual(received.length, 6)
    })
  )
})

layer(testLayer(), { timeout: "60 seconds" })("who tidies up", (it) => {
  it.effect("waits for nobody who forgets the same attempts, as a deleted subscription's are", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { url } = yield* receiver()
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller, times(150))
      yield* settle
      const { tidy } = yield* WebhookDeliveries
      const other = yield* another(
        sql`SELECT 1 FROM webhook_deliveries WHERE webhook_id = ${id} FOR UPDATE`,
        Effect.void
      )
      const tidying = yield* Effect.forkScoped(tidy)
      assert.isFalse(yield* waits(tidying))
      yield* other.finish
      yield* Fiber.join(tidying)
    })
  )

  it.effect("waits for nobody who forgets the same failures", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { url } = yield* receiver(answering(410))
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller)
      yield* settle
      yield* TestClock.adjust("31 days")
      const { tidy } = yield* WebhookDeliveries
      const other = yield* another(
        sql`SELECT 1 FROM webhook_deliveries WHERE webhook_id = ${id} FOR UPDATE`,
        Effect.void
      )
      const tidying = yield* Effect.forkScoped(tidy)
      assert.isFalse(yield* waits(tidying))
      yield* other.finish
      yield* Fiber.join(tidying)
      assert.strictEqual(yield* tidy, 1)
    })
  )

  it.effect("waits for nobody who has a deserted lane in hand", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { tidy } = yield* WebhookDeliveries
      yield* sql`INSERT INTO webhook_lanes (webhook_id, again, blocked) VALUES (gen_random_uuid(), false, true)`
      const other = yield* another(sql`SELECT 1 FROM webhook_lanes WHERE blocked FOR UPDATE`, Effect.void)
      const tidying = yield* Effect.forkScoped(tidy)
      assert.isFalse(yield* waits(tidying))
      yield* other.finish
      yield* Fiber.join(tidying)
    })
  )

  it.effect(
    "leaves a subscription and its lanes to who has it in hand, and makes its lost attempts again in a later turn",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const waiting: Array<ServerResponse> = []
        const { state, url } = yield* receiver((_, response) => void waiting.push(response))
        const { caller, id } = yield* subscribe(url)
        const first = yield* otherProcess()
        yield* happen(caller)
        yield* first.expand
        yield* Effect.forkScoped(first.deliverDue)
        yield* until(() => waiting.length === 1)
        yield* first.kill
        state.answer = answering(200)
        yield* TestClock.adjust("46 seconds")
        const { tidy } = yield* WebhookDeliveries
        const other = yield* another(
          sql`SELECT 1 FROM webhooks WHERE id = ${id} FOR NO KEY UPDATE`,
          sql`SELECT 1 FROM webhook_lanes WHERE webhook_id = ${id} FOR NO KEY UPDATE NOWAIT`
        )
        const tidying = yield* Effect.forkScoped(tidy)
        assert.isFalse(yield* waits(tidying))
        yield* Fiber.join(tidying)
        assert.strictEqual((yield* attempts(caller, id)).length, 1)
        assert.strictEqual((yield* other.finish).length, 1)
        yield* tidy
        assert.strictEqual((yield* attempts(caller, id)).length, 2)
        waiting[0]?.end()
      })
  )

  it.effect("takes the lanes of subscriptions that have more to forget in turn, as who follows the log does", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { url } = yield* receiver()
      const first = yield* subscribe(url)
      const { expand, tidy } = yield* WebhookDeliveries
      const second = yield* subscribe(url, { by: first.caller })
      yield* happen(first.caller, times(700))
      yield* expand
      yield* sql`UPDATE webhook_deliveries SET status = 'delivered', sent_at = due_at, url = ${url}
        WHERE webhook_id IN (${first.id}, ${second.id})`
      // The first one's lane now stands behind the second one's, in a table that is read as it stands.
      yield* sql`UPDATE webhook_lanes SET finished = 700 WHERE webhook_id = ${second.id}`
      yield* sql`UPDATE webhook_lanes SET finished = 700 WHERE webhook_id = ${first.id}`
      yield* sql`ANALYZE webhook_lanes`
      const lane = (id: string) =>
        sql`SELECT 1 FROM webhook_lanes WHERE webhook_id = ${id} AND NOT again FOR NO KEY UPDATE`
      const stopped = yield* another(sql`LOCK TABLE webhook_deliveries IN SHARE MODE`, Effect.void)
      const tidying = yield* Effect.forkScoped(tidy)
      assert.isTrue(yield* waits(tidying))
      const follower = yield* another(lane(first.id), sql`${lane(second.id)} NOWAIT`)
      yield* stopped.finish
      assert.isTrue(yield* waits(tidying, "transactionid"))
      assert.strictEqual((yield* follower.finish).length, 1)
      assert.strictEqual(yield* Fiber.join(tidying), 1200)
    })
  )

  it.effect("finds that who shuts a subscription takes both of its lanes in turn, also when a retry was told so", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { state, url } = yield* receiver(answering(500))
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller)
      yield* settle
      state.answer = answering(410)
      yield* TestClock.adjust("1 minute")
      const lane = (again: boolean) => sql`SELECT 1 FROM webhook_lanes WHERE webhook_id = ${id} AND again = ${again}`
      const other = yield* another(sql`${lane(false)} FOR NO KEY UPDATE`, sql`${lane(true)} FOR NO KEY UPDATE NOWAIT`)
      const { deliverDue } = yield* WebhookDeliveries
      const delivering = yield* Effect.forkScoped(deliverDue)
      assert.isTrue(yield* waits(delivering))
      assert.strictEqual((yield* other.finish).length, 1)
      assert.isAtLeast(yield* Fiber.join(delivering), 1)
    })
  )
})
