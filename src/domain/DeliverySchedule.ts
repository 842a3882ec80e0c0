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
/** How long it is from a place in the schedule back to the one before. */
const gapBefore = (place: number): number => (retrySchedule[place] ?? 0) - (retrySchedule[place - 1] ?? 0)
/** An attempt keeps at least so much apart from one that was late, because nobody was there to make it. */
const leastApart = 10 * second
/** An attempt is late by up to this share of the time since the one before, so that those who failed together do not return together. */
const spread = 0.02
const widest = 30 * second

/** What a failed attempt leads to. Times are milliseconds since 1970. */
export interface FailedAttempt {
  /** Its number in the chain; a chain that left places of the schedule out has made fewer attempts than there were places. */
  readonly attempt: number
  readonly firstAt: number
  readonly now: number
  /** What the receiver asked for in `Retry-After`. */
  readonly notBefore: number | undefined
  /** In [0, 1), different for each chain. */
  readonly chance: number
}

/**
 * When the next attempt is due: at the first place in the schedule, which counts from the first attempt, that is still to come and
 * not before what the receiver asked for; undefined after the last. Places that went by are left out, not made up for. A receiver
 * may put off everything but the last attempt.
 */
export const nextAttempt = ({ attempt, chance, firstAt, notBefore, now }: FailedAttempt): number | undefined => {
  const wanted = Math.min(notBefore ?? now, firstAt + horizon)
  const place = retrySchedule.findIndex(
    (offset, place) => place >= attempt && firstAt + offset > now && firstAt + offset >= wanted
  )
  const offset = retrySchedule[place]
  if (offset === undefined) return undefined
  return Math.max(firstAt + offset + chance * Math.min(gapBefore(place) * spread, widest), now + leastApart)
}

/** How the three forms of dates in HTTP begin, and of these the one of C's `asctime`, which is in UTC without saying so. */
const dated = /^[A-Za-z]{3,9}, |^[A-Za-z]{3} [A-Za-z]{3} [ \d]\d /
const unzoned = /^[A-Za-z]{3} /

/** The moment that `Retry-After` names, as seconds or as a date in any form of HTTP; undefined when it names none. */
export const retryAfterOf = (value: string | undefined, now: number): number | undefined => {
  if (value === undefined) return undefined
  const text = value.trim()
  if (/^\d{1,10}$/.test(text)) return now + Number(text) * second
  if (!dated.test(text)) return undefined
  const date = DateTime.make(unzoned.test(text) ? `${text} GMT` : text)
  return Option.getOrUndefined(Option.map(date, DateTime.toEpochMillis))
}

/** Failures in a row after which other subscriptions of the tenant are told, once per streak. */
export const failuresToTell = 10
/** How long there may be nothing but failures, in milliseconds, before a subscription is paused. */
const failingToPause = 72 * hour
/** A chain makes no longer pause than this, late attempts included: who was not tried for longer was left alone, and did not fail. */
const leftAlone = Math.max(...retrySchedule.map((_, place) => gapBefore(place))) + hour
/** A receiver that failed so often in a row gets one call at a time in each lane. */
export const failuresToSlow = 3

/**
 * How much of the places that somebody may have are taken by the calls that he has under way: nobody has more of them than are free for
 * all. So one alone leaves half of them to others, two leave a third, and there is always room for who has none.
 */
export const fullnessOf = (own: number, free: number): number => (own === 0 ? 0 : (2 * own) / (own + free))

/** Whose calls under way, of those of everybody, take all the places that he may have. */
export const crowding = (calls: ReadonlyMap<string, number>, free: number): ReadonlyArray<string> =>
  [...calls].filter(([, own]) => fullnessOf(own, free) >= 1).map(([whose]) => whose)

/** A streak of failures: none when something arrived last. */
export interface Streak {
  readonly failures: number
  /** Since when attempts fail without a pause in which nothing was tried. */
  readonly failingSince: number | null
  /** When the last of them failed; null also when that is not known. */
  readonly failedAt: number | null
}

/** An attempt that was made, and when its end was known, in milliseconds since 1970. */
export interface EndedAttempt {
  readonly delivered: boolean
  /** Somebody tries the receiver: that such an attempt fails is no failure of the subscription. */
  readonly isTest: boolean
  readonly at: number
}

/**
 * The streak after attempts that ended in this order, how often it is to be told of, which it is again when it goes on after a pause,
 * and whether it is too long.
 */
export const streakAfter = (
  { failedAt, failingSince, failures }: Streak,
  ended: ReadonlyArray<EndedAttempt>
): Streak & { readonly told: number; readonly tooLong: boolean } => {
  let told = 0
  let tooLong = false
  for (const { at, delivered, isTest } of ended) {
    if (delivered) {
      failures = 0
      failingSince = failedAt = null
      tooLong = false
    } else if (!isTest) {
      failures++
      const isAnew = failingSince === null || at - (failedAt ?? failingSince) > leftAlone
      if (failures === failuresToTell || (isAnew && failures > failuresToTell)) told++
      failingSince = isAnew || failingSince === null ? at : failingSince
      failedAt = Math.max(failedAt ?? at, at)
      tooLong = at - failingSince >= failingToPause
    }
  }
  return { failures, failingSince, failedAt, told, tooLong }
}
