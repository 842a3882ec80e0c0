import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { cronOf, type Frequency, next, type Recurrence, zoneOf } from "#domain/Recurrence.ts"
import { cpuTime } from "./CpuTime.ts"

const at = (text: string) => new Date(text)

const recurrence = (frequency: Frequency, changed: Partial<Recurrence> = {}): Recurrence => ({
  frequency,
  interval: 1,
  day_of_month: null,
  day_of_week: null,
  time: null,
  cron_expression: null,
  timezone: "UTC",
  start_at: at("2026-01-01T00:00:00Z"),
  end_at: null,
  ...changed
})

const cron = (cron_expression: string, timezone = "UTC", changed: Partial<Recurrence> = {}) =>
  recurrence("cron", { cron_expression, timezone, ...changed })

/** The first occurrences after a time. */
const run = (what: Recurrence, after: string, count: number): ReadonlyArray<string> => {
  const found: Array<string> = []
  let last: Date | undefined = at(after)
  while (found.length < count) {
    last = next(what, last)
    if (last === undefined) break
    found.push(last.toISOString().replace(":00.000Z", "Z"))
  }
  return found
}

describe("the time of day", () => {
  it("is that of the start to the millisecond when none is given", () => {
    const start_at = at("2026-01-01T09:00:30.250Z")
    assert.deepStrictEqual(
      next(recurrence("daily", { start_at }), at("2026-01-05T12:00:00Z")),
      at("2026-01-06T09:00:30.250Z")
    )
  })

  it("is that of the zone, in summer and in winter", () => {
    const what = recurrence("daily", { time: "09:00", timezone: "Europe/Berlin" })
    assert.deepStrictEqual(run(what, "2026-03-28T00:00:00Z", 2), ["2026-03-28T08:00Z", "2026-03-29T07:00Z"])
    assert.deepStrictEqual(run(what, "2026-10-24T00:00:00Z", 2), ["2026-10-24T07:00Z", "2026-10-25T08:00Z"])
  })
})

describe("counting", () => {
  it("days, weeks and months begins at the first occurrence at or after the start", () => {
    const start_at = at("2026-01-30T15:00:00Z")
    const early = { start_at, time: "09:00" }
    assert.deepStrictEqual(run(recurrence("daily", { ...early, interval: 2 }), "2026-01-01T00:00:00Z", 2), [
      "2026-01-31T09:00Z",
      "2026-02-02T09:00Z"
    ])
    assert.deepStrictEqual(
      run(recurrence("weekly", { ...early, interval: 2, day_of_week: 5 }), "2026-01-01T00:00:00Z", 2),
      ["2026-02-06T09:00Z", "2026-02-20T09:00Z"]
    )
    assert.deepStrictEqual(
      run(recurrence("monthly", { ...early, interval: 3, day_of_month: 30 }), "2026-01-01T00:00:00Z", 2),
      ["2026-02-28T09:00Z", "2026-05-30T09:00Z"]
    )
  })

  it("takes the day of the start when none is given", () => {
    const start_at = at("2026-01-30T15:00:00Z")
    assert.deepStrictEqual(run(recurrence("weekly", { start_at }), "2026-01-01T00:00:00Z", 2), [
      "2026-01-30T15:00Z",
      "2026-02-06T15:00Z"
    ])
    assert.deepStrictEqual(run(recurrence("monthly", { start_at }), "2026-01-01T00:00:00Z", 2), [
      "2026-01-30T15:00Z",
      "2026-02-28T15:00Z"
    ])
  })

  it("goes on from the first occurrence, wherever it is asked from", () => {
    const what = recurrence("daily", { interval: 3 })
    assert.deepStrictEqual(run(what, "2026-01-02T00:00:00Z", 1), ["2026-01-04T00:00Z"])
    assert.deepStrictEqual(run(what, "2026-01-04T00:00:00Z", 1), ["2026-01-07T00:00Z"])
    assert.deepStrictEqual(run(what, "2036-01-01T00:00:00Z", 1), ["2036-01-03T00:00Z"])
  })

  it("0 is Sunday and 6 is Saturday", () => {
    assert.deepStrictEqual(run(recurrence("weekly", { day_of_week: 0 }), "2026-01-01T00:00:00Z", 1), [
      "2026-01-04T00:00Z"
    ])
    assert.deepStrictEqual(run(recurrence("weekly", { day_of_week: 6 }), "2026-01-01T00:00:00Z", 1), [
      "2026-01-03T00:00Z"
    ])
  })
})

describe("the end of a month", () => {
  it("is the last day of a shorter one, and the 31st stays the 31st", () => {
    assert.deepStrictEqual(run(recurrence("monthly", { day_of_month: 31 }), "2027-01-01T00:00:00Z", 5), [
      "2027-01-31T00:00Z",
      "2027-02-28T00:00Z",
      "2027-03-31T00:00Z",
      "2027-04-30T00:00Z",
      "2027-05-31T00:00Z"
    ])
  })

  it("is 29 February in a leap year, and the 30th comes back in March", () => {
    assert.deepStrictEqual(run(recurrence("monthly", { day_of_month: 30 }), "2028-01-31T00:00:00Z", 2), [
      "2028-02-29T00:00Z",
      "2028-03-30T00:00Z"
    ])
  })

  it("of a yearly payment on 29 February is the 28th in other years", () => {
    const start_at = at("2028-02-29T00:00:00Z")
    assert.deepStrictEqual(run(recurrence("monthly", { start_at, interval: 12 }), "2028-03-01T00:00:00Z", 4), [
      "2029-02-28T00:00Z",
      "2030-02-28T00:00Z",
      "2031-02-28T00:00Z",
      "2032-02-29T00:00Z"
    ])
  })
})

describe("a time that the change of clocks skips", () => {
  const gaps = [
    ["Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00Z", "2026-03-30T00:30Z"],
    ["America/New_York", "2026-03-07T12:00:00Z", "2026-03-08T07:00Z", "2026-03-09T06:30Z"],
    // Half an hour, from 02:00 to 02:30.
    ["Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-03T15:30Z", "2026-10-04T15:30Z"]
  ] as const
  for (const [timezone, after, instead, later] of gaps) {
    const time = timezone === "Australia/Lord_Howe" ? "02:15" : "02:30"
    const [hour, minute] = time.split(":").map(Number)
    const usual = timezone === "Australia/Lord_Howe" ? "2026-10-04T15:15Z" : later

    it(`is the first moment after the gap in ${timezone}, once`, () => {
      assert.deepStrictEqual(run(recurrence("daily", { time, timezone }), after, 2), [instead, usual])
      assert.deepStrictEqual(run(cron(`${minute} ${hour} * * *`, timezone), after, 2), [instead, usual])
    })

    it(`is one moment although a cron expression names many in the gap of ${timezone}`, () => {
      const [, second] = run(cron("*/5 2 * * *", timezone), after, 2)
      assert.isAbove(at(second ?? "").getTime(), at(instead).getTime())
      assert.strictEqual(run(cron("*/5 2 * * *", timezone), after, 1)[0], instead)
    })
  }

  it("is there in other zones on the same day", () => {
    const what = recurrence("daily", { time: "02:30", timezone: "Asia/Tokyo" })
    assert.deepStrictEqual(run(what, "2026-03-28T12:00:00Z", 1), ["2026-03-28T17:30Z"])
  })

  it("does not move the occurrence at the end of the gap", () => {
    const what = recurrence("daily", { time: "03:00", timezone: "Europe/Berlin" })
    assert.deepStrictEqual(run(what, "2026-03-28T12:00:00Z", 2), ["2026-03-29T01:00Z", "2026-03-30T01:00Z"])
  })
})

describe("a time that comes twice when the clocks go back", () => {
  const overlaps = [
    ["Europe/Berlin", "02:30", "2026-10-24T12:00:00Z", "2026-10-25T00:30Z", "2026-10-26T01:30Z"],
    ["America/New_York", "01:30", "2026-10-31T12:00:00Z", "2026-11-01T05:30Z", "2026-11-02T06:30Z"],
    ["Australia/Lord_Howe", "01:45", "2026-04-04T12:00:00Z", "2026-04-04T14:45Z", "2026-04-05T15:15Z"]
  ] as const
  for (const [timezone, time, after, first, second] of overlaps) {
    const [hour, minute] = time.split(":").map(Number)
    it(`is the first of the two in ${timezone}, and only that`, () => {
      assert.deepStrictEqual(run(recurrence("daily", { time, timezone }), after, 2), [first, second])
      assert.deepStrictEqual(run(cron(`${minute} ${hour} * * *`, timezone), after, 2), [first, second])
    })
  }

  it("is not found from between the two", () => {
    const what = recurrence("daily", { time: "02:30", timezone: "Europe/Berlin" })
    assert.deepStrictEqual(run(what, "2026-10-25T01:10:00Z", 1), ["2026-10-26T01:30Z"])
    assert.deepStrictEqual(run(cron("* 2 * * *", "Europe/Berlin"), "2026-10-25T01:10:00Z", 1), ["2026-10-26T01:00Z"])
  })

  it("is the second of the two where the start is that and names no other time, and the first ever after", () => {
    const berlin = { timezone: "Europe/Berlin", start_at: at("2026-10-25T01:30:00Z") }
    const [first, second] = run(recurrence("daily", berlin), "2026-10-25T00:00:00Z", 2)
    assert.deepStrictEqual([first, second], ["2026-10-25T01:30Z", "2026-10-26T01:30Z"])
    assert.deepStrictEqual(run(recurrence("monthly", berlin), "2026-10-01T00:00:00Z", 1), ["2026-10-25T01:30Z"])
    // The clocks go back on 25 October of 2037 again.
    assert.deepStrictEqual(run(recurrence("monthly", { ...berlin, interval: 132 }), "2026-10-26T00:00:00Z", 1), [
      "2037-10-25T00:30Z"
    ])
    const named = recurrence("daily", { ...berlin, time: "02:30" })
    assert.deepStrictEqual(run(named, "2026-10-25T00:00:00Z", 1), ["2026-10-26T01:30Z"])
  })
})

describe("the bounds", () => {
  it("the start and the end may be occurrences themselves", () => {
    const what = recurrence("daily", { start_at: at("2026-05-01T10:00:00Z"), end_at: at("2026-05-03T10:00:00Z") })
    assert.deepStrictEqual(run(what, "2026-01-01T00:00:00Z", 9), [
      "2026-05-01T10:00Z",
      "2026-05-02T10:00Z",
      "2026-05-03T10:00Z"
    ])
    assert.strictEqual(
      run(cron("0 10 * * *", "UTC", { start_at: what.start_at, end_at: what.end_at }), "2026-01-01T00:00:00Z", 9)
        .length,
      3
    )
  })
})

describe("a cron expression", () => {
  it("of a day or of a weekday runs on either, as cron does", () => {
    assert.deepStrictEqual(run(cron("0 0 13 * 5"), "2026-01-01T00:00:00Z", 3), [
      "2026-01-02T00:00Z",
      "2026-01-09T00:00Z",
      "2026-01-13T00:00Z"
    ])
  })

  it("of a leap day waits for it, over 2100 as well", () => {
    assert.deepStrictEqual(run(cron("0 0 29 2 *"), "2096-01-01T00:00:00Z", 2), [
      "2096-02-29T00:00Z",
      "2104-02-29T00:00Z"
    ])
  })

  it("that never comes is found out at once", () => {
    const before = cpuTime()
    // Whoever may ask for a schedule may ask for these as often, and everybody else waits meanwhile.
    for (let times = 0; times < 1_000; times++) {
      for (const expression of ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "59 23 31 4 */2"]) {
        assert.isUndefined(next(cron(expression, "Europe/Berlin"), at("2026-01-01T00:00:00Z")), expression)
      }
    }
    assert.isBelow(cpuTime() - before, 1_000)
    for (const [expression, first] of [
      ["0 0 31 */2 *", "2026-01-31T00:00Z"],
      ["0 0 30 2 1", "2026-02-02T00:00Z"],
      ["0 0 29 2 */7", "2032-02-29T00:00Z"]
    ] as const) {
      assert.deepStrictEqual(run(cron(expression), "2026-01-01T00:00:00Z", 1), [first])
    }
  })

  it("has five fields that mean something", () => {
    for (const good of ["0 9 * * 1-5", "*/15 * * * *", " 0  0 1 jan,jul mon ", "0 0 * * 7"]) {
      assert.isTrue(Result.isSuccess(cronOf(good)), good)
    }
    const wrong = [
      "",
      "* * * *",
      "* * * * * *",
      "60 * * * *",
      "0 24 * * *",
      "0 0 0 * *",
      "0 0 32 * *",
      "0 0 * 13 *",
      "x"
    ]
    for (const bad of [...wrong, "0 0 * * 8", "*/0 * * * *", "5-1 * * * *", "@daily", "0 0 L * *", "1,,2 * * * *"]) {
      assert.isTrue(Result.isFailure(cronOf(bad)), bad)
    }
  })
})

describe("a zone", () => {
  it("is one of the IANA database", () => {
    for (const good of ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5"])
      assert.isDefined(zoneOf(good), good)
    for (const bad of ["", "+02:00", "Europe/Nowhere", "Mars", "../etc/passwd", "local"])
      assert.isUndefined(zoneOf(bad), bad)
  })
})
