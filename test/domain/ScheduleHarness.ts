import { Result } from "effect"
import { AccountId, ScheduleId, TenantId, TransferId, WalletId } from "#domain/Ids.ts"
import type { Schedule } from "#domain/Schedule.ts"
import { type CreateScheduledTransfer, orderOf, timetableOf } from "#domain/ScheduleOrder.ts"

const uuid = (tail: number) => `00000000-0000-7000-8000-${String(tail).padStart(12, "0")}`
export const now = new Date("2026-03-01T12:00:00Z")
export const hour = 3_600_000

export const order = (changed: Partial<CreateScheduledTransfer>) =>
  orderOf({
    from_wallet_id: WalletId.make(uuid(1)),
    to_wallet_id: WalletId.make(uuid(2)),
    amount: 10n,
    currency: "USDC",
    ...changed
  })

/** A schedule as it is when it was just made from this, unless it says otherwise. */
export const scheduleOf = (given: Partial<CreateScheduledTransfer>, changed: Partial<Schedule> = {}): Schedule => {
  const { first, recurrence } = Result.getOrThrow(timetableOf(Result.getOrThrow(order(given)), now))
  return {
    id: ScheduleId.make(uuid(3)),
    tenant_id: TenantId.make(uuid(4)),
    version: 0n,
    status: "scheduled",
    type: "internal",
    amount: 10n,
    currency: "USDC",
    from_wallet_id: WalletId.make(uuid(1)),
    to_wallet_id: WalletId.make(uuid(2)),
    from_account_id: AccountId.make(uuid(5)),
    to_account_id: AccountId.make(uuid(5)),
    memo: null,
    scheduled_at: given.scheduled_at ?? null,
    frequency: null,
    interval: null,
    day_of_month: null,
    day_of_week: null,
    time: null,
    cron_expression: null,
    timezone: null,
    start_at: null,
    end_at: null,
    ...recurrence,
    max_occurrences: given.max_occurrences ?? null,
    retry_enabled: given.retry_enabled ?? true,
    max_retry_attempts: given.max_retry_attempts ?? 3,
    retry_window_days: given.retry_window_days ?? 14,
    next_execution_at: first,
    occurrence_at: first,
    occurrences: 0,
    first_attempt_at: null,
    last_execution_at: null,
    executions_completed: 0,
    last_transfer_id: null,
    failure_reason: null,
    attempts: 0,
    initiated_by: { type: "api_key", id: "key" },
    created_at: now,
    updated_at: now,
    ...changed
  }
}

export const transfer_id = TransferId.make(uuid(6))
