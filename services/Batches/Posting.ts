import { type Batch, batchOf } from "#domain/Batch.ts"
import type { Fence, IdempotencyClaim, Posted } from "#domain/Command.ts"
import type { BatchId, TenantId } from "#domain/Ids.ts"
import type { LedgerCommand } from "../Ledger/Group.ts"
import { endedEvents, insertTransfer } from "../Transfers/Records.ts"
import { remembered } from "../Transfers.ts"
import type { Placed } from "./Items.ts"
import * as Records from "./Records.ts"

/** A batch as the ledger takes it, and the record of it once it is posted. */
export interface Posting {
  readonly command: LedgerCommand & { readonly fences: ReadonlyArray<Fence> }
  readonly batchOf: (posted: Posted) => Batch
}

/** One command of all items. `result` is what is kept with the batch's key. */
export const posting = (
  tenant_id: TenantId,
  batch_id: BatchId,
  placed: ReadonlyArray<Placed>,
  idempotency: IdempotencyClaim | undefined,
  result: unknown
): Posting => {
  const done = remembered(({ at, items }: Posted) => {
    const outcomes = placed.map(({ outcome }, index) => outcome(items?.[index], at))
    const lines = outcomes.map(({ line }) => line)
    return { batch: batchOf(batch_id, at, lines), outcomes }
  })
  return {
    command: {
      id: batch_id,
      // A batch has no movement of its own by which posting it again would be recognised: it begins once.
      fences: [{ scope: batch_id, expected: 0n }],
      steps: [],
      owner: tenant_id,
      items: placed.map(({ command }) => command),
      idempotency,
      result: () => (idempotency === undefined ? undefined : result),
      rows: (posted) => {
        const { batch, outcomes } = done(posted)
        return [
          Records.insertBatch(tenant_id, batch, outcomes),
          ...outcomes.flatMap(({ line, made }) =>
            made === undefined ? [] : insertTransfer(tenant_id, made, line.index)
          )
        ]
      },
      events: (posted) => {
        const { batch, outcomes } = done(posted)
        const made = outcomes.flatMap(({ made }) => made ?? [])
        return [
          ...made.flatMap((transfer) => endedEvents(tenant_id, transfer)),
          Records.completedEvent(tenant_id, batch, made)
        ]
      }
    },
    batchOf: (posted) => done(posted).batch
  }
}
