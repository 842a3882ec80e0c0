import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { Cause, Deferred, Effect, Fiber, Layer } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { mkdtempSync, rmSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"
import { EventBus } from "#services/EventBus.ts"
import { Health, isDatabaseAway } from "#services/Health.ts"
import { passed } from "#services/RealTime.ts"

const Test = Layer.merge(Postgres.layerTest, BusMemory.layer)

/** A process whose bus is asked for itself by `ask`. */
const healthOver = (ask: Effect.Effect<boolean>) =>
  Effect.gen(function* () {
    const bus = yield* EventBus
    const counting = Layer.succeed(EventBus, EventBus.of({ ...bus, reachable: ask }))
    const built = yield* Layer.build(Layer.fresh(Health.layer).pipe(Layer.provide(counting)))
    return yield* Effect.provideContext(Health, built)
  })

/** A way to the database on which it can stand still: what is asked then is answered when it goes on. */
const way = Effect.gen(function* () {
  const { config, embedded } = yield* Database
  const directory = mkdtempSync(join(tmpdir(), "turnpike-way-"))
  const path = join(directory, "socket")
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(config.path ?? "")
    for (const socket of [near, far]) sockets.add(socket.on("error", () => socket.destroy()))
    near.pipe(far).pipe(near)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(path, () => resume(Effect.void))),
    () =>
      Effect.sync(() => {
        server.close()
        rmSync(directory, { recursive: true, force: true })
      })
  )
  const behind = Layer.succeed(Database, { config: { ...config, path }, embedded })
  const pool = yield* Layer.build(Layer.fresh(Postgres.layerPool).pipe(Layer.provide(behind)))
  return {
    pool,
    /** From now on nobody answers. */
    stand: () => {
      for (const socket of sockets) socket.unpipe().pause()
    },
    cut: () => {
      for (const socket of sockets) socket.destroy()
    }
  }
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

  it.effect("who is not let in any more, or finds no database, misses it like one that is away", () =>
    Effect.gen(function* () {
      const { config } = yield* Database
      const looking = (other: PgClient.PgClientConfig) =>
        Effect.flip(Effect.flatMap(PgClient.makeClient({ ...config, ...other }), (client) => client`SELECT 1`))
      for (const other of [{ username: "a_role_that_is_gone" }, { database: "a_database_that_is_gone" }]) {
        assert.isTrue(isDatabaseAway(yield* looking(other)), JSON.stringify(other))
      }
    }).pipe(Effect.provide(Reactivity.layer))
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

  it.effect("who stood still in a transaction for too long has lost it as with a database that went away", () =>
    Effect.gen(function* () {
      const { config } = yield* Database
      const lost = Effect.gen(function* () {
        const sql = yield* PgClient.makeClient(config)
        yield* sql`SELECT set_config('idle_in_transaction_session_timeout', '1ms', true)`.pipe(
          // The server says it and ends the connection, which is heard while others are asked.
          Effect.andThen(Effect.repeat(ended, { until: (isEnded) => isEnded })),
          Effect.andThen(sql`SELECT 1`),
          sql.withTransaction
        )
      })
      const ended = Effect.map(
        Effect.flatMap(
          SqlClient.SqlClient,
          (other) =>
            other`SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT set_config(''idle_in_transaction%' AND state LIKE 'idle in%'`
        ),
        (rows) => rows.length === 0
      )
      assert.isTrue(isDatabaseAway(Cause.squash(yield* Effect.flip(Effect.sandbox(lost)))))
    }).pipe(Effect.provide(Reactivity.layer))
  )

  it.effect(
    "a database that stands still is down within a second, although its connection is not let go of so soon",
    () =>
      Effect.gen(function* () {
        const { cut, pool, stand } = yield* way
        const { database } = yield* Effect.provideContext(healthOver(Effect.succeed(true)), pool)
        assert.strictEqual((yield* database).postgres, "up")
        stand()
        const since = passed()
        for (let probe = 0; probe < 3; probe++) {
          const asking = yield* Effect.forkScoped(database, { startImmediately: true })
          yield* TestClock.adjust("1 second")
          assert.strictEqual((yield* Fiber.join(asking)).postgres, "down")
        }
        assert.isBelow(passed() - since, 3000)
        cut()
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
