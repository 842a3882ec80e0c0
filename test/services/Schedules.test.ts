import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { Schedules } from "#services/Schedules.ts"
import { Wallets } from "#services/Wallets.ts"
import { ahead, eventsOf, fund, isSound, pair, platform, turn } from "./SchedulesHarness.ts"

const all = { limit: 100 }

layer(platform, { timeout: "60 seconds" })("a transfer scheduled for one time", (it) => {
  it.effect("is made at that time and not a millisecond before, once", () =>
    Effect.gen(function* () {
      const { caller, received, schedule } = yield* pair(100n)
      const scheduled_at = yield* ahead({ hours: 1 })
      const { id } = yield* schedule({ scheduled_at, memo: "Rent" })
      assert.strictEqual(yield* turn("59 minutes"), 0)
      assert.strictEqual(yield* turn("59999 millis"), 0)
      assert.strictEqual(yield* turn("1 millis"), 1)
      assert.strictEqual(yield* turn("1 day"), 0)
      assert.strictEqual(yield* received, 10n)
      const done = yield* (yield* Schedules).get(caller, id)
      assert.deepInclude(done, {
        status: "executed",
        next_execution_at: null,
        last_execution_at: scheduled_at,
        executions_completed: 1,
        executions_remaining: 0,
        attempts: 0,
        failure_reason: null
      })
      const [transfer, ...rest] = yield* (yield* Schedules).executions(caller, id, all)
      assert.strictEqual(rest.length, 0)
      assert.strictEqual(transfer?.id, done.last_transfer_id)
      assert.deepInclude(transfer, { status: "completed", amount: 10n, memo: "Rent", type: "internal", scheduled_at })
      assert.strictEqual(transfer?.initiated_by.type, "system")
      assert.deepStrictEqual(transfer?.protocol_metadata, {
        scheduled_transfer_id: transfer?.initiated_by.id ?? "",
        occurrence: 1,
        attempt: 1
      })
      assert.deepStrictEqual((yield* eventsOf(caller)).slice(-4), [
        "transfer.created",
        "transfer.completed",
        "scheduled_transfer.executed",
        "scheduled_transfer.completed"
      ])
      yield* isSound
    })
  )

  it.effect("that nothing ran for is made when something does", () =>
    Effect.gen(function* () {
      const { received, schedule } = yield* pair(100n)
      yield* schedule({ scheduled_at: yield* ahead({ hours: 1 }) })
      assert.strictEqual(yield* turn("30 days"), 1)
      assert.strictEqual(yield* received, 10n)
    })
  )

  it.effect("is tried again hourly for a day and then daily, each time as a new transfer, until it is enough", () =>
    Effect.gen(function* () {
      const { caller, from, schedule } = yield* pair(0n)
      const { id } = yield* schedule({
        scheduled_at: yield* ahead({ hours: 1 }),
        max_retry_attempts: 26,
        retry_window_days: 3
      })
      const tried: Array<number> = []
      yield* TestClock.adjust("1 hour")
      const start = yield* DateTime.now
      for (let hour = 0; hour < 24 * 5; hour++) {
        if ((yield* (yield* Schedules).executeDue) > 0) {
          tried.push((DateTime.toEpochMillis(yield* DateTime.now) - DateTime.toEpochMillis(start)) / 3_600_000)
        }
        yield* TestClock.adjust("1 hour")
      }
      assert.deepStrictEqual(tried, [...Array.from({ length: 25 }, (_, hour) => hour), 48, 72])
      const over = yield* (yield* Schedules).get(caller, id)
      assert.deepInclude(over, {
        status: "failed",
        failure_reason: "insufficient_funds",
        attempts: 27,
        executions_completed: 0
      })
      assert.isNull(over.next_execution_at)
      const transfers = yield* (yield* Schedules).executions(caller, id, all)
      assert.strictEqual(new Set(transfers.map((one) => one.id)).size, 27)
      assert.deepStrictEqual([...new Set(transfers.map(({ status }) => status))], ["failed"])
      const events = yield* eventsOf(caller)
      assert.strictEqual(events.filter((type) => type === "scheduled_transfer.retrying").length, 26)
      assert.strictEqual(events.filter((type) => type === "transfer.failed").length, 27)
      assert.strictEqual(events.at(-1), "scheduled_transfer.failed")
      yield* fund(caller, from.id, 100n)
      assert.strictEqual(yield* turn("30 days"), 0)
      yield* isSound
    })
  )

  it.effect("moves its money once when a retry succeeds", () =>
    Effect.gen(function* () {
      const { caller, from, received, schedule } = yield* pair(0n)
      const { id } = yield* schedule({ scheduled_at: yield* ahead({ hours: 1 }) })
      assert.strictEqual(yield* turn("1 hour"), 1)
      const between = yield* (yield* Schedules).get(caller, id)
      assert.deepInclude(between, { status: "scheduled", attempts: 1, failure_reason: "insufficient_funds" })
      assert.deepStrictEqual(between.next_execution_at, yield* ahead({ hours: 1 }))
      yield* fund(caller, from.id, 100n)
      assert.strictEqual(yield* turn("1 hour"), 1)
      assert.strictEqual(yield* turn("1 day"), 0)
      assert.strictEqual(yield* received, 10n)
      assert.deepInclude(yield* (yield* Schedules).get(caller, id), {
        status: "executed",
        attempts: 0,
        failure_reason: null
      })
      yield* isSound
    })
  )

  it.effect("fails at once when it is not to be retried", () =>
    Effect.gen(function* () {
      const { caller, schedule } = yield* pair(0n)
      const { id } = yield* schedule({ scheduled_at: yield* ahead({ hours: 1 }), retry_enabled: false })
      assert.strictEqual(yield* turn("1 hour"), 1)
      assert.deepInclude(yield* (yield* Schedules).get(caller, id), { status: "failed", attempts: 1 })
    })
  )

  it.effect("fails while the payer is frozen, and not because of that when it is created", () =>
    Effect.gen(function* () {
      const { caller, from, received, schedule } = yield* pair(100n)
      yield* (yield* Wallets).freeze(caller, from.id, "test")
      const { id } = yield* schedule({ scheduled_at: yield* ahead({ hours: 1 }) })
      assert.strictEqual(yield* turn("1 hour"), 1)
      assert.strictEqual((yield* (yield* Schedules).get(caller, id)).failure_reason, "wallet_frozen")
      yield* (yield* Wallets).unfreeze(caller, from.id)
      assert.strictEqual(yield* turn("1 hour"), 1)
      assert.strictEqual(yield* received, 10n)
    })
  )
})

layer(platform, { timeout: "60 seconds" })("a recurring schedule", (it) => {
  it.effect("transfers at each occurrence until there are none left", () =>
    Effect.gen(function* () {
      const { caller, received, schedule } = yield* pair(100n)
      const { id, executions_remaining, next_execution_at } = yield* schedule({
        frequency: "daily",
        max_occurrences: 3
      })
      assert.strictEqual(executions_remaining, 3)
      assert.deepStrictEqual(next_execution_at, yield* ahead({ days: 1 }))
      const counts: Array<number> = []
      for (let day = 0; day < 5; day++) counts.push(yield* turn("1 day"))
      assert.deepStrictEqual(counts, [1, 1, 1, 0, 0])
      assert.strictEqual(yield* received, 30n)
      assert.deepInclude(yield* (yield* Schedules).get(caller, id), { status: "executed", executions_completed: 3 })
      const events = (yield* eventsOf(caller)).filter((type) => type.startsWith("scheduled"))
      assert.deepStrictEqual(events, [...Array(3).fill("scheduled_transfer.executed"), "scheduled_transfer.completed"])
      yield* isSound
    })
  )

  it.effect("makes up for the first of the occurrences it missed, and goes on", () =>
    Effect.gen(function* () {
      const { caller, received, schedule } = yield* pair(100n)
      const { id, next_execution_at } = yield* schedule({ frequency: "daily" })
      assert.strictEqual(yield* turn("100 hours"), 1)
      assert.strictEqual(yield* turn("19 hours"), 0)
      assert.strictEqual(yield* turn("1 hour"), 1)
      assert.strictEqual(yield* received, 20n)
      const transfers = yield* (yield* Schedules).executions(caller, id, all)
      assert.deepStrictEqual(
        transfers.map(({ scheduled_at }) => scheduled_at),
        [yield* DateTime.nowAsDate, next_execution_at]
      )
      const { executions_remaining, status } = yield* (yield* Schedules).get(caller, id)
      assert.deepStrictEqual([status, executions_remaining], ["scheduled", null])
      yield* isSound
    })
  )

  it.effect("goes on with its next occurrence when one has failed for good", () =>
    Effect.gen(function* () {
      const { caller, from, received, schedule } = yield* pair(0n)
      const { id } = yield* schedule({ frequency: "daily", max_retry_attempts: 1, max_occurrences: 2 })
      assert.strictEqual(yield* turn("1 day"), 1)
      assert.strictEqual(yield* turn("1 hour"), 1)
      assert.deepInclude(yield* (yield* Schedules).get(caller, id), {
        status: "scheduled",
        attempts: 0,
        executions_remaining: 1,
        next_execution_at: yield* ahead({ hours: 23 })
      })
      yield* fund(caller, from.id, 100n)
      assert.strictEqual(yield* turn("23 hours"), 1)
      assert.strictEqual(yield* received, 10n)
      const events = (yield* eventsOf(caller)).filter((type) => type.startsWith("scheduled"))
      assert.deepStrictEqual(events, [
        "scheduled_transfer.retrying",
        "scheduled_transfer.failed",
        "scheduled_transfer.executed",
        "scheduled_transfer.completed"
      ])
      yield* isSound
    })
  )

  it.effect("is not retried into its next occurrence", () =>
    Effect.gen(function* () {
      const { caller, schedule } = yield* pair(0n)
      const { id } = yield* schedule({ frequency: "cron", cron_expression: "0 * * * *" })
      const { next_execution_at } = yield* (yield* Schedules).get(caller, id)
      yield* TestClock.setTime(next_execution_at?.getTime() ?? 0)
      assert.strictEqual(yield* turn("0 millis"), 1)
      const { attempts, failure_reason } = yield* (yield* Schedules).get(caller, id)
      assert.deepStrictEqual([attempts, failure_reason], [0, "insufficient_funds"])
      assert.strictEqual((yield* eventsOf(caller)).at(-1), "scheduled_transfer.failed")
    })
  )

  it.effect("none of whose occurrences moved money has failed", () =>
    Effect.gen(function* () {
      const { caller, schedule } = yield* pair(0n)
      const { id } = yield* schedule({ frequency: "daily", retry_enabled: false, max_occurrences: 2 })
      assert.deepStrictEqual([yield* turn("1 day"), yield* turn("1 day"), yield* turn("1 day")], [1, 1, 0])
      assert.deepInclude(yield* (yield* Schedules).get(caller, id), { status: "failed", executions_remaining: 0 })
      yield* isSound
    })
  )
})
