import { DateTime, Result, Schema } from "effect"
import type { Actor } from "./CallerContext.ts"
import { type AccountId, type ScheduleId, type TenantId, WalletId } from "./Ids.ts"
import { Instant } from "./Instant.ts"
import { Amount, Currency } from "./Money.ts"
import { cronOf, Frequency, next, type Recurrence, zoneOf } from "./Recurrence.ts"
import { InvalidRequest } from "./Refusal.ts"
import type { Schedule } from "./Schedule.ts"
import { IdempotencyKey, text } from "./Text.ts"
import { Memo, PlainTransfer } from "./Transfer.ts"

const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** What a schedule is made from. It has either `scheduled_at` or `frequency`, which decides what other fields it takes. */
export const CreateScheduledTransfer = Schema.Struct({
  type: Schema.optionalKey(PlainTransfer.fields.type),
  from_wallet_id: WalletId,
  to_wallet_id: WalletId,
  amount: Amount,
  currency: Currency,
  memo: Schema.optionalKey(Schema.NullOr(Memo)),
  scheduled_at: Schema.optionalKey(Instant),
  frequency: Schema.optionalKey(Frequency),
  cron_expression: Schema.optionalKey(text(200)),
  interval: Schema.optionalKey(whole(1, 1_000)),
  day_of_month: Schema.optionalKey(whole(1, 31)),
  day_of_week: Schema.optionalKey(whole(0, 6)),
  time: Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^(?:[01]\d|2[0-3]):[0-5]\d$/u, { expected: "a time of day from 00:00 to 23:59" })
    )
  ),
  timezone: Schema.optionalKey(text(64)),
  start_at: Schema.optionalKey(Instant),
  end_at: Schema.optionalKey(Instant),
  max_occurrences: Schema.optionalKey(whole(1, 1_000_000)),
  retry_enabled: Schema.optionalKey(Schema.Boolean),
  max_retry_attempts: Schema.optionalKey(whole(0, 100)),
  retry_window_days: Schema.optionalKey(whole(1, 60)),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
}).annotate({ identifier: "CreateScheduledTransfer" })
export type CreateScheduledTransfer = typeof CreateScheduledTransfer.Type

/** What a schedule is where nothing else is asked for. */
export const scheduleDefaults = {
  type: "internal",
  memo: null,
  interval: 1,
  timezone: "UTC",
  retry_enabled: true,
  max_retry_attempts: 3,
  retry_window_days: 14
} as const satisfies Partial<CreateScheduledTransfer>

type Field = keyof CreateScheduledTransfer

const timing: ReadonlyArray<Field> = [
  "cron_expression",
  "interval",
  "day_of_month",
  "day_of_week",
  "time",
  "timezone",
  "start_at",
  "end_at",
  "max_occurrences"
]
const recurring: ReadonlyArray<Field> = ["timezone", "start_at", "end_at", "max_occurrences"]
const taken: Readonly<Record<Frequency, ReadonlyArray<Field>>> = {
  daily: [...recurring, "interval", "time"],
  weekly: [...recurring, "interval", "time", "day_of_week"],
  monthly: [...recurring, "interval", "time", "day_of_month"],
  cron: [...recurring, "cron_expression"]
}

/** What is asked for, or every field of its time that is missing or does not belong to it. */
export const orderOf = (given: CreateScheduledTransfer): Result.Result<CreateScheduledTransfer, InvalidRequest> => {
  const { cron_expression, frequency, retry_enabled, scheduled_at } = given
  const has = (field: Field) => given[field] !== undefined
  const kind = frequency === undefined ? "one with scheduled_at" : `one of frequency ${frequency}`
  const allowed = frequency === undefined ? [] : taken[frequency]
  const errors = [
    ...timing
      .filter((path) => has(path) && !allowed.includes(path))
      .map((path) => ({ path, message: `does not belong to a schedule that is ${kind}` })),
    ...(["max_retry_attempts", "retry_window_days"] as const)
      .filter((path) => retry_enabled === false && has(path))
      .map((path) => ({ path, message: "does not belong to a schedule without retries" }))
  ]
  if ((scheduled_at === undefined) === (frequency === undefined)) {
    errors.push({
      path: "scheduled_at",
      message: "give either scheduled_at, for one transfer, or frequency, for several"
    })
  }
  if (frequency === "cron") {
    const cron = cron_expression === undefined ? Result.fail("is needed with frequency cron") : cronOf(cron_expression)
    if (Result.isFailure(cron)) errors.push({ path: "cron_expression", message: cron.failure })
  }
  return errors.length === 0 ? Result.succeed(given) : Result.fail(new InvalidRequest({ errors }))
}

const defaults = new Map<string, unknown>(Object.entries(scheduleDefaults))

/** What is asked for, the same whether a default is written out or left out. */
export const withoutDefaults = (order: CreateScheduledTransfer) =>
  Object.fromEntries(Object.entries(order).filter(([field, value]) => defaults.get(field) !== value))

export class ScheduleInThePast extends Schema.TaggedError<ScheduleInThePast>()(
  "SCHEDULE_IN_THE_PAST",
  { param: Schema.String, given: Schema.String, now: Schema.String },
  { httpApiStatus: 422, title: "The time is not in the future" }
) {}

export class ScheduleTooFar extends Schema.TaggedError<ScheduleTooFar>()(
  "SCHEDULE_TOO_FAR",
  { param: Schema.String, given: Schema.String, latest: Schema.String },
  { httpApiStatus: 422, title: "The time is more than five years ahead" }
) {}

export class TimeZoneUnknown extends Schema.TaggedError<TimeZoneUnknown>()(
  "TIME_ZONE_UNKNOWN",
  { timezone: Schema.String },
  { httpApiStatus: 422, title: "There is no such time zone; use a name of the IANA database such as Europe/Berlin" }
) {}

export class ScheduleNeverRuns extends Schema.TaggedError<ScheduleNeverRuns>()(
  "SCHEDULE_NEVER_RUNS",
  {},
  { httpApiStatus: 422, title: "The schedule has no occurrence in the future" }
) {}

export type ScheduleRefused = ScheduleInThePast | ScheduleTooFar | TimeZoneUnknown | ScheduleNeverRuns

const ahead = (param: string, given: Date, now: Date): ScheduleRefused | undefined => {
  const latest = DateTime.toDate(DateTime.add(DateTime.makeUnsafe(now), { years: 5 }))
  if (given <= now) return new ScheduleInThePast({ param, given: given.toISOString(), now: now.toISOString() })
  return given > latest
    ? new ScheduleTooFar({ param, given: given.toISOString(), latest: latest.toISOString() })
    : undefined
}

/** When a schedule runs: at one time, or by a recurrence, and first at `first`. */
export interface Timetable {
  readonly first: Date
  readonly recurrence: Recurrence | undefined
}

/** The timetable of an order that is placed now. Creating one is no execution: the first comes after `now`. */
export const timetableOf = (order: CreateScheduledTransfer, now: Date): Result.Result<Timetable, ScheduleRefused> => {
  const { frequency, scheduled_at, start_at, timezone = scheduleDefaults.timezone } = order
  const refused =
    scheduled_at !== undefined
      ? ahead("scheduled_at", scheduled_at, now)
      : start_at !== undefined
        ? ahead("start_at", start_at, now)
        : undefined
  if (refused !== undefined) return Result.fail(refused)
  if (scheduled_at !== undefined) return Result.succeed({ first: scheduled_at, recurrence: undefined })
  if (zoneOf(timezone) === undefined) return Result.fail(new TimeZoneUnknown({ timezone }))
  if (frequency === undefined) return Result.fail(new ScheduleNeverRuns())
  const recurrence: Recurrence = {
    frequency,
    interval: order.interval ?? scheduleDefaults.interval,
    day_of_month: order.day_of_month ?? null,
    day_of_week: order.day_of_week ?? null,
    time: order.time ?? null,
    cron_expression: order.cron_expression ?? null,
    timezone,
    start_at: start_at ?? now,
    end_at: order.end_at ?? null
  }
  const first = next(recurrence, now)
  return first === undefined ? Result.fail(new ScheduleNeverRuns()) : Result.succeed({ first, recurrence })
}

/** What an order does not say: between whose wallets, by whom and when. */
interface Placed {
  readonly id: ScheduleId
  readonly tenant_id: TenantId
  readonly from_account_id: AccountId
  readonly to_account_id: AccountId
  readonly initiated_by: Actor
  readonly at: Date
}

const once = {
  frequency: null,
  interval: null,
  day_of_month: null,
  day_of_week: null,
  time: null,
  cron_expression: null,
  timezone: null,
  start_at: null,
  end_at: null
} as const

/** The schedule that an order makes of its timetable, before anything of it is due. */
export const scheduleOf = (
  order: CreateScheduledTransfer,
  { first, recurrence }: Timetable,
  { at, ...placed }: Placed
): Schedule => ({
  ...placed,
  version: 0n,
  status: "scheduled",
  type: order.type ?? scheduleDefaults.type,
  amount: order.amount,
  currency: order.currency,
  from_wallet_id: order.from_wallet_id,
  to_wallet_id: order.to_wallet_id,
  memo: order.memo ?? scheduleDefaults.memo,
  scheduled_at: order.scheduled_at ?? null,
  ...(recurrence ?? once),
  max_occurrences: order.max_occurrences ?? null,
  retry_enabled: order.retry_enabled ?? scheduleDefaults.retry_enabled,
  max_retry_attempts: order.max_retry_attempts ?? scheduleDefaults.max_retry_attempts,
  retry_window_days: order.retry_window_days ?? scheduleDefaults.retry_window_days,
  next_execution_at: first,
  occurrence_at: first,
  occurrences: 0,
  first_attempt_at: null,
  last_execution_at: null,
  executions_completed: 0,
  last_transfer_id: null,
  failure_reason: null,
  attempts: 0,
  created_at: at,
  updated_at: at
})
