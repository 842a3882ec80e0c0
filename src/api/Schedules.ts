import { scheduledTransfer as schedule, transfer } from "#domain/Examples/Records.ts"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AccountId, ScheduleId, TransferId, WalletId } from "#domain/Ids.ts"
import { CurrencyMismatch, IdempotencyKeyReused, SameWallet } from "#domain/PostingRefused.ts"
import { InvalidRequest, NotFound, StateTransitionInvalid } from "#domain/Refusal.ts"
import { ScheduledTransfer, ScheduleStatus } from "#domain/Schedule.ts"
import {
  CreateScheduledTransfer,
  ScheduleInThePast,
  ScheduleNeverRuns,
  ScheduleTooFar,
  TimeZoneUnknown
} from "#domain/ScheduleOrder.ts"
import { NetworkMismatch, Transfer } from "#domain/Transfer.ts"
import { Authorization, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { changedOnce, idempotencyHeaders, keyAlone } from "./Idempotency.ts"
import { cursorPage, cursorQuery, page, pageQuery } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"
import { IdempotencyKeysDiffer } from "./Refusals.ts"

const params = { id: ScheduleId }

const create = HttpApiEndpoint.post("create", "/scheduled-transfers", {
  headers: idempotencyHeaders,
  payload: CreateScheduledTransfer,
  success: ScheduledTransfer.pipe(HttpApiSchema.status(201)),
  error: problems(
    InvalidRequest,
    NotFound,
    SameWallet,
    CurrencyMismatch,
    NetworkMismatch,
    ScheduleInThePast,
    ScheduleTooFar,
    TimeZoneUnknown,
    ScheduleNeverRuns,
    IdempotencyKeyReused,
    IdempotencyKeysDiffer
  )
})
  .annotate(Requires, { resource: "transfers", action: "write" })
  .annotateMerge(
    documented({
      summary: "Schedule a transfer",
      description:
        "A transfer that is made later: once, at `scheduled_at`, or again and again, by `frequency`. Nothing moves now, " +
        "and a wallet that is frozen or empty now is no reason to refuse. `type` is `internal` (the default), `wrap` or " +
        "`unwrap`.\n\n" +
        "**Times** are ISO 8601 with seconds and with `Z` or an offset. Local times, days that no calendar has (30 " +
        "February) and leap seconds (23:59:60) do not decode: 400. `scheduled_at` and `start_at` lie in the future (422 " +
        "`SCHEDULE_IN_THE_PAST`), at most five years ahead (422 `SCHEDULE_TOO_FAR`).\n\n" +
        "**Recurring**: `daily`, `weekly` or `monthly`, every `interval` (1) days, weeks or months, at `time` (HH:MM) on " +
        "`day_of_week` (0 is Sunday) or `day_of_month`; each of these is that of `start_at` when left out. Or `cron`, " +
        "with a `cron_expression` of five fields (minute, hour, day of month, month, day of week); when neither kind of " +
        "day begins with `*`, either suffices, and otherwise (also with `*/2`) both have to match. All of them mean the clock of `timezone` (an IANA name, UTC by default; 422 " +
        "`TIME_ZONE_UNKNOWN`). Occurrences are counted from the first one at or after `start_at`, which is now by " +
        "default; creating a schedule is not an execution of it. They end with `end_at` (inclusive) or after " +
        "`max_occurrences`. A schedule without any occurrence is 422 `SCHEDULE_NEVER_RUNS`.\n\n" +
        "**The calendar**: day 29, 30 or 31 is the last day of a shorter month, and is itself again in the next long one. " +
        "A time that the change to summer time skips is the first moment after the gap; a time that comes twice when the " +
        "clocks go back is the first of the two, and only that, also of a `cron` that names no hour; a `start_at` that is the " +
        "second of them is an occurrence itself when no `time` is given.\n\n" +
        "**Execution**: due transfers are made every 30 seconds in sandbox and every 60 live, never early, each exactly " +
        "once. When occurrences were missed, because nothing ran, the first of them is made up for and the others are " +
        "not. Each attempt is a transfer of its own, with `initiated_by` this schedule and `protocol_metadata` " +
        "`{scheduled_transfer_id, occurrence, attempt}`. One that fails (insufficient funds, frozen wallet) is tried " +
        "again hourly for 24 hours and then daily, up to `max_retry_attempts` (3) more times within `retry_window_days` " +
        "(14), unless `retry_enabled` is false; a retry that would come no sooner than the next occurrence is not made. " +
        "Then a one-shot is `failed`, and a recurring schedule goes on with its next occurrence. A schedule whose " +
        "occurrences are over is `executed`, `failed` when some were tried and none moved money, or `cancelled` when all of " +
        "them fell into pauses.",
      body: {
        type: "internal",
        from_wallet_id: transfer.from_wallet_id,
        to_wallet_id: transfer.to_wallet_id,
        amount: "12.50",
        currency: "USDC",
        memo: "Rent",
        frequency: "monthly",
        day_of_month: 31,
        time: "09:00",
        timezone: "Europe/Berlin",
        max_occurrences: 12,
        idempotency_key: "rent"
      },
      answer: {
        ...schedule,
        next_execution_at: "2026-01-31T08:00:00.000Z",
        last_execution_at: null,
        executions_completed: 0,
        executions_remaining: 12,
        last_transfer_id: null,
        updated_at: schedule.created_at
      }
    })
  )

const list = HttpApiEndpoint.get("list", "/scheduled-transfers", {
  query: {
    status: Schema.optionalKey(ScheduleStatus),
    from_wallet_id: Schema.optionalKey(WalletId),
    account_id: Schema.optionalKey(AccountId),
    ...pageQuery
  },
  success: page(ScheduledTransfer)
})
  .annotate(Requires, { resource: "transfers", action: "read" })
  .annotateMerge(
    documented({
      summary: "List scheduled transfers",
      description:
        "The schedules of the caller's tenant, newest first; every filter given must match. `account_id` finds those " +
        "whose payer or payee is a wallet of the account.",
      answer: { data: [schedule], pagination: { page: 1, limit: 50, total: 1, totalPages: 1 } }
    })
  )

const get = HttpApiEndpoint.get("get", "/scheduled-transfers/:id", {
  params,
  success: ScheduledTransfer,
  error: problem(NotFound)
})
  .annotate(Requires, { resource: "transfers", action: "read" })
  .annotateMerge(
    documented({
      summary: "Get a scheduled transfer",
      description:
        "The schedule as it is now. `next_execution_at` is when it is due next, which may be a retry, and null while it " +
        "is paused or over. `executions_completed` counts the transfers that moved money, `attempts` the failed ones of " +
        "the current occurrence, with the last `failure_reason`. `executions_remaining` is null when nothing but time " +
        "limits them.",
      answer: schedule
    })
  )

const executions = HttpApiEndpoint.get("executions", "/scheduled-transfers/:id/executions", {
  params,
  query: cursorQuery(TransferId),
  success: cursorPage(Transfer, TransferId),
  error: problem(NotFound)
})
  .annotate(Requires, { resource: "transfers", action: "read" })
  .annotateMerge(
    documented({
      summary: "List the executions of a scheduled transfer",
      description:
        "The transfers that the schedule made, newest first, those that failed among them. Pass `next_cursor` as `cursor` " +
        "to read on; it is null at the end.",
      answer: {
        data: [
          {
            ...transfer,
            memo: schedule.memo,
            scheduled_at: "2026-01-31T08:00:00.000Z",
            initiated_by: { type: "system", id: schedule.id },
            protocol_metadata: { scheduled_transfer_id: schedule.id, occurrence: 1, attempt: 1 }
          }
        ],
        pagination: { limit: 50, next_cursor: null }
      }
    })
  )

const cancel = HttpApiEndpoint.post("cancel", "/scheduled-transfers/:id/cancel", {
  params,
  headers: idempotencyHeaders,
  payload: keyAlone,
  success: ScheduledTransfer,
  error: problems(NotFound, StateTransitionInvalid, IdempotencyKeyReused, IdempotencyKeysDiffer)
})
  .annotate(Requires, { resource: "transfers", action: "write" })
  .annotateMerge(
    documented({
      summary: "Cancel a scheduled transfer",
      description:
        "Ends a `scheduled` or `paused` schedule for good; what it has already transferred stays. Whatever is being " +
        "executed at the same moment is either cancelled or executed, never both. In any other status 409 " +
        "`STATE_TRANSITION_INVALID`. " +
        changedOnce,
      body: { idempotency_key: "cancellation-42" },
      bodyIsOptional: true,
      answer: { ...schedule, status: "cancelled", next_execution_at: null, executions_remaining: 0 }
    })
  )

const pause = HttpApiEndpoint.post("pause", "/scheduled-transfers/:id/pause", {
  params,
  headers: idempotencyHeaders,
  payload: keyAlone,
  success: ScheduledTransfer,
  error: problems(NotFound, StateTransitionInvalid, IdempotencyKeyReused, IdempotencyKeysDiffer)
})
  .annotate(Requires, { resource: "transfers", action: "write" })
  .annotateMerge(
    documented({
      summary: "Pause a scheduled transfer",
      description:
        "Executes nothing until it is resumed. Only from `scheduled`, else 409 `STATE_TRANSITION_INVALID`. " +
        changedOnce,
      body: { idempotency_key: "pause-42" },
      bodyIsOptional: true,
      answer: { ...schedule, status: "paused", next_execution_at: null }
    })
  )

const resume = HttpApiEndpoint.post("resume", "/scheduled-transfers/:id/resume", {
  params,
  headers: idempotencyHeaders,
  payload: keyAlone,
  success: ScheduledTransfer,
  error: problems(NotFound, StateTransitionInvalid, IdempotencyKeyReused, IdempotencyKeysDiffer)
})
  .annotate(Requires, { resource: "transfers", action: "write" })
  .annotateMerge(
    documented({
      summary: "Resume a scheduled transfer",
      description:
        "A one-shot, or a retry, whose time passed in the pause is executed within the next poll, and so is what was due " +
        "before the pause. A recurring schedule does not make up for occurrences of the pause: it goes on with the next " +
        "one, and is over when there is none; `cancelled`, without an event, when none was ever tried. " +
        "Only from `paused`, else 409 `STATE_TRANSITION_INVALID`. " +
        changedOnce,
      body: { idempotency_key: "resumption-42" },
      bodyIsOptional: true,
      answer: schedule
    })
  )

export class SchedulesApi extends HttpApiGroup.make("scheduled_transfers")
  .add(create, list, get, executions, cancel, pause, resume)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Scheduled transfers",
      description: "Transfers that are made later, once or again and again."
    })
  ) {}
