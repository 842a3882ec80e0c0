import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import { SqlClient } from "effect/sql"
import * as Test from "#layers/Test.ts"
import { ended, read, record, shop } from "./StatisticsHarness.ts"

layer(Test.layer, { timeout: "60 seconds" })("a database that is back at an earlier state", (it) => {
  it.effect("shows what it has to somebody who waited to count what it had", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const market = yield* shop
      yield* record([ended(market, {}), ended(market, {})])
      const [isLocked, isOver] = [Latch.makeUnsafe(), Latch.makeUnsafe()]
      const holding = sql`SELECT 1 FROM statistics_cursor WHERE log = 1 FOR UPDATE`.pipe(
        Effect.andThen(isLocked.open),
        Effect.andThen(isOver.await),
        sql.withTransaction
      )
      const holder = yield* Effect.forkChild(holding)
      yield* isLocked.await
      const first = yield* Effect.forkChild(read(market, "all"))
      // Of this database alone: the locks are those of all tests that run, and who is found here is ended.
      const waits = sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      const [stuck] = yield* Effect.repeat(waits, { until: (rows) => rows.length > 0 })
      // Sees how long the log is, and waits for the first one.
      const second = yield* Effect.forkChild(read(market, "all"))
      yield* Effect.repeat(sql`SELECT 1`, { times: 100 })
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`ALTER TABLE events DISABLE TRIGGER append_only`
          yield* sql`DELETE FROM events WHERE seq = (SELECT event_seq FROM ledger_head)`
          yield* sql`UPDATE ledger_head SET event_seq = event_seq - 1 WHERE log = 1`
          yield* sql`ALTER TABLE events ENABLE TRIGGER append_only`
        })
      )
      yield* sql`SELECT pg_terminate_backend(${stuck?.["pid"]}::int)`
      yield* isOver.open
      yield* Fiber.join(holder)
      yield* Fiber.await(first)
      assert.strictEqual((yield* Fiber.join(second)).totalCalls, 1n)
    })
  )
})
