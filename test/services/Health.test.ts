import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Postgres from "#layers/Postgres.ts"
import { EventBus } from "#services/EventBus.ts"
import { Health } from "#services/Health.ts"

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
      assert.deepStrictEqual(yield* database, { postgres: "up", migrations: "done" })
      yield* sql`ALTER TABLE schema_migrations RENAME TO elsewhere`
      assert.deepStrictEqual(yield* database, { postgres: "up", migrations: "pending" })
      yield* sql`ALTER TABLE elsewhere RENAME TO schema_migrations`
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
