import { assert, layer } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Result } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"
import * as LastingPipeline from "#services/Database/LastingPipeline.ts"
import * as Pipeline from "#services/Database/Pipeline.ts"

const { OID } = Pipeline
const patience = Duration.seconds(30)

const named = (name: string) => Effect.map(Database, ({ config }) => Pipeline.byKey(config, name))
const opened = (name: string) => Effect.flatMap(named(name), Pipeline.make)
const run = (text: string, types: ReadonlyArray<number> = [], ...values: ReadonlyArray<unknown>): Pipeline.Step => ({
  statement: Pipeline.statement(types, text),
  values
})

// Connections are lost in real time.
layer(Postgres.layerTest, { timeout: "60 seconds", excludeTestServices: true })("a pipeline", (it) => {
  it.effect("answers each step of a flight with its own rows, the same when it knows the statements already", () =>
    Effect.gen(function* () {
      const { fly } = yield* opened("steps")
      const id = "01a1fefa-fd49-7048-9337-d5af6b5f0285"
      const at = new Date("2026-01-02T03:04:05.678Z")
      const steps = [
        run("SELECT * FROM unnest($1, $2) AS r (id, at)", [OID.uuidArray, OID.timestamptzArray], [id, id], [at, null]),
        run("SELECT 1 WHERE false"),
        run("SELECT $1, $2, $3", [OID.int8, OID.jsonb, OID.bool], 9_007_199_254_740_993n, { a: [1, "ö"] }, true)
      ]
      const expected = [
        [
          [id, at],
          [id, null]
        ],
        [],
        [[9_007_199_254_740_993n, { a: [1, "ö"] }, true]]
      ]
      assert.deepStrictEqual(yield* fly(steps), expected)
      assert.deepStrictEqual(yield* fly(steps.toReversed()), expected.toReversed())
    }).pipe(Effect.scoped)
  )

  it.effect("answers for one row what it answers for each of several, and takes no list apart for it", () =>
    Effect.gen(function* () {
      const { fly } = yield* opened("lists")
      const columns = [
        ["b", OID.boolArray, true],
        ["y", OID.byteaArray, new Uint8Array([0, 255])],
        ["i2", OID.int2Array, -2],
        ["i4", OID.int4Array, 4],
        ["i8", OID.int8Array, 9_007_199_254_740_993n],
        ["j", OID.jsonArray, { a: [1, "ö"] }],
        ["jb", OID.jsonbArray, ["x", null]],
        ["t", OID.textArray, 'a"b{}\\,NULL'],
        ["at", OID.timestamptzArray, new Date("2026-01-02T03:04:05.678Z")],
        ["id", OID.uuidArray, "01a1fefa-fd49-7048-9337-d5af6b5f0285"],
        ["none", OID.textArray, null]
      ] as const
      const cells = columns.map(([, , value]) => value)
      const statement = Pipeline.overLists(
        "r",
        columns.map(([name, type]) => [name, type]),
        (rows) => `SELECT $1 AS m, r.*, $${cells.length + 2} AS n FROM ${rows}`,
        { before: [OID.int8], after: [OID.int4] }
      )
      const of = (rows: number): Pipeline.Step => ({
        statement,
        values: [5n, ...cells.map((cell) => Array.from({ length: rows }, () => cell)), 7]
      })
      const [one] = yield* fly([of(1)])
      const prepared =
        "SELECT strpos(statement, 'unnest') FROM pg_prepared_statements WHERE statement LIKE 'SELECT $1 AS m%'"
      assert.deepStrictEqual(yield* fly([run(prepared)]), [[[0]]])
      assert.deepStrictEqual(one, [[5n, ...cells, 7]])
      assert.deepStrictEqual(yield* fly([of(2)]), [[...(one ?? []), ...(one ?? [])]])
      assert.deepStrictEqual(yield* fly([of(0)]), [[]])
    }).pipe(Effect.scoped)
  )

  it.effect("gives the same rows for lists that are alike in all places, and takes apart only those that differ", () =>
    Effect.gen(function* () {
      const { fly } = yield* opened("alike")
      const at = new Date("2026-01-02T03:04:05.678Z")
      const statement = Pipeline.overLists(
        "r",
        [
          ["n", OID.int8Array],
          ["word", OID.textArray],
          ["none", OID.uuidArray],
          ["at", OID.timestamptzArray],
          ["j", OID.jsonArray]
        ],
        (rows) => `SELECT $1 AS first, r.*, cardinality($7) AS all FROM ${rows} ORDER BY n`,
        { before: [OID.int4], after: [OID.textArray] }
      )
      const same = { a: 1 }
      const rowsOf = (numbers: ReadonlyArray<bigint>, words: ReadonlyArray<string>) => [
        numbers,
        words,
        numbers.map(() => null),
        numbers.map(() => at),
        numbers.map(() => same)
      ]
      const answered = (numbers: ReadonlyArray<bigint>, words: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          // What stands behind the lists is a list of its own, however alike its places are.
          const values = [1, ...rowsOf(numbers, words), ["x", "x", "x", "x"]]
          const [rows] = yield* fly([{ statement, values }])
          const expected = numbers.map((n, place) => [1, n, words[place], null, at, same, 4])
          assert.deepStrictEqual(rows, expected)
        })
      const forms = fly([
        run(
          "SELECT statement FROM pg_prepared_statements WHERE statement LIKE 'SELECT $1 AS first%' ORDER BY prepare_time"
        )
      ])
      yield* answered([1n, 2n, 3n, 4n], ["a", "b", "a", "b"])
      yield* answered([1n, 2n, 3n, 4n, 5n], ["b", "b", "b", "b", "b"])
      yield* answered([7n, 7n, 7n, 7n], ["b", "b", "b", "b"])
      yield* answered([1n, 2n, 3n], ["b", "b", "b"])
      const [prepared = []] = yield* forms
      assert.deepStrictEqual(
        prepared.map(([text]) => [...String(text).matchAll(/unnest\((\$\d)\)/g)].map(([, list]) => list)),
        [["$2", "$3"], ["$2"], ["$2", "$3", "$4", "$5", "$6"]]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("gives the same rows of more lists than have a bit in a small integer", () =>
    Effect.gen(function* () {
      const { fly } = yield* opened("wide")
      for (const columns of [29, 30, 31, 32, 33, 40]) {
        const names = Array.from({ length: columns }, (_, list) => `c${list}`)
        const statement = Pipeline.overLists(
          "r",
          names.map((name) => [name, OID.int4Array]),
          (rows) => `SELECT r.*, $${columns + 1} AS behind FROM ${rows}`,
          { after: [OID.int4] }
        )
        for (const rows of [1, 5]) {
          for (const differs of [() => false, () => true, (list: number) => list === 0, (list: number) => list >= 30]) {
            const lists = names.map((_, list) => Array.from({ length: rows }, (_, n) => list + (differs(list) ? n : 0)))
            const [found] = yield* fly([{ statement, values: [...lists, 7] }])
            const expected = Array.from({ length: rows }, (_, place) => [...lists.map((list) => list[place]), 7])
            assert.deepStrictEqual(found, expected)
          }
        }
      }
    }).pipe(Effect.scoped)
  )

  it.effect("has no more than so many forms of a statement, and takes the nearest then", () =>
    Effect.gen(function* () {
      const { fly } = yield* opened("forms")
      const names = ["a", "b", "c", "d", "e", "f"]
      const statement = Pipeline.overLists(
        "r",
        names.map((name) => [name, OID.int4Array]),
        (rows) => `SELECT r.* FROM ${rows}`
      )
      for (let alike = 0; alike < 64; alike++) {
        const lists = names.map((_, list) => [1, 2, 3, 4].map((n) => ((alike >> list) & 1 ? 9 : n)))
        const [rows] = yield* fly([{ statement, values: lists }])
        const expected = [0, 1, 2, 3].map((place) => lists.map((list) => list[place]))
        assert.deepStrictEqual(rows, expected)
      }
      const count = run("SELECT count(*)::int4 FROM pg_prepared_statements WHERE statement LIKE 'SELECT r.* FROM%'")
      const [[[forms] = []] = []] = yield* fly([count])
      assert.isAtMost(Number(forms), 25)
    }).pipe(Effect.scoped)
  )

  it.effect("does not run what is behind a step that failed, and goes on after it", () =>
    Effect.gen(function* () {
      const { fly } = yield* opened("failures")
      const insert = run("INSERT INTO flown VALUES ($1)", [OID.int4], 1)
      yield* fly([run("CREATE TABLE flown (id integer PRIMARY KEY)")])
      yield* fly([insert])
      const twice = yield* Effect.flip(fly([run("BEGIN"), insert, run("DELETE FROM flown"), run("COMMIT")]))
      assert.strictEqual(twice._tag === "StatementFailed" && twice.code, "23505")
      yield* fly([run("ROLLBACK")])
      const unreadable = yield* Effect.flip(fly([run("SELECT nothing FROM nowhere")]))
      assert.strictEqual(unreadable._tag === "StatementFailed" && unreadable.code, "42P01")
      const unsendable = yield* Effect.flip(fly([run("SELECT $1", [OID.uuid], "not an id")]))
      assert.strictEqual(unsendable._tag, "StatementFailed")
      assert.deepStrictEqual(yield* fly([run("SELECT id FROM flown")]), [[[1]]])
    }).pipe(Effect.scoped)
  )

  it.effect("lands flights in the order they were sent, also behind one that failed", () =>
    Effect.gen(function* () {
      const { fly } = yield* opened("several")
      const landed: Array<number> = []
      const flying = (place: number, step: Pipeline.Step) =>
        Effect.forkChild(
          Effect.ensuring(
            Effect.result(fly([step])),
            Effect.sync(() => landed.push(place))
          ),
          {
            startImmediately: true
          }
        )
      const flights = [
        yield* flying(1, run("SELECT pg_sleep(0.1)")),
        yield* flying(2, run("SELECT 1 / 0")),
        yield* flying(3, run("SELECT 3"))
      ]
      const [, failed, last] = yield* Fiber.joinAll(flights)
      assert.deepStrictEqual(landed, [1, 2, 3])
      assert.isTrue(failed !== undefined && Result.isFailure(failed))
      assert.deepStrictEqual(last, Result.succeed([[[3]]]))
    }).pipe(Effect.scoped)
  )

  it.effect("says that its connection is lost, for the flight under way and for every one after it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { fly } = yield* opened("lost")
      const [rows] = yield* fly([run("SELECT pg_backend_pid()")])
      const waiting = yield* Effect.forkChild(Effect.flip(fly([run("SELECT pg_sleep(20)")])), {
        startImmediately: true
      })
      yield* sql`SELECT pg_terminate_backend(${rows?.[0]?.[0]})`
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "ConnectionLost")
      assert.strictEqual((yield* Effect.flip(fly([run("SELECT 1")])))._tag, "ConnectionLost")
    }).pipe(Effect.scoped)
  )

  it.effect("that lasts opens another connection when what it has prepared means something else now", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE changing (value integer)`
      yield* sql`INSERT INTO changing VALUES (1)`
      const { fly } = yield* Effect.flatMap(named("changing"), (config) => LastingPipeline.make(config, patience))
      const read = run("SELECT value FROM changing")
      assert.deepStrictEqual(yield* fly([read]), [[[1]]])
      yield* sql`ALTER TABLE changing ALTER COLUMN value TYPE text`
      assert.strictEqual((yield* Effect.flip(fly([read])))._tag, "StatementFailed")
      assert.deepStrictEqual(yield* fly([read]), [[["1"]]])
    }).pipe(Effect.scoped)
  )

  it.effect("that lasts opens another connection after one is lost", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { fly } = yield* Effect.flatMap(named("lasting"), (config) => LastingPipeline.make(config, patience))
      const pid = Effect.map(fly([run("SELECT pg_backend_pid()")]), ([rows]) => rows?.[0]?.[0])
      const first = yield* pid
      assert.strictEqual(yield* pid, first)
      yield* sql`SELECT pg_terminate_backend(${first})`
      const next = yield* Effect.eventually(pid)
      assert.notStrictEqual(next, first)
    }).pipe(Effect.scoped)
  )

  it.effect("that lasts gives a connection up that does not answer in time, and one whose flight was interrupted", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { fly } = yield* Effect.flatMap(named("late"), (config) =>
        LastingPipeline.make(config, Duration.seconds(1))
      )
      yield* sql`CREATE TABLE kept (id integer)`
      const [locked, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holder = yield* sql`LOCK TABLE kept`.pipe(
        Effect.andThen(Deferred.succeed(locked, undefined)),
        Effect.andThen(Deferred.await(release)),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(locked)
      const late = yield* Effect.flip(fly([run("SELECT * FROM kept")]))
      assert.strictEqual(late._tag, "ConnectionLost")
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(holder)
      assert.deepStrictEqual(yield* Effect.eventually(fly([run("SELECT id FROM kept")])), [[]])
    }).pipe(Effect.scoped)
  )
})
