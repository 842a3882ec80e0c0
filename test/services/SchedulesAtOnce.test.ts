import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Result, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Deployment } from "#services/Deployment.ts"
import { Schedules } from "#services/Schedules.ts"
import { whileOthersHave } from "./LockHarness.ts"
import { ahead, another, isSound, pair, platform, turn, whileLedgerWaits } from "./SchedulesHarness.ts"
import { movementsInto, patient } from "./WalletsHarness.ts"

layer(platform, { timeout: "60 seconds" })("the worker", (it) => {
  it.effect("leaves what another process has in hand to it, and waits for nobody", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { executeDue } = yield* Schedules
      const { schedule } = yield* pair(10n)
      yield* schedule({ scheduled_at: yield* ahead({ hours: 1 }) })
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* whileOthersHave(sql`SELECT 1 FROM scheduled_transfers FOR UPDATE`, executeDue), 0)
      assert.strictEqual(yield* executeDue, 1)
    })
  )

  for (const environment of ["sandbox", "live"] as const) {
    it.effect(`executes what is due by itself, ${environment}`, () =>
      Effect.gen(function* () {
        const { caller, received, schedule } = yield* pair(10_000n)
        const { id } = yield* schedule({ frequency: "cron", cron_expression: "* * * * *" })
        const executed = Effect.map(
          (yield* Schedules).get(caller, id),
          ({ executions_completed }) => executions_completed
        )
        const url = "http://turnpike.test"
        const deployment = Layer.succeed(Deployment, { environment, publicUrl: url, scannerUrl: url })
        yield* TestClock.adjust("1 minute")
        yield* Layer.build(Schedules.layerWorker.pipe(Layer.provide(deployment)))
        yield* Effect.repeat(executed, { until: (count) => count === 1 })
        // It may not be waiting for its next turn yet; the ledger needs real time in between.
        const minute = Effect.andThen(TestClock.adjust("1 minute"), Effect.repeat(executed, { times: 100 }))
        yield* Effect.repeat(minute, { until: (count) => count >= 2 })
        // It may be executing one more: what was received counts between two looks that see the same.
        const [count, amount] = yield* Effect.repeat(Effect.all([executed, received, executed]), {
          until: ([before, , after]) => before === after
        })
        assert.strictEqual(amount, BigInt(count) * 10n)
      })
    )
  }

  it.effect("leaves a schedule whose time zone it does not know to others", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { caller, schedule } = yield* pair(100n)
      const { id } = yield* schedule({ frequency: "daily" })
      yield* sql`UPDATE scheduled_transfers SET timezone = 'Mars/Olympus' WHERE id = ${id}`
      assert.strictEqual(yield* turn("1 day"), 0)
      assert.deepInclude(yield* (yield* Schedules).get(caller, id), { status: "scheduled", executions_completed: 0 })
      yield* sql`UPDATE scheduled_transfers SET timezone = 'UTC' WHERE id = ${id}`
      assert.strictEqual(yield* turn("30 seconds"), 1)
    })
  )
})

layer(platform, { timeout: "60 seconds" })("a schedule that cannot be read", (it) => {
  it.effect("does not keep back the others that are due", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { received, schedule } = yield* pair(10_000n)
      const scheduled_at = yield* ahead({ hours: 1 })
      const { id } = yield* schedule({ scheduled_at })
      for (let count = 0; count < 3; count++) yield* schedule({ scheduled_at })
      yield* sql`UPDATE scheduled_transfers SET failure_reason = 'of a newer version' WHERE id = ${id}`
      assert.strictEqual(yield* turn("1 hour"), 3)
      assert.strictEqual(yield* received, 30n)
      yield* sql`UPDATE scheduled_transfers SET failure_reason = NULL WHERE id = ${id}`
      assert.strictEqual(yield* turn("30 seconds"), 1)
      yield* isSound
    })
  )
})

layer(platform.pipe(Layer.provideMerge(patient)), { timeout: "120 seconds" })("many at once", (it) => {
  it.effect("1,000 transfers due in the same second are each made once by two processes", () =>
    Effect.gen(function* () {
      const { received, schedule, to } = yield* pair(10_000n)
      const scheduled_at = yield* ahead({ hours: 1 })
      yield* Effect.all(
        Array.from({ length: 1_000 }, () => schedule({ scheduled_at })),
        { concurrency: 100 }
      )
      yield* TestClock.adjust("1 hour")
      const processes = [yield* Schedules, yield* another]
      const done = yield* Effect.all(
        processes.map(({ executeDue }) => executeDue),
        { concurrency: 2 }
      )
      assert.strictEqual(done[0]! + done[1]!, 1_000)
      assert.strictEqual(yield* movementsInto(to.id), 1_000)
      // What makes it quick: many of them share a transaction.
      const sql = yield* SqlClient.SqlClient
      const [written] = yield* sql`SELECT count(DISTINCT xmin::text)::int AS transactions FROM scheduled_executions`
      assert.isBelow(Number(written?.["transactions"]), 100)
      assert.strictEqual(yield* received, 10_000n)
      assert.strictEqual(yield* turn("1 day"), 0)
      yield* isSound
    }).pipe(Effect.scoped)
  )

  it.effect("one that is cancelled while it is executed is one of the two, 100 times", () =>
    Effect.gen(function* () {
      const { caller, received, schedule } = yield* pair(1_000n)
      const service = yield* Schedules
      let executed = 0n
      for (let round = 0; round < 100; round++) {
        const { id } = yield* schedule({ scheduled_at: yield* ahead({ hours: 1 }) })
        yield* TestClock.adjust("1 hour")
        const cancel = Effect.andThen(
          Effect.all(Array.from({ length: round % 4 }, () => service.get(caller, id))),
          service.change(caller, id, "cancel")
        )
        const [attempts, cancelled] = yield* Effect.all([service.executeDue, Effect.result(cancel)], { concurrency: 2 })
        const { status } = yield* service.get(caller, id)
        assert.strictEqual(attempts, status === "executed" ? 1 : 0)
        assert.strictEqual(Result.isSuccess(cancelled), status === "cancelled")
        if (status === "executed") executed += 10n
        assert.strictEqual(yield* received, executed)
        // Whatever a lost race has left leased comes back, and finds nothing to do.
        assert.strictEqual(yield* turn("31 seconds"), 0)
      }
      yield* isSound
    })
  )

  it.effect("one that two processes took is made by one of them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { received, schedule } = yield* pair(100n)
      const due = yield* ahead({ hours: 1 })
      const { id } = yield* schedule({ scheduled_at: due })
      yield* TestClock.adjust("1 hour")
      const [one, two] = [yield* Schedules, yield* another]
      const done = yield* whileLedgerWaits((blocked) =>
        Effect.gen(function* () {
          const first = yield* Effect.forkChild(one.executeDue)
          yield* blocked(1)
          // As if the first were so slow that its lease is over.
          yield* sql`UPDATE scheduled_transfers SET due_at = ${due} WHERE id = ${id}`
          const second = yield* Effect.forkChild(two.executeDue)
          yield* blocked(2)
          return [first, second]
        })
      ).pipe(Effect.flatMap((fibers) => Effect.all(fibers.map((fiber) => Fiber.join(fiber)))))
      assert.deepStrictEqual(done.toSorted(), [0, 1])
      assert.strictEqual(yield* received, 10n)
      yield* isSound
    }).pipe(Effect.scoped)
  )

  it.effect("one whose process died after taking it is made by another when the lease is over, once", () =>
    Effect.gen(function* () {
      const { received, schedule } = yield* pair(100n)
      yield* schedule({ scheduled_at: yield* ahead({ hours: 1 }) })
      yield* TestClock.adjust("1 hour")
      const life = yield* Scope.make()
      const doomed = yield* Scope.provide(another, life)
      const survivor = yield* Schedules
      yield* whileLedgerWaits((blocked) =>
        Effect.gen(function* () {
          const dying = yield* Effect.forkChild(doomed.executeDue)
          yield* blocked(1)
          assert.strictEqual(yield* survivor.executeDue, 0)
          yield* Fiber.interrupt(dying)
          yield* Scope.close(life, Exit.void)
        })
      )
      assert.strictEqual(yield* turn("29 seconds"), 0)
      assert.strictEqual(yield* received, 0n)
      assert.strictEqual(yield* turn("1 seconds"), 1)
      assert.strictEqual(yield* received, 10n)
      assert.strictEqual(yield* turn("1 day"), 0)
      yield* isSound
    })
  )

  it.effect("one that is paused and resumed while somebody has it is made once", () =>
    Effect.gen(function* () {
      const { caller, received, schedule } = yield* pair(100n)
      const { id } = yield* schedule({ scheduled_at: yield* ahead({ hours: 1 }) })
      yield* TestClock.adjust("1 hour")
      const service = yield* Schedules
      const rounds = Effect.gen(function* () {
        for (const trigger of ["pause", "resume"] as const) yield* Effect.result(service.change(caller, id, trigger))
      })
      yield* Effect.all([service.executeDue, rounds, service.executeDue], { concurrency: 3 })
      yield* service.executeDue
      assert.strictEqual(yield* received, 10n)
      yield* isSound
    })
  )
})
