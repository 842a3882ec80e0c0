import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, layer } from "@effect/vitest"
import { Cause, Context, Duration, Effect, Fiber, Layer, PubSub, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as BusPostgres from "#layers/BusPostgres.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as Watched from "#layers/Postgres/Watched.ts"
import { Database } from "#services/Database.ts"
import { EventBus } from "#services/EventBus.ts"
import { isDatabaseAway } from "#services/Health.ts"

/** What stands between a server and its database, such as a firewall, and may forget the connections that there are. */
class Between extends Context.Service<Between, { readonly forgetAll: Effect.Effect<void> }>()(
  "turnpike/test/layers/PostgresWatched.test/Between"
) {}

const way = Effect.gen(function* () {
  const { config } = yield* Database
  const directory = mkdtempSync(join(tmpdir(), "turnpike-way-"))
  const path = join(directory, "socket")
  const known = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(config.path ?? "")
    const carry = (from: Socket, to: Socket) => {
      // No word, no end and no error comes through any more.
      from.on("data", (bytes) => known.has(near) && to.write(bytes))
      from.on("close", () => known.has(near) && to.destroy())
      from.on("error", () => {})
    }
    known.add(near)
    carry(near, far)
    carry(far, near)
  })
  yield* Effect.callback<void>((resume) => {
    server.listen(path, () => resume(Effect.void))
  })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      server.close()
      rmSync(directory, { recursive: true, force: true })
    })
  )
  return Context.make(Between, { forgetAll: Effect.sync(() => known.clear()) }).pipe(
    Context.add(Database, { config: { ...config, path }, embedded: false })
  )
})

const patience = Layer.succeed(Watched.Patience, Duration.seconds(1))
const Test = Postgres.layerPoolWatched.pipe(
  Layer.provideMerge(Layer.effectContext(way)),
  Layer.provide(Postgres.layerTest),
  Layer.provide(patience)
)

describe("a connection to the database that was forgotten on the way", () => {
  layer(Test, { timeout: "30 seconds", excludeTestServices: true })((it) => {
    it.effect("leaves nobody waiting, in or outside of a transaction, and there are new ones", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { forgetAll } = yield* Between
        yield* sql`SELECT 1`
        yield* forgetAll
        assert.isTrue(isDatabaseAway(yield* Effect.flip(sql`SELECT 1`)))
        const lost = sql.withTransaction(Effect.andThen(Effect.andThen(sql`SELECT 1`, forgetAll), sql`SELECT 2`))
        assert.isTrue(isDatabaseAway(Cause.squash(yield* Effect.flip(Effect.sandbox(lost)))))
        // The pool may have had others that were quiet.
        assert.lengthOf(yield* Effect.retry(sql`SELECT 3`, { times: 3 }), 1)
      })
    )

    it.effect("is not one that is quiet: that one goes on", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const session = sql`SELECT pg_backend_pid() AS pid`
        const { config } = yield* Database
        const other = yield* Effect.provide(PgClient.makeClient(config), Reactivity.layer)
        // Others are busy for longer than an answer is waited for.
        const elsewhere = other`SELECT pg_sleep(1.5)`
        const kept = Effect.all([session, Effect.andThen(elsewhere, session)])
        const [before, after] = yield* sql.withTransaction(kept)
        assert.deepStrictEqual(after, before)
      })
    )
  })

  const bus = BusPostgres.layer.pipe(
    Layer.provideMerge(Test),
    Layer.provide(patience),
    Layer.provide(Layer.succeed(BusPostgres.Attention, { every: Duration.millis(100), patience: Duration.millis(500) }))
  )
  layer(bus, { timeout: "30 seconds", excludeTestServices: true })((it) => {
    it.effect("and over which nobody says anything is missed, and made again: readers are told, and hear again", () =>
      Effect.gen(function* () {
        const { publish, subscribe } = yield* EventBus
        const { forgetAll } = yield* Between
        const reader = yield* subscribe("news")
        yield* forgetAll
        assert.strictEqual(yield* PubSub.take(reader), "")
        yield* publish("news", "again")
        assert.strictEqual(yield* PubSub.take(reader), "again")
      })
    )
  })
})

describe("a watched connection", () => {
  layer(Postgres.layerTest, { timeout: "30 seconds" })((it) => {
    it.effect("goes to the socket whose directory stands in the place of the host, as libpq has it", () =>
      Effect.gen(function* () {
        const { config } = yield* Database
        const given = new URL(Redacted.value(config.url ?? Redacted.make("")))
        const directory = encodeURIComponent(given.searchParams.get("host") ?? "")
        const url = Redacted.make(`postgres://${given.username}@${directory}${given.pathname}`)
        const sql = yield* PgClient.makeClient(yield* Watched.watched(Postgres.fromUrl(url)))
        assert.deepStrictEqual(yield* sql`SELECT 1 AS one`, [{ one: 1 }])
      }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
    )

    it.effect(
      "goes on with what is asked next when this process stood still for longer than it waits and the answer came meanwhile",
      () =>
        Effect.gen(function* () {
          const { config } = yield* Database
          const other = yield* SqlClient.SqlClient
          const sql = yield* PgClient.makeClient(yield* Watched.watched(config))
          const standstill = Effect.sync(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500))
          const asked = Effect.gen(function* () {
            const [session] = yield* sql`SELECT pg_backend_pid() AS pid`
            const slow = yield* Effect.forkChild(sql`SELECT 'slept' AS it FROM pg_sleep(0.7)`)
            const asleep = other`SELECT FROM pg_stat_activity WHERE pid = ${session?.["pid"]} AND wait_event = 'PgSleep'`
            yield* Effect.repeat(asleep, { until: (found) => found.length === 1 })
            yield* standstill
            assert.deepStrictEqual(yield* Fiber.join(slow), [{ it: "slept" }])
            assert.deepStrictEqual(yield* sql`SELECT 'asked' AS it`, [{ it: "asked" }])
          })
          yield* sql.withTransaction(asked)
        }).pipe(Effect.scoped, Effect.provide([Reactivity.layer, patience]))
    )
  })
})
