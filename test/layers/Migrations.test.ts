import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import * as Migrations from "#layers/migrations/Migrations.ts"
import * as Postgres from "#layers/Postgres.ts"
import { passed } from "#services/RealTime.ts"

layer(Postgres.layerTest, { timeout: "60 seconds" })("a migration of a table that somebody reads for long", (it) => {
  it.effect("leaves those who use it time between its tries, and more each time", () =>
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
      const column = Migrator.fromRecord({ "9999_column": sql`ALTER TABLE busy ADD COLUMN more int` })
      const migrating = yield* Effect.forkChild(Migrations.run(column))
      const use = Effect.suspend(() => {
        const since = passed()
        return Effect.map(sql`INSERT INTO busy VALUES (1)`, () => passed() - since)
      })
      const free: Array<number> = []
      for (let tries = 0, time = 0; tries < 4; ) {
        const took = yield* use
        time += took
        if (took < 1_000) continue
        if (tries++ > 0) free.push(time - took)
        time = 0
      }
      yield* Deferred.succeed(ended, undefined)
      yield* Fiber.join(reader)
      assert.lengthOf(yield* Fiber.join(migrating), 1)
      const [first = 0, second = 0, third = 0] = free
      assert.isAbove(first, 50)
      assert.isAbove(second, first)
      assert.isAbove(third, second)
    })
  )
})
