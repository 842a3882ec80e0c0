import { Result, Schema, Struct } from "effect"
import { dateOf, Moment } from "./Instant.ts"
import { Actor } from "./CallerContext.ts"
import type { EventType } from "./Event.ts"
import { AccountId, ScheduleId, TenantId, toTypeId, TransferId, WalletId } from "./Ids.ts"
import { Currency, Micros } from "./Money.ts"
import { Frequency, next } from "./Recurrence.ts"
import { StateTransitionInvalid } from "./Refusal.ts"
import { FailureReason, PlainTransfer } from "./Transfer.ts"

export const ScheduleStatus = Schema.Literals(["scheduled", "executed", "failed", "cancelled", "paused"])
export type ScheduleStatus = typeof ScheduleStatus.Type

const moment = Schema.NullOr(Moment)
const number = Schema.NullOr(Schema.Int)

/** A transfer that is made at a time, or again and again. `scheduled_at` and `frequency` exclude each other. */
export const ScheduledTransfer = Schema.Struct({
  id: ScheduleId,
  status: ScheduleStatus,
  type: PlainTransfer.fields.type,
  amount: Micros,
  currency: Currency,
  from_wallet_id: WalletId,
  to_wallet_id: WalletId,
  from_account_id: Schema.NullOr(AccountId),
  to_account_id: Schema.NullOr(AccountId),
  memo: Schema.NullOr(Schema.String),
  scheduled_at: moment,
  frequency: Schema.NullOr(Frequency),
  cron_expression: Schema.NullOr(Schema.String),
  interval: number,
  day_of_month: number,
  day_of_week: number,
  time: Schema.NullOr(Schema.String),
  timezone: Schema.NullOr(Schema.String),
  start_at: moment,
  end_at: moment,
  max_occurrences: number,
  retry_enabled: Schema.Boolean,
  max_retry_attempts: Schema.Int,
  retry_window_days: Schema.Int,
  next_execution_at: moment,
  last_execution_at: moment,
  executions_completed: Schema.Int,
  executions_remaining: number,
  last_transfer_id: Schema.NullOr(TransferId),
  failure_reason: Schema.NullOr(FailureReason),
  attempts: Schema.Int,
  initiated_by: Actor,
  created_at: Moment,
  updated_at: Moment
}).annotate({ identifier: "ScheduledTransfer" })
export type ScheduledTransfer = typeof ScheduledTransfer.Type

/** A schedule with what its execution is decided on. */
export const Schedule = Schema.Struct({
  ...Struct.omit(ScheduledTransfer.fields, ["executions_remaining"]),
  tenant_id: TenantId,
  /** Raised by every change; only one change can come from each version. */
  version: Schema.BigInt,
  /** The occurrence that is due next, or tried again; what is shown as next execution may be a retry of it. */
  occurrence_at: moment,
  /** How many occurrences are over, in whatever way. */
  occurrences: Schema.Int,
  /** When the occurrence was tried first; null when it was not. */
  first_attempt_at: moment
})
export type Schedule = typeof Schedule.Type

const isOver = (status: ScheduleStatus): boolean => status !== "scheduled" && status !== "paused"

const remaining = ({ max_occurrences, occurrences, scheduled_at, status }: Schedule): number | null => {
  if (isOver(status)) return 0
  if (scheduled_at !== null) return 1
  return max_occurrences === null ? null : max_occurrences - occurrences
}

/** The schedule as callers see it. A paused one has no next execution. */
export const shown = (schedule: Schedule): ScheduledTransfer => {
  const { next_execution_at, status } = schedule
  return {
    ...Struct.omit(schedule, ["first_attempt_at", "occurrence_at", "occurrences", "tenant_id", "version"]),
    next_execution_at: status === "scheduled" ? next_execution_at : null,
    executions_remaining: remaining(schedule)
  }
}

const encode = Schema.encodeSync(ScheduledTransfer)

export const scheduleOnWire = (schedule: Schedule): typeof ScheduledTransfer.Encoded => encode(shown(schedule))

/** When the worker has to look at it; null when it has not. */
export const dueAt = ({ next_execution_at, status }: Schedule): Date | null =>
  status === "scheduled" ? next_execution_at : null

/** The first occurrence of a recurring schedule after `after`; undefined when there is none, or it is a one-shot. */
const following = (schedule: Schedule, after: Date): Date | undefined => {
  const { frequency, interval, max_occurrences, occurrences, start_at, timezone } = schedule
  if (frequency === null || start_at === null || timezone === null) return undefined
  if (max_occurrences !== null && occurrences >= max_occurrences) return undefined
  return next({ ...schedule, frequency, interval: interval ?? 1, start_at, timezone }, after)
}

const hour = 3_600_000
const day = 24 * hour

/** When an occurrence that failed now is tried again: hourly for a day, then daily; undefined when it was tried enough. */
const retryAt = (schedule: Schedule, at: Date): Date | undefined => {
  const { attempts, first_attempt_at, max_retry_attempts, retry_enabled, retry_window_days } = schedule
  if (!retry_enabled || attempts >= max_retry_attempts) return undefined
  const first = first_attempt_at ?? at
  const soon = at.getTime() + hour
  const retry = soon - first.getTime() <= day ? soon : at.getTime() + day
  return retry - first.getTime() <= retry_window_days * day ? dateOf(retry) : undefined
}

type Happened = Extract<EventType, `scheduled_transfer.${string}`>

/** A schedule after something happened to it, and the facts to tell. */
export interface Advanced {
  readonly schedule: Schedule
  readonly happened: ReadonlyArray<Happened>
}

/** What a schedule without occurrences is: nothing was executed, and nothing failed, where all of them fell into pauses. */
const ended = ({ executions_completed, failure_reason }: Schedule): ScheduleStatus => {
  if (executions_completed > 0) return "executed"
  return failure_reason === null ? "cancelled" : "failed"
}

/** The schedule with its current occurrence behind it: on to the next one after `after`, or over. */
const goOn = (schedule: Schedule, after: Date): Advanced => {
  const found = following(schedule, after)
  const at = found ?? null
  const status = found === undefined ? ended(schedule) : schedule.status
  return {
    schedule: {
      ...schedule,
      status,
      next_execution_at: at,
      occurrence_at: at,
      first_attempt_at: null,
      attempts: found === undefined ? schedule.attempts : 0
    },
    happened: status === "executed" ? ["scheduled_transfer.completed"] : []
  }
}

/**
 * What an attempt at the due occurrence makes of the schedule. `failure` is why no money moved. A retry that would come no sooner
 * than the next occurrence is not made. Occurrences missed until `at` are not made up for.
 */
export const afterAttempt = (
  schedule: Schedule,
  attempt: { readonly at: Date; readonly transfer_id: TransferId; readonly failure: FailureReason | null }
): Advanced => {
  const { at, failure, transfer_id } = attempt
  const { occurrence_at } = schedule
  const passed = occurrence_at !== null && occurrence_at > at ? occurrence_at : at
  const tried: Schedule = {
    ...schedule,
    version: schedule.version + 1n,
    last_execution_at: at,
    last_transfer_id: transfer_id,
    failure_reason: failure,
    attempts: failure === null ? 0 : schedule.attempts + 1,
    updated_at: at
  }
  const done: Schedule = { ...tried, occurrences: schedule.occurrences + 1 }
  if (failure === null) {
    const on = goOn({ ...done, executions_completed: schedule.executions_completed + 1 }, passed)
    return { ...on, happened: ["scheduled_transfer.executed", ...on.happened] }
  }
  const retry = retryAt(schedule, at)
  const on = goOn(done, passed)
  const instead = on.schedule.occurrence_at
  if (retry !== undefined && (instead === null || retry < instead)) {
    return {
      schedule: { ...tried, next_execution_at: retry, first_attempt_at: schedule.first_attempt_at ?? at },
      happened: ["scheduled_transfer.retrying"]
    }
  }
  return { ...on, happened: ["scheduled_transfer.failed", ...on.happened] }
}

/** What callers may do with a schedule. */
export type ScheduleTrigger = "pause" | "resume" | "cancel"

/** Every transition that callers make; what is not here cannot happen. */
const transitions: Readonly<Record<ScheduleStatus, Partial<Record<ScheduleTrigger, ScheduleStatus>>>> = {
  scheduled: { pause: "paused", cancel: "cancelled" },
  paused: { resume: "scheduled", cancel: "cancelled" },
  executed: {},
  failed: {},
  cancelled: {}
}

const wanted = { pause: "paused", resume: "scheduled", cancel: "cancelled" } as const

/**
 * The schedule after a caller did this. A resumed one-shot, or a retry, whose time has passed is due at once, and so is whatever
 * was due before the pause; a recurring schedule goes on with the next occurrence after the pause, and is over when there is none.
 */
export const afterTrigger = (
  schedule: Schedule,
  trigger: ScheduleTrigger,
  at: Date
): Result.Result<Advanced, StateTransitionInvalid> => {
  const { attempts, next_execution_at, scheduled_at, status: from, updated_at } = schedule
  const status = transitions[from][trigger]
  if (status === undefined) {
    return Result.fail(new StateTransitionInvalid({ resource: "scheduled_transfer", from, to: wanted[trigger] }))
  }
  const changed: Schedule = { ...schedule, status, version: schedule.version + 1n, updated_at: at }
  // Nothing changes a paused schedule but its end, so it was paused when it was changed last.
  const isOfPause = next_execution_at !== null && next_execution_at > updated_at && next_execution_at <= at
  if (trigger === "resume" && isOfPause && scheduled_at === null && attempts === 0) {
    const on = goOn(changed, at)
    return Result.succeed(on.schedule.status === "failed" ? { ...on, happened: ["scheduled_transfer.failed"] } : on)
  }
  return Result.succeed({ schedule: changed, happened: [] })
}

/** What the transfer of an execution says about where it came from. */
export const originOf = ({ attempts, id, occurrences }: Schedule) => ({
  scheduled_transfer_id: toTypeId("sch", id),
  occurrence: occurrences + 1,
  attempt: attempts + 1
})
