import { assert, layer } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Result, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { connect } from "node:net"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"
import * as LastingPipeline from "#services/Database/LastingPipeline.ts"
import * as Pipeline from "#services/Database/Pipeline.ts"

const { OID } = Pipeline

const named = (name: string) => Effect.map(Database, ({ config }) => Pipeline.byKey(config, name))
const opened = (name: string) => Effect.flatMap(named(name), Pipeline.make)
const run = (text: string, types: ReadonlyArray<number> = [], ...values: ReadonlyArray<unknown>): Pipeline.Step => ({
  statement: Pipeline.statement(types, text),
  values
})

/** A flight that lands when it is lost, as long as nobody lets go of what it waits for. */
const stuck = run("SELECT pg_advisory_lock(4711)")
/** While others wait for that lock. */
const whileStuck = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(Effect.andThen(sql`SELECT pg_advisory_xact_lock(4711)`, effect))
  )

/** Sends a flight, and what became of it. */
const sent = Effect.fnUntraced(function* (wire: Pipeline.Wire, steps: ReadonlyArray<Pipeline.Step>) {
  const landing = yield* Deferred.make<Pipeline.Landing>()
  wire.send(steps, (landed) => Deferred.doneUnsafe(landing, Exit.succeed(landed)))
  return Deferred.await(landing)
})
const failure = (landing: Pipeline.Landing) => (Result.isFailure(landing) ? landing.failure._tag : "landed")

// Connections are lost in real time.
layer(Postgres.layerTest, { timeout: "60 seconds", excludeTestServices: true })("a flight under way", (it) => {
  it.effect("is read as what it asked for, also between others that ask for something else", () =>
    Effect.gen(function* () {
      const wire = yield* opened("readers")
      const id = "01a1fefa-fd49-7048-9337-d5af6b5f0285"
      const numbers = run("SELECT $1, $2", [OID.int8, OID.bool], 9_007_199_254_740_993n, true)
      const names = run("SELECT $1", [OID.uuid], id)
      const expected = [
        [[[9_007_199_254_740_993n, true]]],
        [[[id]]],
        [[[id]], [[9_007_199_254_740_993n, true]]]
      ] as const
      const flights = [[numbers], [names], [names, numbers]]
      // The second time their statements are known, and nothing is said about their columns.
      for (const time of ["first", "second"]) {
        const answers = yield* Effect.forEach(flights, (steps) => sent(wire, steps))
        assert.deepStrictEqual(yield* Effect.all(answers), expected.map(Result.succeed), time)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("is not waited for by who closes the connection", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const wire = yield* Scope.provide(opened("closed"), scope)
      yield* whileStuck(
        Effect.gen(function* () {
          const landing = yield* sent(wire, [stuck])
          yield* Scope.close(scope, Exit.void)
          assert.strictEqual(failure(yield* landing), "ConnectionLost")
        })
      )
    })
  )

  it.effect("takes its connection with it when it is interrupted, so that nothing runs in a transaction it began", () =>
    Effect.gen(function* () {
      const lasting = yield* Effect.flatMap(named("interrupted"), (config) =>
        LastingPipeline.make(config, Duration.seconds(30))
      )
      const pid = Effect.map(lasting.fly([run("SELECT pg_backend_pid()")]), ([rows]) => rows?.[0]?.[0])
      const first = yield* pid
      yield* whileStuck(
        Effect.gen(function* () {
          const flight = yield* Effect.forkChild(lasting.fly([run("BEGIN"), stuck]), { startImmediately: true })
          yield* Fiber.interrupt(flight)
          assert.notStrictEqual(yield* pid, first)
        })
      )
    }).pipe(Effect.scoped)
  )

  it.effect("prepares again what could not be prepared before", () =>
    Effect.gen(function* () {
      const { fly } = yield* opened("again")
      const read = run("SELECT id FROM made_late")
      assert.strictEqual((yield* Effect.flip(fly([read])))._tag, "StatementFailed")
      yield* fly([run("CREATE TABLE made_late AS SELECT 1 AS id")])
      assert.deepStrictEqual(yield* fly([read]), [[[1]]])
    }).pipe(Effect.scoped)
  )

  it.effect("leaves each statement prepared once, whether it has rows or not", () =>
    Effect.gen(function* () {
      const { fly } = yield* opened("once")
      const steps = [run("SET application_name = 'once'"), run("SELECT 1 AS one")]
      yield* Effect.replicateEffect(fly(steps), 3)
      const count = "SELECT count(*)::int4 FROM pg_prepared_statements WHERE statement IN ($1, $2)"
      const [rows] = yield* fly([run(count, [OID.text, OID.text], ...steps.map(({ statement }) => statement.text))])
      assert.deepStrictEqual(rows, [[2]])
    }).pipe(Effect.scoped)
  )

  it.effect("is not needed to learn that the connection is gone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const wire = yield* opened("idle")
      const [rows] = yield* wire.fly([run("SELECT pg_backend_pid()")])
      const told = yield* Deferred.make<boolean>()
      wire.onLost(() => Deferred.doneUnsafe(told, Exit.succeed(wire.isLost())))
      yield* sql`SELECT pg_terminate_backend(${rows?.[0]?.[0]})`
      assert.isTrue(yield* Deferred.await(told))
    }).pipe(Effect.scoped)
  )

  it.effect("is lost with its connection when what answers is no Postgres any more", () =>
    Effect.gen(function* () {
      const config = yield* named("nonsense")
      const socket = connect(config.path ?? assert.fail("the database of tests is behind a socket"))
      const wire = yield* Pipeline.make({ ...config, stream: () => socket })
      yield* whileStuck(
        Effect.gen(function* () {
          const landing = yield* sent(wire, [stuck])
          // What a peer in between may say, where the driver reads what the database does.
          socket.emit("data", Buffer.from([0x44, 0, 0, 0, 0]))
          assert.strictEqual(failure(yield* landing), "ConnectionLost")
        })
      )
    }).pipe(Effect.scoped)
  )
})
