import { DateTime, Option } from "effect"

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** When the attempts of a chain are due, in milliseconds after the first; the last is final. */
export const retrySchedule: ReadonlyArray<number> = [
  0,
  30 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  12 * hour,
  24 * hour,
  48 * hour
]

const horizon = retrySchedule.at(-1) ?? 0
/** Attempts that are late, because nobody was there to make them, keep at least so much apart. */
const leastApart = 10 * second
/** An attempt is late by up to this share of the time since the one before, so that those who failed together do not return together. */
const spread = 0.02
const widest = 30 * second

/** What a failed attempt leads to. Times are milliseconds since 1970. */
export interface FailedAttempt {
  readonly attempt: number
  readonly firstAt: number
  readonly now: number
  /** What the receiver asked for in `Retry-After`. */
  readonly notBefore: number | undefined
  /** In [0, 1), different for each chain. */
  readonly chance: number
}

/**
 * When the next attempt is due: never before its place in the schedule, which counts from the first attempt; undefined after the
 * last. A receiver may ask for it to be later, but not past the end of the schedule.
 */
export const nextAttempt = ({ attempt, chance, firstAt, notBefore, now }: FailedAttempt): number | undefined => {
  const offset = retrySchedule[attempt]
  if (offset === undefined) return undefined
  const gap = offset - (retrySchedule[attempt - 1] ?? 0)
  const due = Math.max(firstAt + offset + chance * Math.min(gap * spread, widest), now + leastApart)
  if (notBefore === undefined) return due
  return Math.max(due, Math.min(notBefore, firstAt + horizon))
}

/** The moment that `Retry-After` names, as seconds or as a date; undefined when it names none. */
export const retryAfterOf = (value: string | undefined, now: number): number | undefined => {
  if (value === undefined) return undefined
  const text = value.trim()
  if (/^\d{1,10}$/.test(text)) return now + Number(text) * second
  if (!/^[A-Za-z]{3,9},/.test(text)) return undefined
  return Option.getOrUndefined(Option.map(DateTime.make(text), DateTime.toEpochMillis))
}

/** Failures in a row after which other subscriptions of the tenant are told, once per streak. */
export const failuresToTell = 10
/** How long there may be nothing but failures, in milliseconds, before a subscription is paused. */
export const failingToPause = 72 * hour
/** A receiver that failed so often in a row gets one call at a time in each lane. */
export const failuresToSlow = 3

/** A streak of failures: none when something arrived last. */
export interface Streak {
  readonly failures: number
  readonly failingSince: number | null
}

/** An attempt that was made, and when its end was known, in milliseconds since 1970. */
export interface EndedAttempt {
  readonly delivered: boolean
  readonly at: number
}

/** The streak after attempts that ended in this order, how often one became long enough to tell of, and whether it is too long. */
export const streakAfter = (
  { failingSince, failures }: Streak,
  ended: ReadonlyArray<EndedAttempt>
): Streak & { readonly told: number; readonly tooLong: boolean } => {
  let told = 0
  let tooLong = false
  for (const { at, delivered } of ended) {
    failures = delivered ? 0 : failures + 1
    failingSince = delivered ? null : (failingSince ?? at)
    if (failures === failuresToTell) told++
    tooLong = failingSince !== null && at - failingSince >= failingToPause
  }
  return { failures, failingSince, told, tooLong }
}
