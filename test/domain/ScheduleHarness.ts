import { Result } from "effect"
import { AccountId, ScheduleId, TenantId, TransferId, WalletId } from "#domain/Ids.ts"
import type { Schedule } from "#domain/Schedule.ts"
import * as ScheduleOrder from "#domain/ScheduleOrder.ts"
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
  const placed = Result.getOrThrow(order(given))
  const made = ScheduleOrder.scheduleOf(placed, Result.getOrThrow(timetableOf(placed, now)), {
    id: ScheduleId.make(uuid(3)),
    tenant_id: TenantId.make(uuid(4)),
    from_account_id: AccountId.make(uuid(5)),
    to_account_id: AccountId.make(uuid(5)),
    initiated_by: { type: "api_key", id: "key" },
    at: now
  })
  return { ...made, ...changed }
}

export const transfer_id = TransferId.make(uuid(6))
