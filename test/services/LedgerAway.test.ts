import { assert, layer } from "@effect/vitest"
import { Cause, Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Metric, References, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "#layers/Postgres.ts"
import { Ledger } from "#services/Ledger.ts"
import { LanePolicy } from "#services/Ledger/LanePolicy.ts"
import { refusing } from "#services/Ledger/Presence.ts"
import { newUuid } from "#services/NewId.ts"
import { balance, transfer, waitsForHead, wallet } from "./LedgerHarness.ts"
import { awaited } from "./LockHarness.ts"

// What fails on purpose need not be reported.
const quiet = Layer.succeed(References.MinimumLogLevel, "None")
const ledgerThat = (policy: Partial<Context.Service.Shape<typeof LanePolicy>>) =>
  Ledger.layer.pipe(
    Layer.provide(
      Layer.effectContext(Effect.map(LanePolicy, (defaults) => Context.make(LanePolicy, { ...defaults, ...policy })))
    ),
    Layer.provideMerge(Layer.merge(Postgres.layerTest, quiet))
  )
const Test = ledgerThat({ waitingItems: 20 })
/** Waits for an answer no longer than this, and tries nothing that got none again. */
const impatience = Duration.seconds(2)
const Impatient = ledgerThat({ groupTimeout: impatience, commandTimeout: impatience })

const isUnavailable = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isFailure(exit) &&
  exit.cause.reasons.some((reason) => Cause.isDieReason(reason) && Object(reason.defect)._tag === "SERVICE_UNAVAILABLE")

// A new connection is made in real time.
layer(Test, { timeout: "60 seconds", excludeTestServices: true })("a database that cannot write now", (it) => {
  for (const [code, what] of [
    ["53100", "its disk is full"],
    ["25006", "it only reads"],
    ["42501", "a privilege was lost"],
    ["40P01", "it waits for somebody who waits for the ledger, each time"]
  ] as const) {
    for (const count of [1, 3]) {
      it.effect(`because ${what} is unavailable to ${count} at once, and serves them when it can again`, () =>
        Effect.gen(function* () {
          const { post } = yield* Ledger
          const sql = yield* SqlClient.SqlClient
          const [payer, payee] = [yield* wallet(10n), yield* wallet()]
          yield* sql`CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
            ${sql.literal(`$$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$`)}`
          yield* sql`CREATE TRIGGER failing BEFORE INSERT ON movements EXECUTE FUNCTION fail()`
          const commands = Array.from({ length: count }, () => transfer(payer, payee, 1n))
          const all = Effect.forEach(commands, (command) => Effect.exit(post(command)), { concurrency: "unbounded" })
          for (const exit of yield* all) assert.isTrue(isUnavailable(exit), String(exit))
          yield* all
          assert.isAbove((yield* Metric.value(refusing)).value, 0)
          yield* sql`DROP TRIGGER failing ON movements`
          assert.isTrue((yield* all).every(Exit.isSuccess))
          assert.strictEqual((yield* Metric.value(refusing)).value, 0)
          assert.deepStrictEqual(yield* balance(payee), { posted: BigInt(count), held: 0n })
        })
      )
    }
  }
})

// Postgres looks for a deadlock in real time.
layer(Test, { timeout: "60 seconds", excludeTestServices: true })(
  "a group that Postgres ends for another's sake",
  (it) => {
    it.effect("by a deadlock is posted when that one is through, and nobody is refused", () =>
      Effect.gen(function* () {
        const { post } = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const [payer, payee] = [yield* wallet(10n), yield* wallet()]
        // What has a fence is looked up.
        const command = { ...transfer(payer, payee, 1n), fences: [{ scope: newUuid(), expected: 0n }] }
        const posting = yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT 1 FROM ledger_accounts WHERE id = ${payee} FOR UPDATE`
            const waiting = yield* Effect.forkScoped(Effect.exit(post(command)))
            yield* awaited
            yield* sql`SELECT 1 FROM ledger_head FOR UPDATE`
            return waiting
          })
        )
        assert.isTrue(Exit.isSuccess(yield* Fiber.join(posting)))
        assert.deepStrictEqual(yield* balance(payee), { posted: 1n, held: 0n })
        // Whoever has waited for a second is the one that Postgres ends: that is us, where a busy machine let us come so much later.
      }).pipe(Effect.retry({ times: 5 }))
    )
  }
)

/** Sets the machine's own time, as far as this process is told, until the test is over. */
const setTheTime = (by: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const { now } = Date
      Date.now = () => now() + by
      return now
    }),
    (now) =>
      Effect.sync(() => {
        Date.now = now
      })
  )

layer(Test, { timeout: "60 seconds", excludeTestServices: true })("a command that waits", (it) => {
  it.effect("is given up neither sooner nor later where the machine's time is set meanwhile", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const sql = yield* SqlClient.SqlClient
      const [payer, payee] = [yield* wallet(10n), yield* wallet()]
      const letGo = yield* holdHead
      const first = yield* Effect.forkScoped(post(transfer(payer, payee, 1n)))
      yield* Effect.repeat(waitsForHead, { until: (waits) => waits, schedule: Schedule.spaced("5 millis") })
      // One more group may be on its way behind the one that waits for the lock.
      const second = yield* Effect.forkScoped(post(transfer(payer, payee, 2n)))
      yield* sql`SELECT pg_sleep(0.05)`
      const third = yield* Effect.forkScoped(post(transfer(payer, payee, 4n)))
      yield* setTheTime(3_600_000)
      // Longer than it takes until somebody looks who has waited too long.
      yield* sql`SELECT pg_sleep(1.2)`
      yield* Effect.all([letGo, Fiber.join(first), Fiber.join(second), Fiber.join(third)])
      assert.deepStrictEqual(yield* balance(payee), { posted: 7n, held: 0n })
    })
  )
})

/** Holds the head of the log, as a transaction of somebody else does, until the scope closes or `over`. */
const holdHead = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [taken, over] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const holder = sql`SELECT log FROM ledger_head FOR UPDATE`.pipe(
    Effect.andThen(Deferred.succeed(taken, undefined)),
    Effect.andThen(Deferred.await(over)),
    sql.withTransaction
  )
  const held = yield* Effect.forkScoped(holder)
  yield* Deferred.await(taken)
  return Effect.andThen(Deferred.succeed(over, undefined), Fiber.join(held))
})

layer(Impatient, { timeout: "60 seconds", excludeTestServices: true })("a head of the log that is held", (it) => {
  it.effect("counts as a refusal from the first group on that got no answer, also one decided from memory", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const [payer, payee] = [yield* wallet(10n), yield* wallet()]
      const pay = Effect.suspend(() => post(transfer(payer, payee, 1n)))
      yield* pay
      yield* Metric.update(refusing, 0)
      const letGo = yield* holdHead
      for (let group = 0; group < 2; group++) assert.isTrue(isUnavailable(yield* Effect.exit(pay)))
      assert.isAtLeast((yield* Metric.value(refusing)).value, Duration.toSeconds(impatience))
      yield* letGo
      yield* pay
      assert.strictEqual((yield* Metric.value(refusing)).value, 0)
    })
  )
})

layer(Test, { timeout: "60 seconds" })("what waits for the ledger", (it) => {
  it.effect("has so many items at most, and single commands besides", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const [payer, payee] = [yield* wallet(1_000n), yield* wallet()]
      const batch = (items: number) =>
        post({ id: newUuid(), steps: [], items: Array.from({ length: items }, () => transfer(payer, payee, 1n)) })
      const done = yield* Effect.all(
        [...[1, 19, 3, 30].map(batch), ...Array.from({ length: 30 }, () => post(transfer(payer, payee, 1n)))].map(
          Effect.exit
        ),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(done.slice(0, 4).map(isUnavailable), [false, false, true, true])
      assert.isTrue(done.slice(4).every(Exit.isSuccess))
      assert.deepStrictEqual(yield* balance(payee), { posted: 50n, held: 0n })
      // One that is larger than all that may wait goes when nothing else does, and what went makes room.
      yield* batch(30)
      yield* batch(20)
      assert.deepStrictEqual(yield* balance(payee), { posted: 100n, held: 0n })
    })
  )
})
