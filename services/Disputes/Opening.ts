import { DateTime, Effect, Option, Result } from "effect"
import { actorOf } from "#domain/CallerContext.ts"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { disputeOnWire, disputesScope, judgeDispute } from "#domain/Dispute.ts"
import type { DisputeOrder } from "#domain/DisputeOrder.ts"
import { DisputeId, toTypeId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import { NotFound } from "#domain/Refusal.ts"
import { Ledger } from "../Ledger.ts"
import { once } from "../Ledger/Once.ts"
import { newId, newUuid } from "../NewId.ts"
import * as RefundRecords from "../Refunds/Records.ts"
import { expectRefusals, movesNothing } from "../Refunds/Deciding.ts"
import { remembered } from "../Transfers.ts"
import { earlierAnswer, orEarlier } from "./Changing.ts"
import { DisputePolicy } from "./Policy.ts"
import * as Records from "./Records.ts"

/** What a dispute has not got when it is opened. */
const fresh = {
  status: "open",
  version: 0n,
  response: null,
  counter_evidence: [],
  escalation_reason: null,
  resolution: null,
  refund_id: null,
  notes: null,
  resolved_at: null
} as const

/** Opens disputes. */
export const make = Effect.fnUntraced(function* (records: Effect.Success<typeof Records.make>) {
  const ledger = yield* Ledger
  const policy = yield* DisputePolicy
  const refunds = yield* RefundRecords.make

  /** Fails with `Superseded` when somebody else opened a dispute of the transfer meanwhile. */
  return Effect.fnUntraced(function* (caller: Principal, order: DisputeOrder, claim?: IdempotencyClaim) {
    const { tenant_id } = caller
    const { amount_disputed: _, transfer_id, ...said } = order
    const id = yield* newId(DisputeId)
    const command_id = newUuid()
    return Effect.gen(function* () {
      const found = yield* refunds.refundable(tenant_id, transfer_id)
      if (Option.isNone(found)) {
        const refused = new NotFound({ resource: "transfer", id: toTypeId("tx", transfer_id) })
        return yield* orEarlier(ledger, claim, refused)
      }
      const { promised: promised_before, transfer } = found.value
      const others = yield* records.ofTransfer(transfer_id)
      const now = yield* DateTime.nowAsDate
      const judged = judgeDispute({ ...found.value, ...others }, order, now, policy.filingWindow)
      if (Result.isFailure(judged)) return yield* orEarlier(ledger, claim, judged.failure)
      const made = remembered(
        ({ at }): Records.DisputeRow => ({
          ...said,
          ...fresh,
          id,
          tenant_id,
          transfer_id,
          promised_before,
          amount_disputed: judged.success,
          currency: transfer.currency,
          filed_by: actorOf(caller),
          filer_account_id: transfer.from_account_id,
          respondent_account_id: transfer.to_account_id,
          response_window_ends_at: DateTime.toDate(
            DateTime.addDuration(DateTime.makeUnsafe(at), policy.responseWindow)
          ),
          created_at: at,
          updated_at: at
        })
      )
      const posted = yield* ledger
        .post({
          id: command_id,
          steps: [],
          fences: [{ scope: disputesScope(transfer_id), expected: others.disputes }],
          idempotency: claim ?? once(tenant_id, command_id).idempotency,
          result: (done) => disputeOnWire(Records.shown(made(done))),
          rows: (done) => [Records.writeDispute(made(done))],
          events: (done) => [Records.disputeEvent("opened", made(done))]
        })
        .pipe(expectRefusals, movesNothing)
      if (!posted.replayed) return { dispute: Records.shown(made(posted)), replayed: false }
      // Under its own id it was this very call, whose first answer was lost on the way from the database.
      return { ...(yield* earlierAnswer(posted.result)), replayed: posted.command_id !== command_id }
    })
  })
})
