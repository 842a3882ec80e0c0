import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ScanBatches } from "#services/ScanBatches.ts"
import { ScannerCredits } from "#services/ScannerCredits.ts"
import {
  another,
  asked,
  batchOf,
  busy,
  created,
  notFound,
  platform,
  scanAll,
  scannerDoes,
  scannerWorks,
  shops,
  untilAsked
} from "./ScanBatchesHarness.ts"
import { balance, sound, statesOf, tenantWith } from "./ScannerCreditsHarness.ts"

layer(platform, { timeout: "60 seconds" })("cancelling a batch", (it) => {
  it.effect("that has not begun returns everything at once", () =>
    Effect.gen(function* () {
      const { cancel } = yield* ScanBatches
      yield* scannerWorks
      const tenant_id = yield* tenantWith(10)
      const { record } = yield* created(tenant_id, shops(6))
      const cancelled = yield* cancel(tenant_id, record.id)
      assert.deepInclude(cancelled, { charged: 0, remaining: 10 })
      assert.deepInclude(cancelled.record, { status: "cancelled", cancelled: 6, credits_returned: 3 })
      assert.isTrue(cancelled.record.targets.every(({ status }) => status === "cancelled"))
      yield* asked
      yield* scanAll
      assert.deepStrictEqual(yield* asked, [])
      assert.deepStrictEqual(yield* cancel(tenant_id, record.id), cancelled, "twice is once")
      yield* sound
    })
  )

  it.effect("that is under way lets that end, and returns the rest when it has", () =>
    Effect.gen(function* () {
      const { cancel, scanDue } = yield* ScanBatches
      const gate = yield* Deferred.make<void>()
      const tenant_id = yield* tenantWith(10)
      yield* asked
      yield* scannerDoes(() => Effect.as(Deferred.await(gate), {}))
      const { record } = yield* created(tenant_id, shops(20))
      const scanning = yield* Effect.forkChild(scanDue)
      yield* untilAsked(10)
      const cancelled = yield* cancel(tenant_id, record.id)
      assert.strictEqual(cancelled.remaining, 0)
      assert.deepInclude(cancelled.record, {
        status: "cancelled",
        cancelled: 10,
        completed_at: null,
        credits_returned: 0
      })
      yield* sound
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(scanning)
      assert.deepInclude(yield* batchOf(tenant_id, record.id), {
        status: "cancelled",
        completed: 10,
        cancelled: 10,
        credits_returned: 5
      })
      assert.strictEqual((yield* balance(tenant_id)).balance, 5)
      yield* sound
    })
  )

  it.effect("that is over changes nothing", () =>
    Effect.gen(function* () {
      const { cancel } = yield* ScanBatches
      yield* scannerWorks
      const tenant_id = yield* tenantWith(3)
      const { record } = yield* created(tenant_id, shops(2))
      yield* scanAll
      const before = yield* batchOf(tenant_id, record.id)
      assert.deepStrictEqual(yield* cancel(tenant_id, record.id), { record: before, charged: 0, remaining: 2 })
      yield* sound
    })
  )

  it.effect("while a busy scanner sends a target back ends that target too", () =>
    Effect.gen(function* () {
      const { cancel, scanDue } = yield* ScanBatches
      const gate = yield* Deferred.make<void>()
      const tenant_id = yield* tenantWith(1)
      yield* asked
      yield* scannerDoes(() => Effect.andThen(Deferred.await(gate), busy))
      const { record } = yield* created(tenant_id, shops(1))
      const scanning = yield* Effect.forkChild(scanDue)
      yield* untilAsked(1)
      yield* cancel(tenant_id, record.id)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(scanning)
      assert.deepInclude(yield* batchOf(tenant_id, record.id), {
        status: "cancelled",
        cancelled: 1,
        credits_returned: 1
      })
      assert.strictEqual((yield* balance(tenant_id)).balance, 1)
      yield* sound
    })
  )

  it.effect("races its end, again and again, in two processes: the money always adds up", () =>
    Effect.gen(function* () {
      const here = yield* ScanBatches
      const there = yield* another
      yield* scannerDoes((domain) => (domain.startsWith("shop1") ? notFound(domain) : Effect.succeed({})))
      for (let round = 0; round < 15; round++) {
        const tenant_id = yield* tenantWith(10)
        const { record } = yield* here.create(tenant_id, "req", shops(7 + (round % 7)))
        yield* Effect.all([here.scanDue, there.cancel(tenant_id, record.id), there.scanDue, here.scanDue], {
          concurrency: 4
        })
        yield* scanAll
        const { credits_charged, credits_returned, status, ...after } = yield* batchOf(tenant_id, record.id)
        assert.notStrictEqual(status, "processing")
        assert.isNotNull(after.completed_at)
        assert.strictEqual(credits_charged - credits_returned, Math.ceil(after.completed / 2))
        assert.strictEqual((yield* balance(tenant_id)).balance, 10 - credits_charged + credits_returned)
      }
      yield* sound
    })
  )
})

layer(platform, { timeout: "60 seconds" })("batches in several processes", (it) => {
  it.effect("are scanned by all of them, each target once", () =>
    Effect.gen(function* () {
      const here = yield* ScanBatches
      const there = yield* another
      yield* scannerWorks
      const tenants = [yield* tenantWith(100), yield* tenantWith(100)]
      for (const tenant_id of tenants) yield* created(tenant_id, shops(60))
      yield* asked
      const work = ({ scanDue }: ScanBatches["Service"]) => Effect.repeat(scanDue, { while: (done) => done > 0 })
      yield* Effect.all([work(here), work(there), work(there)], { concurrency: 3 })
      assert.strictEqual((yield* asked).length, 120)
      for (const tenant_id of tenants) assert.strictEqual((yield* balance(tenant_id)).balance, 70)
      yield* sound
    })
  )

  it.effect("lose none that a dead process had begun, and what that one still says does not count", () =>
    Effect.gen(function* () {
      const { takeDue } = yield* ScanBatches
      const gate = yield* Deferred.make<void>()
      const tenant_id = yield* tenantWith(10)
      yield* asked
      yield* scannerDoes((domain) => Effect.andThen(Deferred.await(gate), notFound(domain)))
      const { record } = yield* created(tenant_id, shops(4))
      // Taken by a process that is out of reach for longer than its lease.
      const works = yield* takeDue(3)
      yield* scannerWorks
      yield* scanAll
      assert.strictEqual((yield* batchOf(tenant_id, record.id)).completed, 1)
      yield* TestClock.adjust("2 minutes")
      yield* scanAll
      const after = yield* batchOf(tenant_id, record.id)
      assert.deepInclude(after, { status: "completed", completed: 4 })
      yield* scannerDoes(notFound)
      yield* Effect.all(works, { concurrency: 3 })
      assert.deepStrictEqual(yield* batchOf(tenant_id, record.id), after)
      yield* sound
    })
  )

  it.effect("go on at once elsewhere when a process ends in good order", () =>
    Effect.gen(function* () {
      const life = yield* Scope.make()
      const leaving = yield* Scope.provide(another, life)
      const tenant_id = yield* tenantWith(10)
      yield* asked
      yield* scannerDoes(() => Effect.never)
      const { record } = yield* created(tenant_id, shops(5))
      const scanning = yield* Effect.forkChild(leaving.scanDue)
      yield* untilAsked(5)
      yield* Fiber.interrupt(scanning)
      yield* Scope.close(life, Exit.void)
      yield* scannerWorks
      yield* scanAll
      assert.deepInclude(yield* batchOf(tenant_id, record.id), { status: "completed", completed: 5 })
      yield* sound
    })
  )

  it.effect("end with their money also when a process dies between the end and its return", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { cancel } = yield* ScanBatches
      const { returnAbandoned } = yield* ScannerCredits
      const tenant_id = yield* tenantWith(10)
      const { record } = yield* created(tenant_id, shops(5))
      // The ledger takes no command, so the return that the cancelling has promised cannot be made.
      const blocked = yield* Deferred.make<void>()
      const blocking = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.andThen(
            sql`SELECT * FROM ledger_head FOR UPDATE`,
            Effect.andThen(Deferred.succeed(blocked, undefined), Effect.never)
          )
        )
      )
      yield* Deferred.await(blocked)
      const cancelling = yield* Effect.forkChild(cancel(tenant_id, record.id))
      yield* Effect.repeat(statesOf(tenant_id), { until: (states) => states["returning"] === 1 })
      yield* Fiber.interrupt(cancelling)
      assert.deepInclude(yield* batchOf(tenant_id, record.id), { status: "cancelled", credits_returned: 3 })
      yield* Fiber.interrupt(blocking)
      yield* TestClock.adjust("2 minutes")
      yield* returnAbandoned
      assert.deepStrictEqual(yield* statesOf(tenant_id), { returned: 1 })
      assert.strictEqual((yield* balance(tenant_id)).balance, 10)
      yield* sound
    })
  )
})
