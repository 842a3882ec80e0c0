import { jetstreamManager } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { afterAll, afterEach, assert, it } from "@effect/vitest"
import { Clock, Effect, Layer, Logger, Result, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { toTypeId } from "#domain/Ids.ts"
import * as EventRelay from "#layers/EventRelay.ts"
import { append, look, streamName } from "#layers/EventRelay/JetStream.ts"
import * as Nats from "#layers/Nats.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Deployment } from "#services/Deployment.ts"
import { Doctor } from "#services/Doctor.ts"
import { EventLog } from "#services/EventLog.ts"
import { newUuid } from "#services/NewId.ts"
import { setClock } from "../services/SetClock.ts"
import * as NatsServer from "./NatsServer.ts"

if (NatsServer.binary === undefined) {
  it("was not tried: no nats-server is installed", () => assert.isUndefined(NatsServer.binary))
} else {
  const server = await NatsServer.make()
  afterEach(async () => {
    await server.stop()
    server.empty()
  })
  afterAll(() => server.end())

  const tenant = newUuid()
  const here = Layer.succeed(Deployment, { environment: "sandbox", publicUrl: "http://a", scannerUrl: "http://a" })
  const platform = () =>
    Layer.mergeAll(EventLog.layer, Doctor.layer, here).pipe(Layer.provideMerge(Layer.fresh(Postgres.layerTest)))
  const client = (url = server.url) => Nats.make(Result.getOrThrow(Nats.parse(url)))

  /** A relay as a process of its own has it. */
  const relay = Effect.flatMap(client(), (nats) => Effect.provideService(EventRelay.make, Nats.Nats, nats))
  const drain = ({ turn }: Effect.Success<typeof EventRelay.make>) => Effect.repeat(turn, { while: (more) => more })
  const happen = Effect.fnUntraced(function* (...numbers: ReadonlyArray<number>) {
    const { append } = yield* EventLog
    for (const number of numbers) {
      yield* append([{ tenant_id: tenant, type: "transfer.created", data: { transfer: { number } } }])
    }
  })
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)

  /** What is in the stream, in its order. */
  const stored = Effect.promise(async () => {
    const connection = await connect({ servers: server.url })
    const { streams } = await jetstreamManager(connection)
    const { state } = await streams.info(streamName)
    const messages = []
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await streams.getMessage(streamName, { seq })
      if (message !== null) messages.push(message)
    }
    await connection.close()
    return messages
  })
  const numbers = Effect.map(stored, (messages) =>
    messages.map((message): number => message.json<{ data: { transfer: { number: number } } }>().data.transfer.number)
  )
  const up = Effect.promise(() => server.start())
  const restart = (emptied: boolean) =>
    Effect.promise(async () => {
      await server.stop()
      if (emptied) server.empty()
      await server.start()
    })

  const fact = <E>(
    name: string,
    body: Effect.Effect<unknown, E, Scope.Scope | Layer.Success<ReturnType<typeof platform>>>
  ) => it.effect(name, () => Effect.provide(body, platform()), { timeout: 60_000 })

  fact(
    "every event is in the stream once, in order, in the form of a webhook and under its id; two relays do it together",
    Effect.gen(function* () {
      yield* up
      const relays = [yield* relay, yield* relay]
      // More than fits a batch, and while they are at it.
      const appending = happen(...range(0, 600))
      yield* Effect.all([appending, ...relays.map((one) => Effect.repeat(one.turn, { times: 300 }))], {
        concurrency: 3
      })
      yield* Effect.forEach(relays, drain)
      assert.deepStrictEqual(yield* numbers, range(0, 600))
      const [event] = yield* (yield* EventLog).after(0n, 1)
      const [message] = yield* stored
      if (event === undefined || message === undefined) return assert.fail()
      assert.strictEqual(message.subject, `events.${toTypeId("ten", tenant)}.transfer.created`)
      assert.strictEqual(message.header.get("Nats-Msg-Id"), toTypeId("evt", event.id))
      assert.deepStrictEqual(message.json(), {
        id: toTypeId("evt", event.id),
        type: "transfer.created",
        created_at: event.created_at.toISOString(),
        data: { transfer: { number: 0 } },
        tenant_id: toTypeId("ten", tenant),
        environment: "test"
      })
    })
  )

  fact(
    "a relay that stopped hands over at once; one that died is followed when its lease is over",
    Effect.gen(function* () {
      yield* up
      const [first, second, third] = [yield* relay, yield* relay, yield* relay]
      yield* happen(1, 2)
      yield* drain(first)
      yield* happen(3)
      yield* drain(second)
      assert.deepStrictEqual(yield* numbers, [1, 2], "the lease is the first one's")
      yield* first.release
      yield* TestClock.adjust("1 second")
      yield* drain(second)
      assert.deepStrictEqual(yield* numbers, [1, 2, 3])
      yield* happen(4)
      yield* drain(third)
      assert.deepStrictEqual(yield* numbers, [1, 2, 3])
      yield* TestClock.adjust("11 seconds")
      yield* drain(third)
      assert.deepStrictEqual(yield* numbers, [1, 2, 3, 4])
    })
  )

  fact(
    "a relay that had to wait for another goes on waiting for a second also when the time is set back",
    Effect.gen(function* () {
      const { clock, set } = yield* setClock
      yield* up
      const first = yield* relay
      const second = yield* Effect.provideService(relay, Clock.Clock, clock)
      yield* happen(1)
      yield* drain(first)
      yield* happen(2)
      yield* drain(second)
      yield* first.release
      set.by = -3_600_000
      yield* TestClock.adjust("1 second")
      yield* Effect.provideService(drain(second), Clock.Clock, clock)
      assert.deepStrictEqual(yield* numbers, [1, 2])
    })
  )

  fact(
    "what a relay published before it died is not published again, even when nothing tells so but the stream",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* up
      yield* happen(...range(0, 10))
      const first = yield* relay
      yield* drain(first)
      yield* first.release
      yield* sql`UPDATE relays SET seq = seq - 6`
      yield* TestClock.adjust("5 minutes")
      // The server forgets which ids it saw.
      yield* restart(false)
      yield* happen(10)
      yield* drain(yield* relay)
      assert.deepStrictEqual(yield* numbers, range(0, 11))

      const { examine } = yield* Doctor
      const ahead = Effect.map(examine, (found) =>
        found.filter(({ broken, promise }) => promise.includes("ahead of it") && broken.length > 0)
      )
      assert.strictEqual((yield* ahead).length, 0)
      yield* sql`UPDATE relays SET seq = 1000`
      assert.strictEqual((yield* ahead).length, 1, "the doctor sees a relay that is ahead")
    })
  )

  fact(
    "a relay that slept through its lease adds nothing behind its successor's back",
    Effect.gen(function* () {
      yield* up
      const sleeper = yield* client()
      const connection = yield* sleeper.connection
      const { client: js, last } = yield* look(connection)
      yield* happen(1, 2, 3)
      yield* drain(yield* relay)
      const late = [4, 5].map((number) => ({
        id: `evt_late${number}`,
        place: BigInt(number),
        subject: `events.ten_x.transfer.created`,
        body: `{"data":{"transfer":{"number":${number}}}}`
      }))
      const refused = yield* Effect.flip(append(js, late, { lastSequence: last }))
      assert.strictEqual(refused._tag, "StreamRefused")
      assert.deepStrictEqual(yield* numbers, [1, 2, 3])
    })
  )

  fact(
    "NATS away and back: what happened meanwhile follows, in order",
    Effect.gen(function* () {
      yield* up
      const one = yield* relay
      yield* happen(1, 2)
      yield* drain(one)
      yield* Effect.promise(() => server.stop())
      yield* happen(3)
      yield* drain(one)
      yield* Effect.promise(() => server.start())
      yield* happen(4)
      yield* Effect.repeat(Effect.andThen(drain(one), numbers), { until: (all) => all.length === 4 })
      assert.deepStrictEqual(yield* numbers, [1, 2, 3, 4])
    })
  )

  fact(
    "NATS restarted empty: the stream is made again and has the last ten minutes, and all that follows",
    Effect.gen(function* () {
      yield* up
      const one = yield* relay
      yield* happen(1, 2)
      yield* drain(one)
      yield* TestClock.adjust("9 minutes")
      yield* happen(3)
      yield* drain(one)
      yield* TestClock.adjust("2 minutes")
      yield* restart(true)
      yield* happen(4)
      const filled = Effect.andThen(drain(one), numbers).pipe(Effect.catchCause(() => Effect.succeed([])))
      yield* Effect.repeat(filled, { until: (all) => all.length > 0 })
      assert.deepStrictEqual(yield* numbers, [3, 4])
      yield* happen(5)
      yield* drain(one)
      assert.deepStrictEqual(yield* numbers, [3, 4, 5])
    })
  )

  fact(
    "what somebody took out of the stream does not come back, and what follows does come",
    Effect.gen(function* () {
      yield* up
      const one = yield* relay
      yield* happen(1, 2)
      yield* drain(one)
      const { client: js } = yield* look(yield* (yield* client()).connection)
      yield* Effect.promise(async () => (await js.jetstreamManager()).streams.purge(streamName))
      // It forgets meanwhile what it has had.
      yield* restart(false)
      yield* happen(3)
      yield* Effect.repeat(Effect.andThen(drain(one), numbers), { until: (all) => all.length > 0 })
      assert.deepStrictEqual(yield* numbers, [3])
    })
  )

  fact(
    "of what happened while nobody relayed the last week is told",
    Effect.gen(function* () {
      yield* up
      const one = yield* relay
      yield* Effect.andThen(happen(1), TestClock.adjust("8 days"))
      yield* happen(2)
      yield* drain(one)
      assert.deepStrictEqual(yield* numbers, [2])
    })
  )

  fact(
    "a stream that others write to gets every event in order all the same",
    Effect.gen(function* () {
      yield* up
      const one = yield* relay
      yield* happen(1)
      yield* drain(one)
      const strange = {
        id: "evt_strange",
        place: 1n,
        subject: "events.ten_other.x",
        body: '{"data":{"transfer":{"number":0}}}'
      }
      const { client: js } = yield* look(yield* (yield* client()).connection)
      yield* append(js, [strange], undefined)
      yield* happen(2, 3)
      yield* Effect.repeat(drain(one), { times: 3 })
      yield* append(js, [{ ...strange, id: "evt_stranger" }], undefined)
      yield* happen(4)
      yield* Effect.repeat(drain(one), { times: 3 })
      assert.deepStrictEqual(yield* numbers, [1, 0, 2, 3, 0, 4])
    })
  )

  fact(
    "an event that is larger than NATS takes is left out and said so, and holds nobody up",
    Effect.gen(function* () {
      yield* up
      const lines: Array<string> = []
      const logger = Logger.map(Logger.formatJson, (line) => void lines.push(line))
      const large = { transfer: { number: 2, memo: "é".repeat(600_000) } }
      yield* happen(1)
      yield* (yield* EventLog).append([{ tenant_id: tenant, type: "transfer.created", data: large }])
      yield* happen(3)
      yield* Effect.provide(drain(yield* relay), Logger.layer([logger]))
      assert.deepStrictEqual(yield* numbers, [1, 3])
      assert.match(lines.join("\n"), /Event evt_\w{26} is larger than NATS takes/)
    })
  )
}
