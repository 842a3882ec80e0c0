import { Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { TenantId } from "#domain/Ids.ts"
import { CountryCode, MerchantCategory, Region, ScanId } from "#domain/Scan.ts"
import { type BatchNames, BatchTarget, ScanBatch } from "#domain/ScanBatch.ts"
import * as EachRow from "../Database/EachRow.ts"
import { companion } from "../Ledger/Companion.ts"
import type { ScanOrder } from "../Scans.ts"

const insert = companion<{
  readonly id: string
  readonly tenant_id: TenantId
  readonly source: string
  readonly name: string | null
  readonly description: string | null
  readonly total: number
  readonly credits_charged: number
  readonly created_at: string
}>(
  `INSERT INTO scan_batches (id, tenant_id, source, name, description, status, total, credits_charged, created_at)
  SELECT r.id, r.tenant_id, r.source, r.name, r.description, 'processing', r.total, r.credits_charged, r.created_at
  FROM jsonb_to_recordset($1::jsonb) AS r (id uuid, tenant_id uuid, source text, name text, description text,
    total smallint, credits_charged integer, created_at timestamptz)`
)

// The targets of a batch travel as one value: hundreds of rows are one row of the ledger's group.
const insertTargets = companion<{
  readonly batch_id: string
  readonly tenant_id: TenantId
  readonly created_at: string
  readonly turn_ms: number
  readonly orders: ReadonlyArray<ScanOrder>
}>(
  `INSERT INTO scan_batch_targets (batch_id, position, tenant_id, domain, merchant_name, merchant_category, country_code,
    region, skip_if_fresh, status, turn_at, due_at)
  SELECT b.batch_id, o.place - 1, b.tenant_id, o.value->>'domain', o.value->>'merchant_name', o.value->>'merchant_category',
    o.value->>'country_code', o.value->>'region', (o.value->>'skip_if_fresh')::boolean, 'pending',
    b.created_at + (o.place - 1) * b.turn_ms * interval '1 millisecond', b.created_at
  FROM jsonb_to_recordset($1::jsonb) AS b
    (batch_id uuid, tenant_id uuid, created_at timestamptz, turn_ms double precision, orders jsonb),
    jsonb_array_elements(b.orders) WITH ORDINALITY AS o (value, place)`
)

/** Writes a batch and its targets in the transaction of their charge, which has the batch's id. */
export const insertBatch = (
  batch: {
    readonly id: string
    readonly tenant_id: TenantId
    readonly source: string
    readonly credits_charged: number
    readonly at: Date
  } & BatchNames,
  orders: ReadonlyArray<ScanOrder>,
  turn_ms: number
) => {
  const { at, credits_charged, description, id, name, source, tenant_id } = batch
  const created_at = at.toISOString()
  return [
    insert.of({ id, tenant_id, source, name, description, total: orders.length, credits_charged, created_at }),
    insertTargets.of({ batch_id: id, tenant_id, created_at, turn_ms, orders })
  ]
}

const BatchRow = Schema.Struct({
  id: Schema.String,
  tenant_id: TenantId.to,
  source: Schema.String,
  name: Schema.NullOr(Schema.String),
  description: Schema.NullOr(Schema.String),
  status: ScanBatch.fields.status,
  total: Schema.Int,
  completed: Schema.Int,
  failed: Schema.Int,
  cancelled: Schema.Int,
  billed: Schema.Int,
  credits_charged: Schema.Int,
  credits_returned: Schema.Int,
  created_at: Schema.Date,
  completed_at: Schema.NullOr(Schema.Date)
})
export type BatchRow = typeof BatchRow.Type

/** A target as it is worked on; `attempts` is the number of its lease. */
const TakenRow = Schema.Struct({
  batch_id: Schema.String,
  position: Schema.Int,
  tenant_id: TenantId.to,
  domain: Schema.String,
  merchant_name: Schema.NullOr(Schema.String),
  merchant_category: Schema.NullOr(MerchantCategory),
  country_code: Schema.NullOr(CountryCode),
  region: Schema.NullOr(Region),
  skip_if_fresh: Schema.Boolean,
  attempts: Schema.Int,
  batch_status: BatchRow.fields.status,
  source: Schema.String
})
export type TakenTarget = typeof TakenRow.Type

const TargetRow = Schema.Struct({
  domain: Schema.String,
  status: BatchTarget.fields.status,
  scan_id: Schema.NullOr(ScanId),
  readiness_score: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(Schema.String)
})

/** What is written of a target when its lease ends. */
const Written = Schema.Struct({
  batch_id: Schema.String,
  position: Schema.Int,
  attempts: Schema.Int,
  status: TargetRow.fields.status,
  scan_id: TargetRow.fields.scan_id,
  readiness_score: TargetRow.fields.readiness_score,
  error: TargetRow.fields.error,
  due_at: Schema.NullOr(Schema.Date)
})
export type Written = typeof Written.Type

const OfTenant = Schema.Struct({ tenant_id: TenantId.to, id: Schema.String })

/** Reads and writes batches. Whoever changes targets and their batch locks the batch first. */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const found = SqlSchema.findOneOption({
    Request: OfTenant,
    Result: BatchRow,
    execute: ({ id, tenant_id }) => sql`SELECT * FROM scan_batches WHERE id = ${id} AND tenant_id = ${tenant_id}`
  })
  const locked = SqlSchema.findOneOption({
    Request: OfTenant,
    Result: BatchRow,
    execute: ({ id, tenant_id }) =>
      sql`SELECT * FROM scan_batches WHERE id = ${id} AND tenant_id = ${tenant_id} FOR NO KEY UPDATE`
  })
  const targetsOf = SqlSchema.findAll({
    Request: OfTenant,
    Result: TargetRow,
    execute: ({ id, tenant_id }) =>
      sql`SELECT domain, status, scan_id, readiness_score, error FROM scan_batch_targets
        WHERE batch_id = ${id} AND tenant_id = ${tenant_id} ORDER BY position`
  })
  const due = SqlSchema.findAll({
    Request: Schema.Struct({ now: Schema.Date, until: Schema.Date, limit: Schema.Int }),
    Result: EachRow.Raw,
    execute: ({ limit, now, until }) =>
      sql`WITH due AS (
          SELECT batch_id, position FROM scan_batch_targets
          WHERE status IN ('pending', 'scanning') AND due_at <= ${now}
          ORDER BY turn_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
        ), taken AS (
          UPDATE scan_batch_targets o SET status = 'scanning', attempts = o.attempts + 1, due_at = ${until} FROM due
          WHERE o.batch_id = due.batch_id AND o.position = due.position RETURNING o.*
        ) SELECT t.batch_id, t.position, t.tenant_id, t.domain, t.merchant_name, t.merchant_category, t.country_code,
            t.region, t.skip_if_fresh, t.attempts, b.status AS batch_status, b.source
          FROM taken t JOIN scan_batches b ON b.id = t.batch_id AND b.tenant_id = t.tenant_id ORDER BY t.turn_at`
  })
  const readTaken = EachRow.reader("a target of a batch", TakenRow, ["batch_id", "position"])
  const nextDue = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ due_at: Schema.NullOr(Schema.Date) }),
    execute: () => sql`SELECT min(due_at) AS due_at FROM scan_batch_targets WHERE status IN ('pending', 'scanning')`
  })
  const write = SqlSchema.findOneOption({
    Request: Written,
    Result: Schema.Struct({ position: Schema.Int }),
    // Only under the lease that it was scanned under: whoever was too late has nothing to say.
    execute: ({ attempts, batch_id, due_at, error, position, readiness_score, scan_id, status }) =>
      sql`UPDATE scan_batch_targets SET status = ${status}, scan_id = ${scan_id}, readiness_score = ${readiness_score},
          error = ${error}, due_at = ${due_at}
        WHERE batch_id = ${batch_id} AND position = ${position} AND status = 'scanning' AND attempts = ${attempts}
        RETURNING position`
  })
  const cancel = SqlSchema.findOne({
    Request: OfTenant,
    Result: Schema.Struct({ cancelled: Schema.Int }),
    execute: ({ id, tenant_id }) =>
      sql`WITH ended AS (
          UPDATE scan_batch_targets SET status = 'cancelled', due_at = NULL
          WHERE batch_id = ${id} AND tenant_id = ${tenant_id} AND status = 'pending' RETURNING 1
        ) SELECT count(*)::int AS cancelled FROM ended`
  })

  return {
    find: (tenant_id: TenantId, id: string) => Effect.orDie(found({ tenant_id, id })),
    /** Nobody else changes it or its targets until the transaction ends. */
    lock: (tenant_id: TenantId, id: string) => Effect.orDie(locked({ tenant_id, id })),
    targets: (tenant_id: TenantId, id: string) => Effect.orDie(targetsOf({ tenant_id, id })),
    takeDue: (now: Date, until: Date, limit: number) =>
      Effect.map(Effect.flatMap(Effect.orDie(due({ now, until, limit })), readTaken), ({ rows }) => rows),
    /** When the first of those that wait or are scanned is due; nothing if there are none. */
    nextDue: Effect.map(Effect.orDie(nextDue()), ({ due_at }) => Option.fromNullOr(due_at)),
    /** False when the lease was lost. */
    write: (written: Written) => Effect.map(Effect.orDie(write(written)), Option.isSome),
    /** Ends all that waits; how many that were. */
    cancelWaiting: (tenant_id: TenantId, id: string) =>
      Effect.map(Effect.orDie(cancel({ tenant_id, id })), ({ cancelled }) => cancelled),
    save: ({ billed, cancelled, completed, completed_at, credits_returned, failed, id, status }: BatchRow) =>
      Effect.orDie(
        sql`UPDATE scan_batches SET status = ${status}, completed = ${completed}, failed = ${failed}, cancelled = ${cancelled},
          billed = ${billed}, credits_returned = ${credits_returned}, completed_at = ${completed_at} WHERE id = ${id}`
      )
  }
})
