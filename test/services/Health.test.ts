import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"
import { EventBus } from "#services/EventBus.ts"
import { Health, isDatabaseAway } from "#services/Health.ts"

const Test = Layer.merge(Postgres.layerTest, BusMemory.layer)

/** A process whose bus is asked for itself by `ask`. */
const healthOver = (ask: Effect.Effect<boolean>) =>
  Effect.gen(function* () {
    const bus = yield* EventBus
    const counting = Layer.succeed(EventBus, EventBus.of({ ...bus, reachable: ask }))
    const built = yield* Layer.build(Layer.fresh(Health.layer).pipe(Layer.provide(counting)))
    return yield* Effect.provideContext(Health, built)
  })

layer(Test, { timeout: "60 seconds" })("Health", (it) => {
  it.effect("what changed is told at once", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { database } = yield* healthOver(Effect.succeed(true))
      assert.deepStrictEqual(yield* database, { postgres: "up", migrations: "done", writable: "up" })
      yield* sql`ALTER TABLE schema_migrations RENAME TO elsewhere`
      assert.deepStrictEqual(yield* database, { postgres: "up", migrations: "pending", writable: "up" })
      yield* sql`ALTER TABLE elsewhere RENAME TO schema_migrations`
    })
  )

  it.effect("a server that only reads is there, and cannot be written", () =>
    Effect.gen(function* () {
      const { config, embedded } = yield* Database
      const startupParameters = { ...config.startupParameters, default_transaction_read_only: "on" }
      const standby = Layer.succeed(Database, { config: { ...config, startupParameters }, embedded })
      const pool = yield* Layer.build(Layer.fresh(Postgres.layerPool).pipe(Layer.provide(standby)))
      const { database } = yield* Effect.provideContext(healthOver(Effect.succeed(true)), pool)
      assert.deepStrictEqual(yield* database, { postgres: "up", migrations: "done", writable: "down" })
    })
  )

  it.effect("a privilege that was lost is the database that does not let us, and a broken statement is not", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const fault = (code: string) =>
        Effect.flip(sql.unsafe(`DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$`))
      assert.isTrue(isDatabaseAway(yield* fault("42501")))
      assert.isFalse(isDatabaseAway(yield* fault("42P01")))
    })
  )

  it.effect("any number who ask at once are one question, and what did not answer is asked again", () =>
    Effect.gen(function* () {
      const answer = yield* Deferred.make<boolean>()
      let asked = 0
      const { bus } = yield* healthOver(
        Effect.andThen(
          Effect.sync(() => asked++),
          Deferred.await(answer)
        )
      )
      const all = Effect.all(
        Array.from({ length: 50 }, () => bus),
        { concurrency: 50 }
      )
      const waiting = yield* Effect.forkScoped(all, { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual([...new Set(yield* Fiber.join(waiting))], ["down"])
      assert.strictEqual(asked, 1)
      yield* Deferred.succeed(answer, true)
      assert.strictEqual(yield* bus, "up")
      assert.strictEqual(asked, 2)
    })
  )
})
