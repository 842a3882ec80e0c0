import { afterAll, assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, PubSub, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as BusMemory from "#layers/BusMemory.ts"
import * as BusNats from "#layers/BusNats.ts"
import * as BusPostgres from "#layers/BusPostgres.ts"
import * as Nats from "#layers/Nats.ts"
import * as Postgres from "#layers/Postgres.ts"
import { EventBus } from "#services/EventBus.ts"
import { Secrets } from "#services/Secrets.ts"
import * as NatsServer from "./NatsServer.ts"

/** What every bus promises, whatever carries it. */
const suite = <E>(name: string, bus: Layer.Layer<EventBus, E>) =>
  layer(bus, { timeout: "60 seconds" })(`EventBus over ${name}`, (it) => {
    it.effect("delivers to every reader of the subject, in order, its own messages included", () =>
      Effect.gen(function* () {
        const { publish, subscribe } = yield* EventBus
        const readers = [yield* subscribe("orders"), yield* subscribe("orders")]
        for (const message of ["1", "2", "3 with spaces\nand lines"]) yield* publish("orders", message)
        for (const reader of readers) {
          const seen = [yield* PubSub.take(reader), yield* PubSub.take(reader), yield* PubSub.take(reader)]
          assert.deepStrictEqual(seen, ["1", "2", "3 with spaces\nand lines"])
        }
      })
    )

    it.effect("keeps subjects apart", () =>
      Effect.gen(function* () {
        const { publish, subscribe } = yield* EventBus
        const left = yield* subscribe("left")
        const right = yield* subscribe("right")
        yield* publish("left", "l")
        yield* publish("right", "r")
        assert.deepStrictEqual([yield* PubSub.take(right), yield* PubSub.take(left)], ["r", "l"])
      })
    )

    it.effect("carries messages of 4 KB", () =>
      Effect.gen(function* () {
        const { publish, subscribe } = yield* EventBus
        const reader = yield* subscribe("large")
        const message = "é".repeat(2_048)
        yield* publish("large", message)
        assert.strictEqual(yield* PubSub.take(reader), message)
      })
    )

    it.effect("a reader gets nothing from before it came, and a subject without readers costs nothing", () =>
      Effect.gen(function* () {
        const { publish, subscribe } = yield* EventBus
        yield* Effect.scoped(subscribe("late"))
        yield* publish("late", "before")
        // On the way behind the first, so once it is here the first has been and gone.
        const fence = yield* subscribe("fence")
        yield* publish("fence", "")
        yield* PubSub.take(fence)
        const reader = yield* subscribe("late")
        yield* publish("late", "after")
        assert.strictEqual(yield* PubSub.take(reader), "after")
      })
    )

    it.effect("a reader that does not read loses the oldest, and holds nobody up", () =>
      Effect.gen(function* () {
        const { publish, subscribe } = yield* EventBus
        const slow = yield* subscribe("flood")
        const fast = yield* subscribe("flood.end")
        yield* Effect.forEach(
          Array.from({ length: 1_500 }, (_, index) => String(index)),
          (n) => publish("flood", n),
          { discard: true }
        )
        yield* publish("flood.end", "end")
        assert.strictEqual(yield* PubSub.take(fast), "end")
        const kept = yield* PubSub.takeAll(slow)
        assert.strictEqual(kept.length, 1_024)
        assert.strictEqual(kept.at(-1), "1499")
      })
    )
  })

const nats = NatsServer.binary === undefined ? undefined : await NatsServer.make({ jetstream: false })
await nats?.start()
afterAll(() => nats?.end())

const busNats = (url: string) =>
  Layer.fresh(
    BusNats.layer.pipe(Layer.provide(Secrets.layer), Layer.provide(Layer.fresh(Nats.layer(Redacted.make(url)))))
  )

const tried = ["memory", "Postgres"]
suite("memory", BusMemory.layer)
suite("Postgres", BusPostgres.layer.pipe(Layer.provide(Postgres.layerTest)))
if (nats !== undefined) {
  tried.push("NATS")
  suite("NATS", busNats(nats.url).pipe(Layer.provide(Postgres.layerTest)))
}
it(`was tried over ${tried.join(", ")}${nats === undefined ? ", and not over NATS: no nats-server is installed" : ""}`, () => {
  assert.isAtLeast(tried.length, 2)
})

/** What a bus between processes promises, whatever carries it. */
const between = <E>(name: string, bus: Layer.Layer<EventBus, E, Layer.Services<typeof BusPostgres.layer>>) =>
  layer(bus.pipe(Layer.provideMerge(Postgres.layerTest)), { timeout: "60 seconds", excludeTestServices: true })(
    `between processes, over ${name}`,
    (it) => {
      const another = Effect.map(Layer.build(Layer.fresh(bus)), (context) => Effect.provideContext(EventBus, context))

      it.effect("what one publishes, the others receive, in order", () =>
        Effect.gen(function* () {
          const here = yield* EventBus
          const there = yield* yield* another
          const [left, right] = [yield* here.subscribe("news"), yield* there.subscribe("news")]
          const messages = Array.from({ length: 500 }, (_, index) => String(index))
          for (const message of messages) yield* here.publish("news", message)
          for (const message of messages) assert.strictEqual(yield* PubSub.take(right), message)
          yield* there.publish("news", "answer")
          while ((yield* PubSub.take(left)) !== "answer");
          assert.deepStrictEqual([yield* here.reachable, yield* there.reachable], [true, true])
        })
      )

      it.effect(
        "a message published in a transaction reaches nobody before the commit, and nobody when there is none",
        () =>
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            const { publish, subscribe } = yield* EventBus
            const there = yield* yield* another
            const readers = [yield* subscribe("tx"), yield* there.subscribe("tx")]
            yield* Effect.ignore(sql.withTransaction(Effect.andThen(publish("tx", "rolled back"), Effect.fail("no"))))
            yield* sql.withTransaction(
              Effect.gen(function* () {
                yield* publish("tx", "in the transaction")
                yield* there.publish("tx", "from there")
                yield* publish("tx", "and again")
              })
            )
            yield* publish("tx", "after")
            for (const reader of readers) {
              const seen: Array<string> = []
              while (seen.length < 4) seen.push(yield* PubSub.take(reader))
              assert.deepStrictEqual(
                seen.filter((message) => message !== "from there"),
                ["in the transaction", "and again", "after"]
              )
            }
          })
      )
    }
  )

between("Postgres", BusPostgres.layer)
if (nats !== undefined) between("NATS", busNats(nats.url))

describe("over Postgres", () => {
  layer(BusPostgres.layer.pipe(Layer.provideMerge(Postgres.layerTest)), {
    timeout: "60 seconds",
    excludeTestServices: true
  })((it) => {
    it.effect(
      "after a lost connection every reader is told that it may have missed something, and the bus works again",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { publish, subscribe } = yield* EventBus
          const [left, right] = [yield* subscribe("left"), yield* subscribe("right")]
          yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'turnpike-bus' AND datname = current_database()`
          assert.deepStrictEqual([yield* PubSub.take(left), yield* PubSub.take(right)], ["", ""])
          yield* publish("left", "again")
          assert.strictEqual(yield* PubSub.take(left), "again")
        })
    )
  })
})
