import { assert, describe, it } from "@effect/vitest"
import { afterAttempt, dueAt, originOf, type Schedule, shown } from "#domain/Schedule.ts"
import { hour, now, scheduleOf, transfer_id } from "./ScheduleHarness.ts"

describe("a schedule as it is shown", () => {
  const daily = scheduleOf({ frequency: "daily", max_occurrences: 3 }, { occurrences: 1 })
  const remaining = (schedule: Schedule) => shown(schedule).executions_remaining

  it("says how often it runs yet, where there is an end to it", () => {
    assert.strictEqual(remaining(scheduleOf({ scheduled_at: new Date(now.getTime() + hour) })), 1)
    assert.strictEqual(remaining(scheduleOf({ frequency: "daily" })), null)
    for (const status of ["scheduled", "paused"] as const) assert.strictEqual(remaining({ ...daily, status }), 2)
    for (const status of ["executed", "failed", "cancelled"] as const) {
      assert.strictEqual(remaining({ ...daily, status }), 0)
    }
  })
  it("is due at its next execution while it is scheduled, and never otherwise", () => {
    assert.deepStrictEqual(
      [dueAt(daily), shown(daily).next_execution_at],
      [daily.next_execution_at, daily.next_execution_at]
    )
    const paused: Schedule = { ...daily, status: "paused" }
    assert.deepStrictEqual([dueAt(paused), shown(paused).next_execution_at], [null, null])
  })
  it("keeps to itself what it is decided on", () => {
    for (const name of ["tenant_id", "version", "occurrence_at", "occurrences", "first_attempt_at"]) {
      assert.notProperty(shown(daily), name)
    }
  })
})

describe("an attempt", () => {
  const at = new Date(now.getTime() + 24 * hour)
  const tried = (schedule: Schedule, failure: "insufficient_funds" | null, when = at) => {
    const { happened, schedule: after } = afterAttempt(schedule, { at: when, transfer_id, failure })
    return [after.status, after.attempts, after.occurrences, happened.map((type) => type.split(".")[1])]
  }
  const once = scheduleOf({ scheduled_at: at })
  const last = scheduleOf({ frequency: "daily", max_occurrences: 2, retry_enabled: false }, { occurrences: 1 })

  it("that moves the money of the last occurrence ends the schedule, and any other goes on", () => {
    assert.deepStrictEqual(tried(once, null), ["executed", 0, 1, ["executed", "completed"]])
    const daily = scheduleOf({ frequency: "daily" }, { attempts: 2 })
    assert.deepStrictEqual(tried(daily, null), ["scheduled", 0, 1, ["executed"]])
  })
  it("goes on to the next occurrence, so many days, weeks or months later as was asked for", () => {
    const daysAfter = (schedule: Schedule) => {
      const due = schedule.occurrence_at ?? now
      const { next_execution_at } = afterAttempt(schedule, { at: due, transfer_id, failure: null }).schedule
      return ((next_execution_at?.getTime() ?? Number.NaN) - due.getTime()) / (24 * hour)
    }
    assert.deepStrictEqual(
      [{}, { interval: 2 }, { interval: 3 }].map((every) =>
        daysAfter(scheduleOf({ frequency: "daily", time: "09:00", ...every }))
      ),
      [1, 2, 3]
    )
    assert.strictEqual(daysAfter(scheduleOf({ frequency: "weekly", day_of_week: 1, interval: 2 })), 14)
  })
  it("by a clock that is behind is not made a second time when that clock comes to the occurrence", () => {
    const daily = scheduleOf({ frequency: "daily" })
    const due = daily.occurrence_at ?? now
    const early = afterAttempt(daily, { at: new Date(due.getTime() - 1), transfer_id, failure: null }).schedule
    assert.deepStrictEqual(early.occurrence_at, new Date(due.getTime() + 24 * hour))
  })
  it("of all but the last occurrence is followed by another", () => {
    const twice = scheduleOf({ frequency: "daily", max_occurrences: 2 })
    assert.deepStrictEqual(tried(twice, null), ["scheduled", 0, 1, ["executed"]])
    assert.deepStrictEqual(tried({ ...twice, occurrences: 1 }, null), ["executed", 0, 2, ["executed", "completed"]])
  })
  it("that fails is made again an hour later, counted from the first, or is the end where it is not", () => {
    assert.deepStrictEqual(tried(once, "insufficient_funds"), ["scheduled", 1, 0, ["retrying"]])
    const retried = afterAttempt(once, { at, transfer_id, failure: "insufficient_funds" }).schedule
    const soon = new Date(at.getTime() + hour)
    assert.deepStrictEqual([retried.first_attempt_at, retried.next_execution_at], [at, soon])
    const again = afterAttempt(retried, { at: soon, transfer_id, failure: "insufficient_funds" }).schedule
    assert.deepStrictEqual([again.first_attempt_at, again.attempts], [at, 2])
    const alone = { ...once, retry_enabled: false }
    assert.deepStrictEqual(tried(alone, "insufficient_funds"), ["failed", 1, 1, ["failed"]])
  })
  it("that fails at the last occurrence ends a schedule as executed, if any was", () => {
    assert.deepStrictEqual(tried(last, "insufficient_funds"), ["failed", 1, 2, ["failed"]])
    const executed = { ...last, executions_completed: 1 }
    assert.deepStrictEqual(tried(executed, "insufficient_funds"), ["executed", 1, 2, ["failed", "completed"]])
  })
  it("is told which one it is, from 1", () => {
    assert.deepInclude(originOf(once), { occurrence: 1, attempt: 1 })
    assert.deepInclude(originOf({ ...once, occurrences: 4, attempts: 2 }), { occurrence: 5, attempt: 3 })
  })
})
