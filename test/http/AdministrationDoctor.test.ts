import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Doctor, DoctorPatience, shown } from "#services/Doctor.ts"
import { awaited } from "../services/LockHarness.ts"
import { server } from "./GatewayHarness.ts"
import { operator } from "./Operators.ts"

/** Who waits for what this transaction holds, by the name of its connection. */
const waiting = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`SELECT a.application_name AS name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE NOT l.granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`
)

/** Until nobody does any more. */
const left = Effect.repeat(waiting, { until: (found) => found.length === 0 })

/** While a table cannot be read, so that no examination ends. */
const whileNothingIsRead = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(Effect.andThen(sql`LOCK TABLE holds IN ACCESS EXCLUSIVE MODE`, effect))
  )

layer(server, { timeout: "60 seconds", excludeTestServices: true })("the doctor over HTTP", (it) => {
  it.effect("says that every promise holds, and which there are", () =>
    Effect.gen(function* () {
      const { call } = yield* operator
      const { json, status } = yield* call("POST", "/v1/doctor")
      assert.deepStrictEqual([status, json.ok, json.broken, json.checked], [200, true, 0, json.promises.length])
      const findings = yield* (yield* Doctor).examine
      assert.deepStrictEqual(
        json.promises.map(({ ok, promise, rows }: Record<string, unknown>) => [promise, ok, rows]),
        findings.map(({ promise }) => [promise, true, []])
      )
    })
  )

  it.effect("names a promise that is broken, with the rows that the command shows", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { call } = yield* operator
      yield* sql`INSERT INTO statistics_windows (endpoint_id, span, calls) VALUES (gen_random_uuid(), 'all', 1)`
      const broken = (yield* (yield* Doctor).examine).filter((finding) => finding.broken.length > 0)
      const { json, status } = yield* call("POST", "/v1/doctor")
      yield* sql`DELETE FROM statistics_windows`
      assert.isNotEmpty(broken)
      assert.deepStrictEqual([status, json.ok, json.broken], [200, false, broken.length])
      assert.deepStrictEqual(
        json.promises
          .filter(({ ok }: Record<string, unknown>) => !ok)
          .map(({ promise, rows }: { promise: string; rows: ReadonlyArray<object> }) => [promise, rows.map(shown)]),
        broken.map(({ broken: rows, promise }) => [promise, rows.map(shown)])
      )
      assert.isTrue((yield* call("POST", "/v1/doctor")).json.ok)
    })
  )

  it.effect("runs one at a time, on a connection of its own; whoever asks meanwhile is told when to come again", () =>
    Effect.gen(function* () {
      const { call } = yield* operator
      const { first, names, second } = yield* whileNothingIsRead(
        Effect.gen(function* () {
          const first = yield* Effect.forkChild(call("POST", "/v1/doctor"))
          yield* awaited
          const names = yield* waiting
          return { first, names, second: yield* call("POST", "/v1/doctor") }
        })
      )
      assert.deepStrictEqual(names, [{ name: "turnpike-doctor" }])
      assert.deepStrictEqual(
        [second.status, second.json.code, second.headers["retry-after"]],
        [503, "SERVICE_UNAVAILABLE", "10"]
      )
      assert.isTrue((yield* Fiber.join(first)).json.ok)
    })
  )

  it.effect("ends when its caller leaves, and is free for the next", () =>
    Effect.gen(function* () {
      const { call } = yield* operator
      yield* whileNothingIsRead(
        Effect.gen(function* () {
          const leaving = yield* Effect.forkChild(call("POST", "/v1/doctor"))
          yield* awaited
          yield* Fiber.interrupt(leaving)
          yield* left
        })
      )
      const again = Effect.repeat(call("POST", "/v1/doctor"), { until: ({ status }) => status !== 503 })
      assert.strictEqual((yield* again).status, 200)
    })
  )
})

const hasty = server.pipe(Layer.provide(Layer.succeed(DoctorPatience, Duration.millis(100))))

layer(hasty, { timeout: "60 seconds", excludeTestServices: true })("the doctor over HTTP", (it) => {
  it.effect("is given up when it takes too long, and asks the database nothing more", () =>
    Effect.gen(function* () {
      const { call } = yield* operator
      const answer = yield* whileNothingIsRead(Effect.tap(call("POST", "/v1/doctor"), () => left))
      assert.deepStrictEqual(
        [answer.status, answer.json.code, answer.headers["retry-after"]],
        [503, "SERVICE_UNAVAILABLE", "60"]
      )
    })
  )
})
