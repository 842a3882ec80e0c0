import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import { parseInstant } from "#domain/Instant.ts"
import { afterAttempt, afterTrigger, type ScheduleTrigger, shown } from "#domain/Schedule.ts"
import type { CreateScheduledTransfer } from "#domain/ScheduleOrder.ts"
import { hour, now, order, scheduleOf, transfer_id } from "./ScheduleHarness.ts"

describe("a moment on the wire", () => {
  it("is ISO 8601 with seconds and an offset", () => {
    const good = {
      "2030-01-31T09:00:00Z": "2030-01-31T09:00:00.000Z",
      "2030-01-31T09:00:00+01:00": "2030-01-31T08:00:00.000Z",
      "2030-01-31T09:00:00.5-05:30": "2030-01-31T14:30:00.500Z",
      "2030-01-31T09:00:00.123456789Z": "2030-01-31T09:00:00.123Z",
      "2028-02-29T23:59:59Z": "2028-02-29T23:59:59.000Z"
    }
    for (const [text, meant] of Object.entries(good)) assert.strictEqual(parseInstant(text)?.toISOString(), meant, text)
  })

  it("is refused when it is local, or no calendar has it", () => {
    const local = [
      "2030-01-31T09:00:00",
      "2030-01-31",
      "2030-01-31 09:00:00Z",
      "2030-01-31T09:00Z",
      "1893456000",
      "now",
      ""
    ]
    const none = ["2026-02-30T00:00:00Z", "2027-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z"]
    const times = ["2026-12-31T23:59:60Z", "2026-12-31T24:00:00Z", "2026-12-31T12:60:00Z", "2026-12-31T12:00:00+25:00"]
    const odd = ["+012026-01-01T00:00:00Z", "2026-01-01T00:00:00.Z", "2026-01-01t00:00:00z", " 2026-01-01T00:00:00Z"]
    const outside = ["9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00+00:01"]
    for (const text of [...local, ...none, ...times, ...odd, ...outside]) assert.isUndefined(parseInstant(text), text)
  })
})

describe("what a schedule is made from", () => {
  it("is either one time or a frequency, with the fields that belong to it", () => {
    const scheduled_at = new Date("2026-04-01T00:00:00Z")
    const good: ReadonlyArray<Partial<CreateScheduledTransfer>> = [
      { scheduled_at },
      { frequency: "daily", time: "09:00", interval: 2 },
      { frequency: "weekly", day_of_week: 0, timezone: "Europe/Berlin" },
      { frequency: "monthly", day_of_month: 31, max_occurrences: 3 },
      { frequency: "cron", cron_expression: "0 9 * * 1-5" },
      { scheduled_at, retry_enabled: false }
    ]
    for (const one of good) assert.isTrue(Result.isSuccess(order(one)), JSON.stringify(one))
    const bad: ReadonlyArray<readonly [string, Partial<CreateScheduledTransfer>]> = [
      ["scheduled_at", {}],
      ["scheduled_at", { scheduled_at, frequency: "daily" }],
      ["timezone", { scheduled_at, timezone: "UTC" }],
      ["max_occurrences", { scheduled_at, max_occurrences: 1 }],
      ["day_of_week", { frequency: "daily", day_of_week: 1 }],
      ["day_of_month", { frequency: "weekly", day_of_month: 1 }],
      ["cron_expression", { frequency: "daily", cron_expression: "* * * * *" }],
      ["cron_expression", { frequency: "cron" }],
      ["cron_expression", { frequency: "cron", cron_expression: "* * * *" }],
      ["time", { frequency: "cron", cron_expression: "* * * * *", time: "09:00" }],
      ["interval", { frequency: "cron", cron_expression: "* * * * *", interval: 2 }],
      ["max_retry_attempts", { scheduled_at, retry_enabled: false, max_retry_attempts: 1 }]
    ]
    for (const [path, one] of bad) {
      const refused = order(one)
      assert.isTrue(Result.isFailure(refused), path)
      if (Result.isFailure(refused))
        assert.deepStrictEqual(
          refused.failure.errors.map((error) => error.path),
          [path]
        )
    }
  })
})

describe("a retry", () => {
  it("comes no sooner than the next occurrence only where there is none", () => {
    const hourly = scheduleOf({ frequency: "cron", cron_expression: "0 * * * *" })
    const at = new Date("2026-03-01T13:00:00Z")
    assert.include(
      afterAttempt(hourly, { at, transfer_id, failure: "insufficient_funds" }).happened,
      "scheduled_transfer.failed"
    )
    const last = scheduleOf({ frequency: "cron", cron_expression: "0 * * * *", max_occurrences: 1 })
    const { happened, schedule } = afterAttempt(last, { at, transfer_id, failure: "insufficient_funds" })
    assert.deepStrictEqual(happened, ["scheduled_transfer.retrying"])
    assert.deepStrictEqual(schedule.next_execution_at, new Date(at.getTime() + hour))
    assert.deepStrictEqual(schedule.occurrence_at, at)
  })

  it("that comes sooner than the next occurrence is made, and is for the one that failed", () => {
    const daily = scheduleOf({ frequency: "daily" })
    const due = daily.occurrence_at ?? now
    const { happened, schedule } = afterAttempt(daily, { at: due, transfer_id, failure: "insufficient_funds" })
    assert.deepStrictEqual(happened, ["scheduled_transfer.retrying"])
    assert.deepStrictEqual([schedule.occurrence_at, schedule.next_execution_at], [due, new Date(due.getTime() + hour)])
  })

  it("comes as often as asked for, hourly for a day, and daily after that", () => {
    const first = new Date("2026-04-01T00:00:00Z")
    let schedule = scheduleOf({ scheduled_at: first, max_retry_attempts: 26 })
    const made: Array<number> = []
    for (let at: Date | null = first; at !== null; at = schedule.next_execution_at) {
      made.push((at.getTime() - first.getTime()) / hour)
      schedule = afterAttempt(schedule, { at, transfer_id, failure: "insufficient_funds" }).schedule
    }
    assert.deepStrictEqual(made, [...Array.from({ length: 25 }, (_, hours) => hours), 48, 72])
    assert.strictEqual(schedule.status, "failed")
  })

  it("keeps within its window, counted from the first attempt", () => {
    const at = new Date("2026-04-03T00:00:00Z")
    const given = { scheduled_at: new Date("2026-04-01T00:00:00Z"), max_retry_attempts: 100, retry_window_days: 3 }
    const tried = (first: string) =>
      afterAttempt(scheduleOf(given, { attempts: 5, first_attempt_at: new Date(first) }), {
        at,
        transfer_id,
        failure: "wallet_frozen"
      })
    assert.deepStrictEqual(tried("2026-04-01T00:00:00Z").happened, ["scheduled_transfer.retrying"])
    assert.deepStrictEqual(tried("2026-03-31T23:59:59Z").happened, ["scheduled_transfer.failed"])
  })
})

describe("a resumed recurring schedule", () => {
  const daily = { frequency: "daily", end_at: new Date("2026-03-02T12:00:01Z") } as const
  const due = new Date("2026-03-02T12:00:00Z")
  const pausedAndResumed = (paused: Date, resumed: Date) => {
    const { schedule } = Result.getOrThrow(afterTrigger(scheduleOf(daily), "pause", paused))
    return Result.getOrThrow(afterTrigger(schedule, "resume", resumed))
  }
  const late = new Date("2026-03-05T00:00:00Z")

  it("makes the transfer that was due when it was paused, however long the pause was", () => {
    for (const paused of [due, new Date(due.getTime() + 150)]) {
      const { happened, schedule } = pausedAndResumed(paused, late)
      assert.deepStrictEqual(happened, [])
      assert.deepInclude(schedule, { status: "scheduled", next_execution_at: due, occurrence_at: due })
    }
  })

  it("makes the retry whose time came in the pause, of the occurrence that failed", () => {
    const plan = scheduleOf({ frequency: "daily" })
    const failed = afterAttempt(plan, { at: due, transfer_id, failure: "insufficient_funds" }).schedule
    const paused = Result.getOrThrow(afterTrigger(failed, "pause", new Date(due.getTime() + 1))).schedule
    const { schedule } = Result.getOrThrow(afterTrigger(paused, "resume", late))
    assert.deepInclude(schedule, { status: "scheduled", occurrence_at: due, attempts: 1 })
    assert.deepStrictEqual(schedule.next_execution_at, new Date(due.getTime() + hour))
  })

  it("passes over what fell due in the very moment that it is resumed", () => {
    const daily = scheduleOf({ frequency: "daily" })
    const paused = Result.getOrThrow(afterTrigger(daily, "pause", new Date(due.getTime() - 1))).schedule
    const { schedule } = Result.getOrThrow(afterTrigger(paused, "resume", due))
    assert.deepStrictEqual(schedule.next_execution_at, new Date(due.getTime() + 24 * hour))
  })

  it("all of whose occurrences fell into the pause was cancelled by it: nothing was executed, and nothing failed", () => {
    const { happened, schedule } = pausedAndResumed(new Date(due.getTime() - 1), late)
    assert.deepStrictEqual(happened, [])
    assert.deepInclude(schedule, { status: "cancelled", next_execution_at: null, executions_completed: 0 })
  })
})

const failures = [null, "insufficient_funds", "wallet_frozen"] as const
const plans: ReadonlyArray<Partial<CreateScheduledTransfer>> = [
  { scheduled_at: new Date("2026-03-02T00:00:00Z"), max_retry_attempts: 2 },
  { frequency: "daily", max_occurrences: 3, time: "02:30", timezone: "Europe/Berlin" },
  { frequency: "weekly", end_at: new Date("2026-05-01T00:00:00Z"), max_retry_attempts: 40 },
  { frequency: "monthly", day_of_month: 31, max_occurrences: 2, retry_enabled: false },
  { frequency: "cron", cron_expression: "*/20 * * * *", max_occurrences: 5 }
]

describe("any life of a schedule", () => {
  it("goes forward, one version at a time, within its limits, and ends once", () => {
    const step = fc.record({
      does: fc.constantFrom<"attempt" | ScheduleTrigger>("attempt", "attempt", "attempt", "pause", "resume", "cancel"),
      late: fc.integer({ min: 0, max: 200 * hour }),
      failure: fc.constantFrom(...failures)
    })
    fc.assert(
      fc.property(fc.constantFrom(...plans), fc.array(step, { maxLength: 60 }), (plan, steps) => {
        let schedule = scheduleOf(plan)
        let at = now
        let executed = 0
        let wasDue = false
        for (const { does, failure, late } of steps) {
          const before = schedule
          const isOver = !["scheduled", "paused"].includes(before.status)
          if (does === "attempt") {
            if (before.status !== "scheduled" || before.next_execution_at === null) continue
            at = new Date(Math.max(at.getTime(), before.next_execution_at.getTime()) + late)
            const { happened, schedule: after } = afterAttempt(before, { at, transfer_id, failure })
            if (failure === null) executed++
            assert.strictEqual(happened[0]?.endsWith("executed"), failure === null)
            schedule = after
          } else {
            at = new Date(at.getTime() + late)
            const changed = afterTrigger(before, does, at)
            if (isOver) assert.isTrue(Result.isFailure(changed))
            if (Result.isFailure(changed)) continue
            schedule = changed.success.schedule
            if (does === "pause") wasDue = before.next_execution_at !== null && before.next_execution_at <= at
            if (does === "resume" && wasDue) assert.deepStrictEqual(schedule.occurrence_at, before.occurrence_at)
            assert.notInclude(changed.success.happened, "scheduled_transfer.executed")
          }
          assert.strictEqual(schedule.version, before.version + 1n)
          assert.strictEqual(schedule.executions_completed, executed)
          if (schedule.status === "executed") assert.isAbove(executed, 0)
          assert.isAtMost(schedule.occurrences, plan.max_occurrences ?? Infinity)
          assert.isAtMost(schedule.attempts, schedule.max_retry_attempts + 1)
          assert.strictEqual(schedule.status === "scheduled", shown(schedule).next_execution_at !== null)
          // An occurrence is never gone back to, and what is next is later unless it waited in a pause.
          if (schedule.occurrences > before.occurrences && schedule.status === "scheduled") {
            assert.isAbove(schedule.occurrence_at?.getTime() ?? 0, at.getTime())
          }
          if (does === "attempt" && schedule.next_execution_at !== null) {
            assert.isAbove(schedule.next_execution_at.getTime(), at.getTime())
          }
          if (plan.scheduled_at !== undefined) assert.isAtMost(executed, 1)
        }
      }),
      { numRuns: 1_000 }
    )
  })
})
