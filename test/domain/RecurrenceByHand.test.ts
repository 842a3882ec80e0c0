import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { next, type Recurrence } from "#domain/Recurrence.ts"

/** The clock of a zone by the platform alone, in minutes of the same time in UTC. */
const clockOf = (timeZone: string) => {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric"
  })
  const at = (minute: number) => {
    const parts = Object.fromEntries(
      format.formatToParts(minute * 60_000).map(({ type, value }) => [type, Number(value)])
    )
    const { day = 0, hour = 0, minute: minutes = 0, month = 0, year = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minutes) / 60_000
  }
  return at
}

interface Stretch {
  readonly from: number
  readonly to: number
  readonly offset: number
}

const first = Date.UTC(2026, 0, 1) / 60_000
const last = Date.UTC(2029, 0, 1) / 60_000

/** The stretches of time between which the clocks change, found hour by hour and then minute by minute. */
const stretchesOf = (timeZone: string): ReadonlyArray<Stretch> => {
  const clock = clockOf(timeZone)
  const offset = (minute: number) => clock(minute) - minute
  const stretches: Array<Stretch> = []
  let [from, current] = [first, offset(first)]
  for (let at = first + 360; at <= last; at += 360) {
    if (offset(at) === current) continue
    let change = at - 359
    while (offset(change) === current) change++
    stretches.push({ from, to: change, offset: current })
    ;[from, current] = [change, offset(change)]
  }
  return [...stretches, { from, to: last, offset: current }]
}
const known = new Map<string, ReadonlyArray<Stretch>>()
const stretchesIn = (timeZone: string) => {
  const stretches = known.get(timeZone) ?? stretchesOf(timeZone)
  known.set(timeZone, stretches)
  return stretches
}

/** When the clocks show this first, or the end of the gap that it is in. */
const momentOf = (stretches: ReadonlyArray<Stretch>, wall: number): number | undefined => {
  for (const { from, offset, to } of stretches) {
    if (wall - offset < from) return from
    if (wall - offset < to) return wall - offset
  }
  return undefined
}

/** The numbers that a field of a cron expression means. */
const numbersOf = (field: string, least: number, most: number): ReadonlySet<number> | undefined => {
  if (field === "*") return undefined
  const found = new Set<number>()
  for (const part of field.split(",")) {
    const [range = "", step = "1"] = part.split("/")
    const [from = "", to] = range.split("-")
    const low = range === "*" ? least : Number(from)
    const high = range === "*" ? most : to !== undefined ? Number(to) : part.includes("/") ? most : low
    for (let one = low; one <= high; one += Number(step)) found.add(one)
  }
  return found
}

/** All moments of a cron expression, by looking at every minute of every day. */
const allOf = (expression: string, timeZone: string): ReadonlyArray<number> => {
  const stretches = stretchesIn(timeZone)
  const [minute = "", hour = "", date = "", month = "", weekday = ""] = expression.split(" ")
  const [minutes, hours, dates] = [numbersOf(minute, 0, 59), numbersOf(hour, 0, 23), numbersOf(date, 1, 31)]
  const months = numbersOf(month, 1, 12)
  const named = numbersOf(weekday, 0, 7)
  const weekdays = named && new Set([...named].map((one) => one % 7))
  const moments = new Set<number>()
  for (let day = first / 1440; day < last / 1440; day++) {
    const calendar = new Date(day * 86_400_000)
    if (months !== undefined && !months.has(calendar.getUTCMonth() + 1)) continue
    const [onDate, onWeekday] = [dates?.has(calendar.getUTCDate()), weekdays?.has(calendar.getUTCDay())]
    const either =
      date.startsWith("*") || weekday.startsWith("*") ? (onDate ?? true) && (onWeekday ?? true) : onDate || onWeekday
    if (!either) continue
    for (let of = 0; of < 1440; of++) {
      if (minutes?.has(of % 60) === false || hours?.has(Math.floor(of / 60)) === false) continue
      const moment = momentOf(stretches, day * 1440 + of)
      if (moment !== undefined) moments.add(moment)
    }
  }
  return [...moments].sort((one, other) => one - other)
}

const cron = (cron_expression: string, timezone: string): Recurrence => ({
  frequency: "cron",
  interval: 1,
  day_of_month: null,
  day_of_week: null,
  time: null,
  cron_expression,
  timezone,
  start_at: new Date((first + 2 * 1440) * 60_000),
  end_at: null
})

const zones = [
  ...["UTC", "Europe/Berlin", "Europe/Dublin", "America/New_York", "America/St_Johns", "America/Havana"],
  ...[
    "America/Santiago",
    "America/Sao_Paulo",
    "America/Scoresbysund",
    "Africa/Casablanca",
    "Africa/Cairo",
    "Africa/El_Aaiun"
  ],
  ...["Asia/Beirut", "Asia/Gaza", "Asia/Jerusalem", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Chatham"],
  ...["Antarctica/Troll", "Pacific/Easter", "Pacific/Kiritimati", "Pacific/Apia", "America/Asuncion"]
]

const field = (least: number, most: number) => {
  const one = fc.integer({ min: least, max: most })
  const range = fc.tuple(one, one).map(([from, to]) => `${Math.min(from, to)}-${Math.max(from, to)}`)
  const step = fc.integer({ min: 1, max: most - least })
  const part = fc.oneof(
    one.map(String),
    range,
    fc.tuple(range, step).map((both) => both.join("/")),
    fc.tuple(fc.constant("*"), step).map((both) => both.join("/")),
    fc.tuple(one, step).map((both) => both.join("/"))
  )
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant("*") },
    { weight: 3, arbitrary: fc.array(part, { minLength: 1, maxLength: 2 }).map((parts) => parts.join(",")) }
  )
}
const expressions = fc
  .tuple(field(0, 59), fc.oneof(field(0, 23), fc.constant("0-3")), field(1, 31), field(1, 12), field(0, 7))
  .map((fields) => fields.join(" "))

describe("a cron expression", () => {
  it("comes when a minute-by-minute look at the clocks of the zone says, in every zone", () => {
    fc.assert(
      fc.property(
        expressions,
        fc.constantFrom(...zones),
        fc.integer({ min: first, max: last - 400 * 1440 }),
        (expression, zone, from) => {
          const all = allOf(expression, zone)
          const what = cron(expression, zone)
          // Around the changes of the clocks, and from anywhere.
          const starts = [
            from,
            ...stretchesIn(zone)
              .slice(1, 6)
              .map((stretch) => stretch.from - 200)
          ]
          for (const start of starts) {
            let now = start
            const expected = all.filter((at) => at > start && at * 60_000 >= what.start_at.getTime()).slice(0, 30)
            for (const at of expected) {
              const found = next(what, new Date(now * 60_000))
              assert.strictEqual(
                found?.toISOString(),
                new Date(at * 60_000).toISOString(),
                `${expression} ${zone} after ${new Date(now * 60_000).toISOString()}`
              )
              now = at
            }
          }
        }
      ),
      { numRuns: 40 }
    )
  })
})

const counted = fc.record({
  frequency: fc.constantFrom<"daily" | "weekly" | "monthly">("daily", "weekly", "monthly"),
  interval: fc.integer({ min: 1, max: 5 }),
  day_of_month: fc.option(fc.integer({ min: 1, max: 31 })),
  day_of_week: fc.option(fc.integer({ min: 0, max: 6 })),
  time: fc.option(
    fc.constantFrom("00:00", "00:30", "01:15", "02:00", "02:10", "02:45", "03:00", "12:00", "23:30", "23:59")
  )
})

/** All moments of a recurrence, by looking at every day of the calendar from the start on. */
const daysOf = (what: Recurrence, start: number): ReadonlyArray<number> => {
  const stretches = stretchesIn(what.timezone)
  const startWall = clockOf(what.timezone)(start)
  const began = new Date(startWall * 60_000)
  const [hours = 0, minutes = 0] = what.time?.split(":").map(Number) ?? []
  const of = what.time === null ? startWall - Math.floor(startWall / 1440) * 1440 : hours * 60 + minutes
  const moments: Array<number> = []
  for (let day = Math.floor(startWall / 1440); day < last / 1440; day++) {
    const calendar = new Date(day * 86_400_000)
    const lastOfMonth = new Date(Date.UTC(calendar.getUTCFullYear(), calendar.getUTCMonth() + 1, 0)).getUTCDate()
    const fits =
      what.frequency === "daily" ||
      (what.frequency === "weekly"
        ? calendar.getUTCDay() === (what.day_of_week ?? began.getUTCDay())
        : calendar.getUTCDate() === Math.min(what.day_of_month ?? began.getUTCDate(), lastOfMonth))
    // The start is its own time, also where its clock shows it for the second time.
    const isStart = what.time === null && day * 1440 + of === startWall
    const moment = fits ? (isStart ? start : momentOf(stretches, day * 1440 + of)) : undefined
    if (moment !== undefined && moment >= start) moments.push(moment)
  }
  return moments.filter((_, index) => index % what.interval === 0)
}

describe("days, weeks and months", () => {
  it("come when a day-by-day look at the calendar of the zone says, in every zone", () => {
    const anyStart = fc.integer({ min: first + 1440, max: last - 500 * 1440 })
    fc.assert(
      fc.property(
        counted,
        fc.constantFrom(...zones),
        anyStart,
        fc.integer({ min: -5, max: 3 }),
        (given, timezone, from, near) => {
          const change = stretchesIn(timezone)[2]?.from
          for (const start of [
            from,
            ...(change === undefined ? [] : [change + near * 30, change - 1440 + near * 30])
          ]) {
            const what: Recurrence = {
              ...given,
              cron_expression: null,
              timezone,
              start_at: new Date(start * 60_000),
              end_at: null
            }
            let now = new Date((start - 10) * 60_000)
            for (const at of daysOf(what, start).slice(0, 40)) {
              const found = next(what, now)
              assert.strictEqual(found?.toISOString(), new Date(at * 60_000).toISOString(), JSON.stringify(what))
              now = new Date(at * 60_000)
            }
          }
        }
      ),
      { numRuns: 40 }
    )
  })
})
