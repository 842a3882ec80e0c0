import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { type Frequency, next, type Recurrence } from "#domain/Recurrence.ts"

const at = (text: string) => new Date(text)

const zones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Africa/Cairo",
  "America/Santiago",
  "Asia/Kolkata"
]
const moment = fc.date({ min: at("2026-01-01T00:00:00Z"), max: at("2031-01-01T00:00:00Z"), noInvalidDate: true })
const anything: fc.Arbitrary<Recurrence> = fc.record({
  frequency: fc.constantFrom<Frequency>("daily", "weekly", "monthly", "cron"),
  interval: fc.integer({ min: 1, max: 5 }),
  day_of_month: fc.option(fc.integer({ min: 1, max: 31 })),
  day_of_week: fc.option(fc.integer({ min: 0, max: 6 })),
  time: fc.option(
    fc.constantFrom("00:00", "00:30", "01:30", "01:45", "02:00", "02:15", "02:30", "03:00", "12:00", "23:59")
  ),
  cron_expression: fc.constantFrom(
    "*/20 * * * *",
    "30 2 * * *",
    "0,30 1-3 * * *",
    "0 0 31 * *",
    "0 12 29 2 *",
    "15 2 * * 0"
  ),
  timezone: fc.constantFrom(...zones),
  start_at: moment,
  end_at: fc.constant(null)
})
const proper = ({ cron_expression, ...rest }: Recurrence): Recurrence => ({
  ...rest,
  cron_expression: rest.frequency === "cron" ? cron_expression : null
})

describe("any recurrence", () => {
  it("goes on strictly forward, never before its start, and skips nothing", () => {
    fc.assert(
      fc.property(anything.map(proper), moment, moment, (what, one, other) => {
        let last = one
        for (let count = 0; count < 12; count++) {
          const found = next(what, last)
          assert.isDefined(found)
          assert.isAbove(found.getTime(), last.getTime())
          assert.isAtLeast(found.getTime(), what.start_at.getTime())
          // From anywhere in between, the same one comes next: none was left out, none is made up.
          const start = Math.max(last.getTime(), 0)
          const between = start + Math.floor((found.getTime() - start) * ((other.getTime() % 997) / 997))
          assert.deepStrictEqual(next(what, new Date(between)), found)
          assert.deepStrictEqual(next(what, new Date(found.getTime() - 1)), found)
          last = found
        }
      }),
      { numRuns: 200 }
    )
  })

  it("of days or weeks leaves as many days of the zone's calendar between two occurrences as it says", () => {
    const counted = anything.filter(({ frequency }) => frequency === "daily" || frequency === "weekly").map(proper)
    fc.assert(
      fc.property(counted, moment, (what, after) => {
        const day = (date: Date) =>
          Date.parse(new Intl.DateTimeFormat("en-CA", { timeZone: what.timezone }).format(date)) / 86_400_000
        let last = next(what, after)
        for (let count = 0; count < 12; count++) {
          assert.isDefined(last)
          const found: Date | undefined = next(what, last)
          assert.isDefined(found)
          assert.strictEqual(day(found) - day(last), what.interval * (what.frequency === "weekly" ? 7 : 1))
          last = found
        }
      }),
      { numRuns: 150 }
    )
  })

  it("shows the time asked for on the clock of its zone, or runs at the end of a gap", () => {
    fc.assert(
      fc.property(
        anything.filter(({ frequency, time }) => frequency !== "cron" && time !== null).map(proper),
        moment,
        (what, after) => {
          const found = next(what, after)
          assert.isDefined(found)
          const clock = (date: Date) =>
            new Intl.DateTimeFormat("en-GB", { timeZone: what.timezone, hour: "2-digit", minute: "2-digit" }).format(
              date
            )
          const minuteBefore = new Date(found.getTime() - 60_000)
          const shown = clock(found)
          if (shown !== what.time) {
            const minutes = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3))
            const [from, to] = [minutes(clock(minuteBefore)), minutes(shown)]
            // Over midnight the clock of the minute before is the larger one.
            const asked = minutes(what.time ?? "")
            assert.isTrue(
              from > to ? asked > from || asked < to : from < asked && asked < to,
              `${what.time} became ${shown}`
            )
          }
        }
      ),
      { numRuns: 200 }
    )
  })
})
