import { dateOf } from "../Instant.ts"
import type { AlertLevel, MoneyStream, StreamState } from "../MoneyStream.ts"

/** What a micro-unit is in 10^-21 units, in which a rate (10^-18 units a second) times milliseconds counts. */
const perMicro = 1_000_000_000_000_000n

/** Runways below which an alert is due, in milliseconds. */
const hour = 3_600_000n
const day = 24n * hour

/** The last instant that is written with a year of four digits. What would come later is not predicted. */
const lastInstant = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

const later = (one: Date, other: Date): Date => (one < other ? other : one)

const ceiling = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor

const moved = (from: Date, millis: bigint): Date => dateOf(from.getTime() + Number(millis))

const instantAfter = (since: Date, millis: bigint): Date | null =>
  millis > BigInt(lastInstant - since.getTime()) ? null : moved(since, millis)

/** All that may ever accrue with what was deposited, in 10^-21 units. */
const streamable = ({ buffer, deposited, returned }: StreamState): bigint => (deposited - buffer - returned) * perMicro

/** What may still accrue, in 10^-21 units. */
export const unstreamed = (stream: StreamState): bigint => {
  const rest = streamable(stream) - stream.accrued
  return stream.status === "cancelled" || rest < 0n ? 0n : rest
}

/** What the recipient may have now, in whole micro-units; the rest of the accrued stays. */
export const withdrawable = ({ accrued, withdrawn }: StreamState): bigint => accrued / perMicro - withdrawn

/**
 * The same stream with everything accounted for until `now`. An active one whose money is all accrued has paused by itself, at the
 * millisecond in which the last of it had. A clock that went back takes nothing back.
 */
export const settledAt = (stream: StreamState, now: Date): StreamState => {
  if (stream.status !== "active") return stream
  const at = later(stream.since, now)
  const rest = unstreamed(stream)
  const flowed = stream.flow_rate * BigInt(at.getTime() - stream.since.getTime())
  if (flowed < rest) return { ...stream, accrued: stream.accrued + flowed, since: at }
  const since = moved(stream.since, ceiling(rest, stream.flow_rate))
  return {
    ...stream,
    status: "paused",
    pause_reason: "exhausted",
    accrued: streamable(stream),
    since,
    updated_at: later(stream.updated_at, since)
  }
}

/** Alerts from the mildest to the gravest. */
const levels: ReadonlyArray<AlertLevel> = ["none", "warning", "critical", "exhausted"]

export const isGraver = (one: AlertLevel, other: AlertLevel): boolean => levels.indexOf(one) > levels.indexOf(other)

/** How short of money a settled stream is. */
export const levelOf = (stream: StreamState): AlertLevel => {
  const rest = unstreamed(stream)
  if (rest === 0n) return "exhausted"
  if (rest < stream.flow_rate * hour) return "critical"
  return rest < stream.flow_rate * day ? "warning" : "none"
}

/** When an active stream is exhausted; null when that is not to be seen, or when it does not flow. */
export const exhaustsAt = (stream: StreamState): Date | null =>
  stream.status === "active" ? instantAfter(stream.since, ceiling(unstreamed(stream), stream.flow_rate)) : null

/** When the next alert that was not given yet is due. */
export const nextAlertAt = (stream: StreamState): Date | null => {
  if (stream.status !== "active") return null
  const whole = unstreamed(stream) / stream.flow_rate
  const below = (runway: bigint) => instantAfter(stream.since, whole - runway + 1n)
  switch (stream.alerted) {
    case "none":
      return below(day)
    case "warning":
      return below(hour)
    case "critical":
      return exhaustsAt(stream)
    case "exhausted":
      return null
  }
}

const runwaySeconds = (stream: StreamState): number => {
  const seconds = unstreamed(stream) / stream.flow_rate / 1000n
  return seconds > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(seconds)
}

/** The stream as callers see it at `now`. */
export const shownAt = (state: StreamState, now: Date): MoneyStream => {
  const stream = settledAt(state, now)
  const { buffer, deposited, returned, withdrawn } = stream
  const recipient_balance = withdrawable(stream)
  const hasRunDry = stream.pause_reason === "exhausted" && unstreamed(stream) === 0n
  return {
    id: stream.id,
    from_wallet_id: stream.from_wallet_id,
    to_wallet_id: stream.to_wallet_id,
    flow_rate: stream.flow_rate,
    currency: stream.currency,
    status: stream.status,
    pause_reason: stream.pause_reason,
    deposited,
    wrapped_balance: deposited - buffer - recipient_balance - withdrawn - returned,
    buffer,
    recipient_balance,
    withdrawn,
    returned,
    runway_seconds: runwaySeconds(stream),
    exhausted_at: hasRunDry ? stream.since : exhaustsAt(stream),
    latest_transfer_id: stream.latest_transfer_id,
    metadata: stream.metadata,
    created_at: stream.created_at,
    updated_at: stream.updated_at,
    cancelled_at: stream.cancelled_at
  }
}
