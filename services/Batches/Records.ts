import { Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { amountsOf, type Batch, BatchLine, batchOf } from "#domain/Batch.ts"
import type { EventDraft } from "#domain/Event.ts"
import { BatchId, type TenantId, toTypeId } from "#domain/Ids.ts"
import type { Transfer } from "#domain/Transfer.ts"
import { companion } from "../Ledger/Companion.ts"
import type { Outcome } from "./Items.ts"

const insert = companion<{
  readonly id: BatchId
  readonly tenant_id: TenantId
  readonly total: number
  readonly completed: number
  readonly failed: number
  /** The transfer of each item that was answered from its key, by the item's place. */
  readonly replayed: Readonly<Record<string, string>>
  readonly created_at: string
}>(
  `INSERT INTO batches (id, tenant_id, total, completed, failed, replayed, created_at)
  SELECT r.* FROM jsonb_to_recordset($1::jsonb) AS r
    (id uuid, tenant_id uuid, total smallint, completed smallint, failed smallint, replayed jsonb, created_at timestamptz)
  ON CONFLICT DO NOTHING`
)

/** Writes a batch in the transaction of its transfers. */
export const insertBatch = (tenant_id: TenantId, batch: Batch, outcomes: ReadonlyArray<Outcome>) => {
  const { batch_id, completed, created_at, failed, total } = batch
  const replayed = outcomes.filter(({ made }) => made === undefined)
  return insert.of({
    id: batch_id,
    tenant_id,
    total,
    completed,
    failed,
    replayed: Object.fromEntries(replayed.map(({ line }) => [line.index, line.id])),
    created_at: created_at.toISOString()
  })
}

/** The fact that a batch is through. `amounts` is what it moved and failed to move itself: transfers of earlier requests are not in. */
export const completedEvent = (tenant_id: TenantId, batch: Batch, made: ReadonlyArray<Transfer>): EventDraft => {
  const { batch_id, completed, created_at, failed, replayed, status, total } = batch
  const id = toTypeId("bat", batch_id)
  return {
    tenant_id,
    type: "batch.completed",
    data: {
      batch: {
        id,
        batch_id: id,
        total,
        completed,
        failed,
        replayed,
        status,
        amounts: amountsOf(made),
        created_at: created_at.toISOString()
      }
    }
  }
}

const Line = Schema.toType(BatchLine)

/** Reads one batch of a tenant. */
export const reader = Effect.map(SqlClient.SqlClient, (sql) => {
  const rowOf = SqlSchema.findOneOption({
    Request: Schema.Struct({ tenant_id: Schema.String, id: Schema.toType(BatchId) }),
    Result: Schema.Struct({ created_at: Schema.Date }),
    execute: ({ tenant_id, id }) => sql`SELECT created_at FROM batches WHERE id = ${id} AND tenant_id = ${tenant_id}`
  })
  const linesOf = SqlSchema.findAll({
    Request: Schema.toType(BatchId),
    Result: Line,
    execute: (id) =>
      sql`SELECT t.batch_index AS index, t.id, t.status, t.failure_reason, false AS replayed
        FROM transfers t WHERE t.batch_id = ${id}
        UNION ALL
        SELECT r.key::int, t.id, t.status, t.failure_reason, true
        FROM batches b CROSS JOIN jsonb_each_text(b.replayed) r JOIN transfers t ON t.id = r.value::uuid
        WHERE b.id = ${id}
        ORDER BY index`
  })
  return Effect.fnUntraced(function* (tenant_id: TenantId, id: BatchId) {
    const row = yield* rowOf({ tenant_id, id })
    if (Option.isNone(row)) return Option.none()
    return Option.some(batchOf(id, row.value.created_at, yield* linesOf(id)))
  }, Effect.orDie)
})
