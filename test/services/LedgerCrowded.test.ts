import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Latch, Layer, Logger, References, Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import * as Connection from "#services/WebhookDeliveries/Connection.ts"
import { eventually } from "./CredentialsHarness.ts"
import { issuance, transfer } from "./LedgerHarness.ts"

// What fails on purpose need not be reported.
const quiet = Layer.succeed(References.MinimumLogLevel, "None")

/** A process whose pool holds all of the few connections that Postgres grants it. Its ledger comes afterwards. */
const crowdedProcess = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { config } = yield* Database
  const username = `turnpike_poor_${newUuid().slice(-12)}`
  const all = (statements: ReadonlyArray<string>) =>
    Effect.orDie(Effect.forEach(statements, (statement) => sql.unsafe(statement)))
  yield* Effect.acquireRelease(
    all([
      `CREATE ROLE ${username} LOGIN CONNECTION LIMIT ${places}`,
      `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${username}`,
      `GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${username}`
    ]),
    () => all([`DROP OWNED BY ${username}`, `DROP ROLE ${username}`])
  )
  const few = Layer.succeed(Database, { config: { ...config, username }, embedded: false })
  const pool = yield* Layer.build(Layer.fresh(Postgres.layerPool).pipe(Layer.provideMerge(few)))
  const own = Context.get(pool, SqlClient.SqlClient)

  const release = yield* Deferred.make<void>()
  const held = yield* Effect.forEach(Array.from({ length: places }), () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const work = own`SELECT 1`.pipe(
        Effect.andThen(Deferred.succeed(begun, undefined)),
        Effect.andThen(Deferred.await(release)),
        own.withTransaction
      )
      const fiber = yield* Effect.forkScoped(work)
      yield* Deferred.await(begun)
      return fiber
    })
  )
  /** The pool keeps its connections, and nobody works on them any more. */
  const rest = Effect.andThen(Deferred.succeed(release, undefined), Effect.forEach(held, Fiber.join))
  const said: Array<string> = []
  const listening = Layer.merge(
    Logger.layer([Logger.make(({ logLevel, message }) => void said.push(`${logLevel} ${message}`))]),
    Layer.succeed(References.MinimumLogLevel, "Info")
  )
  const ledger = Effect.map(Layer.build(Layer.fresh(Ledger.layer)), (context) => Context.get(context, Ledger)).pipe(
    Effect.provideContext(pool),
    Effect.provide(listening)
  )
  return { rest, ledger, said }
})
const places = 2

const Test = Ledger.layer.pipe(Layer.provideMerge(Layer.merge(Postgres.layerTest, quiet)))
layer(Test, { timeout: "60 seconds", excludeTestServices: true })("a database without a place for the ledger", (it) => {
  it.effect("gets one back from the pool of the same process, and then money moves", () =>
    Effect.gen(function* () {
      const { open } = yield* Ledger
      const { ledger, rest } = yield* crowdedProcess
      yield* rest
      const { crowded, post } = yield* ledger
      const id = newUuid()
      yield* open({ id, purpose: "wallet", currency: "USDC" })
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(post(transfer(issuance, id, 5n)))))
      assert.isFalse(crowded.isOpen())
    })
  )

  it.effect("makes its process say so after a while, and no longer than until there is one", () =>
    Effect.gen(function* () {
      const { ledger, rest, said } = yield* crowdedProcess
      const { crowded, isServing } = yield* ledger
      assert.isTrue(isServing(), "one that is being made is waited for")
      yield* eventually(Effect.sync(isServing), (serving) => !serving)
      assert.isFalse(isServing())
      assert.isTrue(crowded.isOpen())
      yield* rest
      yield* eventually(Effect.sync(isServing), (serving) => serving)
      assert.isTrue(isServing())
      // It was tried some thirty times.
      assert.lengthOf(said, 2)
      assert.match(
        said[0] ?? "",
        /^Error Postgres has no connection left for the ledger \(.*"turnpike_poor_.*\).* limit of the role/
      )
      assert.match(said[1] ?? "", /^Info The ledger has its database connection again/)
    })
  )

  it.effect("is noticed by one that has nothing to post", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const pids = sql`SELECT pid FROM pg_stat_activity WHERE application_name = 'turnpike-ledger' AND datname = current_database()`
      const [before] = yield* eventually(pids, (rows) => rows.length === 1)
      yield* sql`SELECT pg_terminate_backend(${Number(before?.["pid"])}::int)`
      const [after] = yield* eventually(pids, ([now]) => now !== undefined && now["pid"] !== before?.["pid"])
      assert.notDeepEqual([before, after], [before, before])
      assert.isDefined(after)
    })
  )

  it.effect("is given those of webhooks first, which come back when it has its own", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const crowded = Latch.makeUnsafe(false)
      const name = newUuid()
      const scope = yield* Scope.fork(yield* Effect.scope)
      const { fly, transaction } = yield* Connection.make(name).pipe(
        Effect.provideService(Ledger, Ledger.of({ ...(yield* Ledger), crowded })),
        Scope.provide(scope)
      )
      const work = transaction(fly([Connection.begin, Connection.commit]))
      const count = sql`SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = ${name}`
      yield* work
      assert.deepStrictEqual(yield* count, [{ n: 1 }])
      crowded.openUnsafe()
      assert.strictEqual((yield* Effect.flip(work))._tag, "ConnectionLost")
      assert.deepStrictEqual(yield* eventually(count, ([row]) => row?.["n"] === 0), [{ n: 0 }])
      crowded.closeUnsafe()
      yield* work
      assert.deepStrictEqual(yield* count, [{ n: 1 }])
      crowded.openUnsafe()
      assert.deepStrictEqual(yield* eventually(count, ([row]) => row?.["n"] === 0), [{ n: 0 }])
    })
  )
})
