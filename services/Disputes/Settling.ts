import { DateTime, Effect, Option } from "effect"
import { type Actor, actorOf } from "#domain/CallerContext.ts"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { windowEnd } from "#domain/Dispute.ts"
import { decide, refundReasonOf, type Resolved, resolveByDefault, type Verdict } from "#domain/DisputeEnd.ts"
import { type DisputeId, RefundId, type TenantId, TransferId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import { type Refundable, retryRefundAt } from "#domain/Refund.ts"
import { newId } from "../NewId.ts"
import { movesNothing, needsNoKey } from "../Refunds/Deciding.ts"
import { owing, paying, type RefundParts, type Wanted } from "../Refunds/Making.ts"
import { RefundPolicy } from "../Refunds/Policy.ts"
import * as RefundRecords from "../Refunds/Records.ts"
import type { Changing, Decided } from "./Changing.ts"
import type * as Records from "./Records.ts"

/** Ends disputes. Each method chooses ids first and gives an effect that fails with `Superseded` when it has to decide anew. */
export const make = Effect.fnUntraced(function* ({ change }: Changing) {
  const retries = yield* RefundPolicy
  const refunds = yield* RefundRecords.make

  const disputed = Effect.fnUntraced(function* ({ promised_before, tenant_id, transfer_id }: Records.DisputeRow) {
    const found = yield* refunds.refundable(tenant_id, transfer_id)
    if (Option.isNone(found)) return yield* Effect.die("The transfer of a dispute is gone")
    return { ...found.value, since: found.value.promised - promised_before }
  })

  /** The end of a dispute with the refund it awards, made by `make` under this id. */
  const ended = (
    row: Records.DisputeRow,
    of: Refundable,
    { change, refund }: Resolved,
    id: RefundId,
    make: (wanted: Wanted) => RefundParts
  ): Decided => {
    if (refund === undefined) return { change }
    const reason = refundReasonOf[row.reason]
    const wanted = { id, amount: refund, reason, reason_details: null, dispute_id: row.id }
    return { change, refund: make({ tenant_id: row.tenant_id, of, refund: wanted }) }
  }

  return {
    resolve: Effect.fnUntraced(function* (
      caller: Principal,
      id: DisputeId,
      verdict: Verdict,
      claim: IdempotencyClaim | undefined
    ) {
      const command_id = yield* newId(TransferId)
      const refund_id = yield* newId(RefundId)
      return change(
        { tenant_id: caller.tenant_id, id, command_id, claim },
        Effect.fnUntraced(function* (row) {
          const of = yield* disputed(row)
          const resolved = yield* Effect.fromResult(decide(row, verdict, of, yield* DateTime.nowAsDate))
          const decided = ended(row, of, resolved, refund_id, (wanted) => paying(wanted, command_id, actorOf(caller)))
          return { ...decided, until: windowEnd(row) }
        })
      )
    }),

    /** Ends a dispute that nobody answered; a refund that cannot be paid now is kept. Nothing happens once it was answered. */
    resolveByDefault: Effect.fnUntraced(function* (tenant_id: TenantId, id: DisputeId) {
      const command_id = yield* newId(TransferId)
      const refund_id = yield* newId(RefundId)
      const resolved = (make: (wanted: Wanted) => RefundParts) =>
        change(
          { tenant_id, id, command_id },
          Effect.fnUntraced(function* (row) {
            const of = yield* disputed(row)
            return ended(row, of, yield* Effect.fromResult(resolveByDefault(row, of)), refund_id, make)
          })
        )
      const keep = (wanted: Wanted) => owing(wanted, (at) => retryRefundAt(at, at, retries) ?? at)
      const kept = () => resolved(keep).pipe(movesNothing)
      return resolved((wanted) => paying(wanted, command_id, platform)).pipe(
        Effect.catchTags({ INSUFFICIENT_BALANCE: kept, WALLET_FROZEN: kept, AMOUNT_TOO_LARGE: kept }),
        Effect.asVoid,
        Effect.catchTag("STATE_TRANSITION_INVALID", () => Effect.void),
        needsNoKey
      )
    })
  }
})

/** Who decides where nobody has answered. */
const platform: Actor = { type: "system", id: "disputes" }
