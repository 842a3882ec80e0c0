import { Effect } from "effect"
import type { Posted } from "#domain/Command.ts"
import { toTypeId, TransferId } from "#domain/Ids.ts"
import type { PostingRefused } from "#domain/PostingRefused.ts"
import { zoneOf } from "#domain/Recurrence.ts"
import { afterAttempt, originOf, type Schedule } from "#domain/Schedule.ts"
import { codeOf } from "#domain/Transfer.ts"
import { Ledger } from "../Ledger.ts"
import { newId } from "../NewId.ts"
import { remembered } from "../Transfers.ts"
import * as Transfers from "../Transfers/Records.ts"
import * as Records from "./Records.ts"

/** A wallet that is frozen, empty or full may be another one when the transfer is tried again. */
const mayPass = ({ _tag }: PostingRefused): boolean =>
  _tag === "INSUFFICIENT_BALANCE" || _tag === "WALLET_FROZEN" || _tag === "AMOUNT_TOO_LARGE"

/** What an attempt makes: the transfer, and what becomes of the schedule. */
const made = (schedule: Schedule, id: TransferId, { at, refused }: Posted) => {
  const failure = refused === undefined ? null : Transfers.failureOf(refused)
  const origin = originOf(schedule)
  const { amount, currency, from_account_id, from_wallet_id, memo, to_account_id, to_wallet_id, type } = schedule
  const transfer = Transfers.newTransfer({
    id,
    type,
    status: failure === null ? "completed" : "failed",
    failure_reason: failure,
    amount,
    currency,
    from_wallet_id,
    to_wallet_id,
    from_account_id,
    to_account_id,
    memo,
    scheduled_at: schedule.occurrence_at,
    initiated_by: { type: "system", id: toTypeId("sch", schedule.id) },
    protocol_metadata: origin,
    created_at: at
  })
  return { transfer, origin, advanced: afterAttempt(schedule, { at, transfer_id: id, failure }) }
}

/** Executes what is due. */
export const make = Effect.gen(function* () {
  const ledger = yield* Ledger
  const records = yield* Records.make

  /** One attempt: money, transfer, schedule and facts, all or nothing, and only from the version that was read. */
  const execute = Effect.fnUntraced(
    function* (schedule: Schedule) {
      const id = yield* newId(TransferId)
      const { amount, currency, from_wallet_id, tenant_id, timezone, to_wallet_id, type } = schedule
      // A schedule that cannot be reckoned here is left to a process that knows its zone; it is not over.
      if (timezone !== null && zoneOf(timezone) === undefined) return yield* Effect.die(`No time zone ${timezone}`)
      const outcome = remembered((posted) => made(schedule, id, posted))
      yield* ledger.post({
        id,
        steps: [
          { kind: "transfer", debit: from_wallet_id, credit: to_wallet_id, currency, amount, code: codeOf(type) }
        ],
        fences: [{ scope: schedule.id, expected: schedule.version }],
        concedes: mayPass,
        rows: (posted) => {
          const { advanced, origin, transfer } = outcome(posted)
          const { attempt, occurrence } = origin
          return [
            Transfers.insertTransfer(tenant_id, transfer),
            Records.updateSchedule(advanced.schedule),
            Records.insertExecution.of({ transfer_id: id, schedule_id: schedule.id, occurrence, attempt })
          ]
        },
        events: (posted) => {
          const { advanced, transfer } = outcome(posted)
          return [...Transfers.endedEvents(tenant_id, transfer), ...Records.scheduleEvents(advanced)]
        }
      })
      return 1
    },
    // Somebody executed, paused or cancelled it since we read it.
    Effect.catchTag("SUPERSEDED", () => Effect.succeed(0)),
    Effect.orDie,
    (attempt, { id }) =>
      // It is ours until the lease is over; whoever is alive then tries again.
      Effect.catchDefect(attempt, (defect) =>
        Effect.as(Effect.logError("A scheduled transfer could not be executed", { id }, defect), 0)
      )
  )

  return Effect.gen(function* () {
    let executed = 0
    while (true) {
      const { due, isAll } = yield* records.takeDue
      const done = yield* Effect.forEach(due, execute, { concurrency: Records.batch })
      executed += done.reduce((sum, one) => sum + one, 0)
      if (isAll) return executed
    }
  })
})
