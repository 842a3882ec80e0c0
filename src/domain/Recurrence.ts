import { Cron, DateTime, Option, Result, Schema } from "effect"
import { dateOf } from "./Instant.ts"

export const Frequency = Schema.Literals(["daily", "weekly", "monthly", "cron"])
export type Frequency = typeof Frequency.Type

/**
 * When something happens again and again, by the wall clock of a time zone. Occurrences of `daily`, `weekly` and `monthly` are
 * counted from the first one at or after `start_at`, so they never drift.
 */
export interface Recurrence {
  readonly frequency: Frequency
  /** Every how many days, weeks or months. */
  readonly interval: number
  /** Null for that of the start. In a shorter month it is the last day. */
  readonly day_of_month: number | null
  /** 0 is Sunday; null for that of the start. */
  readonly day_of_week: number | null
  /** `HH:MM`; null for the time of the start. */
  readonly time: string | null
  readonly cron_expression: string | null
  readonly timezone: string
  readonly start_at: Date
  /** The last moment at which there may be an occurrence. */
  readonly end_at: Date | null
}

const second = 1_000
const day = 86_400_000

/** A zone of the IANA database; fixed offsets are none, because they say nothing about summer time. */
export const zoneOf = (id: string): DateTime.TimeZone.Named | undefined =>
  /^[A-Za-z]/.test(id) ? Option.getOrUndefined(DateTime.zoneMakeNamed(id)) : undefined

/** A cron expression of five fields (minute, hour, day, month, weekday) over wall-clock times, or why it is none. */
export const cronOf = (expression: string): Result.Result<Cron.Cron, string> =>
  expression.trim().split(/\s+/).length === 5
    ? Result.mapError(Cron.parse(expression, "UTC"), ({ message }) => message)
    : Result.fail("Expected the five fields minute, hour, day of month, month, day of week")

// A wall-clock time is written as the milliseconds of the same time in UTC.

const offsetAt = (zone: DateTime.TimeZone, at: number): number =>
  DateTime.zonedOffset(DateTime.makeZonedUnsafe(at, { timeZone: zone }))

const wallAt = (zone: DateTime.TimeZone, at: number): number => at + offsetAt(zone, at)

/** When the clocks of the zone show this time: the first time of two, and the end of the gap when they never do. */
const instantOf = (zone: DateTime.TimeZone, wall: number): number => {
  const shown = (disambiguation: "earlier" | "later") =>
    DateTime.toEpochMillis(DateTime.makeZonedUnsafe(wall, { timeZone: zone, adjustForTimeZone: true, disambiguation }))
  const first = shown("earlier")
  if (wallAt(zone, first) === wall) return first
  // Around the gap: `low` is still before it, `high` behind it, both in whole seconds.
  let low = Math.floor(first / second)
  let high = Math.ceil(shown("later") / second)
  const before = offsetAt(zone, low * second)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(zone, middle * second) === before) low = middle
    else high = middle
  }
  return high * second
}

const dayOf = (wall: number): number => Math.floor(wall / day)
const weekdayOf = (days: number): number => (((days + 4) % 7) + 7) % 7

const partsOf = (wall: number): DateTime.DateTime.Parts => DateTime.toPartsUtc(DateTime.makeUnsafe(wall))

/** Months since the year 0. */
const monthOf = (wall: number): number => {
  const { month, year } = partsOf(wall)
  return year * 12 + month - 1
}
/** The first day of a month, in days since 1970. */
const firstOf = (month: number): number => Date.UTC(Math.floor(month / 12), month % 12, 1) / day
/** That day of a month, or its last day. */
const dayIn = (month: number, wanted: number): number => Math.min(firstOf(month) + wanted, firstOf(month + 1)) - 1

const timeOf = (text: string): number => {
  const [hours = "0", minutes = "0"] = text.split(":")
  return (Number(hours) * 60 + Number(minutes)) * 60 * second
}

/** How days, weeks or months are counted: where a wall-clock time is, and the day of a place. */
interface Counting {
  readonly placeOf: (wall: number) => number
  readonly dayAt: (place: number) => number
}

const countingOf = ({ day_of_month, day_of_week, frequency }: Recurrence, start: number): Counting => {
  switch (frequency) {
    case "monthly": {
      const wanted = day_of_month ?? partsOf(start).day
      return { placeOf: monthOf, dayAt: (month) => dayIn(month, wanted) }
    }
    case "weekly": {
      const first = dayOf(start)
      const ahead = ((day_of_week ?? weekdayOf(first)) - weekdayOf(first) + 7) % 7
      return {
        placeOf: (wall) => Math.floor((dayOf(wall) - first - ahead) / 7),
        dayAt: (week) => first + ahead + week * 7
      }
    }
    default:
      return { placeOf: dayOf, dayAt: (days) => days }
  }
}

/** The first occurrence after `lower` of a recurrence that counts days, weeks or months. */
const nextCounted = (recurrence: Recurrence, zone: DateTime.TimeZone, lower: number): number => {
  const { interval, start_at, time } = recurrence
  const start = wallAt(zone, start_at.getTime())
  const timeOfDay = time === null ? start - dayOf(start) * day : timeOf(time)
  const { dayAt, placeOf } = countingOf(recurrence, start)
  const at = (place: number) => {
    const wall = dayAt(place) * day + timeOfDay
    // A start in the second of two hours that look the same is its own time, where no other is named.
    return time === null && wall === start ? start_at.getTime() : instantOf(zone, wall)
  }
  let first = placeOf(start)
  while (at(first) < start_at.getTime()) first++
  // One too early, because the place of `lower` is that of its day and not of its time.
  let count = Math.max(0, Math.floor((placeOf(wallAt(zone, lower)) - first) / interval) - 1)
  while (at(first + count * interval) <= lower) count++
  return at(first + count * interval)
}

/** How far ahead a cron expression is followed: all calendars of leap days and weekdays come again within forty years. */
const horizon = 100 * 366 * day

/** Whether it wants a day that none of its months ever has, which a search would take milliseconds to find out. */
const hasNoDay = ({ days, months, weekdays }: Cron.Cron, expression: string): boolean => {
  // Empty is every one. A weekday comes whatever the day, but both have to fit where one of them counts on from `*`.
  const comesAlone = weekdays.size > 0 && expression.trim().split(/\s+/)[4]?.startsWith("*") !== true
  if (days.size === 0 || comesAlone) return false
  const lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  const longest = Math.max(...lengths.filter((_, month) => months.size === 0 || months.has(month + 1)))
  return Math.min(...days) > longest
}

const nextByCron = (expression: string, zone: DateTime.TimeZone, lower: number): number | undefined => {
  const cron = Result.getOrUndefined(cronOf(expression))
  if (cron === undefined || hasNoDay(cron, expression)) return undefined
  let wall = wallAt(zone, lower)
  const end = wall + horizon
  while (wall < end) {
    // It throws when it finds nothing in ten thousand steps.
    const found = Result.try(() => Cron.next(cron, DateTime.makeUnsafe(wall)).getTime())
    if (Result.isFailure(found)) return undefined
    wall = found.success
    const at = instantOf(zone, wall)
    if (at > lower) return at
  }
  return undefined
}

/**
 * The first occurrence after `after`, never before the start; undefined when there is none. A wall-clock time that a change of
 * clocks skips is the first moment after the gap; one that comes twice is the first of the two, unless the start is the second.
 * Throws when the zone is none.
 */
export const next = (recurrence: Recurrence, after: Date): Date | undefined => {
  const { cron_expression, end_at, start_at, timezone } = recurrence
  const zone = DateTime.zoneMakeNamedUnsafe(timezone)
  const lower = Math.max(after.getTime(), start_at.getTime() - 1)
  const found =
    cron_expression === null ? nextCounted(recurrence, zone, lower) : nextByCron(cron_expression, zone, lower)
  return found === undefined || (end_at !== null && found > end_at.getTime()) ? undefined : dateOf(found)
}
