import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import * as Migrations from "#layers/migrations/Migrations.ts"
import * as Postgres from "#layers/Postgres.ts"
import { passed } from "#services/RealTime.ts"

layer(Postgres.layerTest, { timeout: "60 seconds" })("a migration of a table that somebody reads for long", (it) => {
  it.effect(
    "has those who use it wait for a moment at first, and leaves them as long between its tries, or longer",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE busy (id int)`
        const [reading, ended] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const reads = sql`SELECT id FROM busy`.pipe(
          Effect.andThen(Deferred.succeed(reading, undefined)),
          Effect.andThen(Deferred.await(ended)),
          sql.withTransaction
        )
        const reader = yield* Effect.forkChild(reads)
        yield* Deferred.await(reading)
        const tries: Array<{ readonly at: number; readonly wait: number }> = []
        const column = Effect.gen(function* () {
          const [row] = yield* sql`SELECT extract(epoch FROM current_setting('lock_timeout')::interval) * 1000 AS wait`
          if (tries.push({ at: passed(), wait: Number(row?.["wait"]) }) === 6) yield* Deferred.succeed(ended, undefined)
          yield* sql`ALTER TABLE busy ADD COLUMN more int`
        })
        assert.lengthOf(yield* Migrations.run(Migrator.fromRecord({ "9999_column": column })), 1)
        yield* Fiber.join(reader)
        const waits = tries.map(({ wait }) => wait)
        // Never as long as Postgres waits before it looks for deadlocks, and ends one of those who are in them.
        assert.deepStrictEqual(waits, [100, 200, 400, 800, 800, 800])
        for (const [index, { at, wait }] of tries.slice(0, -1).entries()) {
          const next = tries[index + 1] ?? assert.fail("there is a next one")
          assert.isAtLeast(next.at - at, 1.9 * wait)
        }
      })
  )
})
