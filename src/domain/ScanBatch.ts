import { Schema } from "effect"
import { Moment } from "./Instant.ts"
import { ScanId } from "./Scan.ts"

/** One domain of a batch. `error` is a stable code of what went wrong with it; nothing is charged for it then. */
export const BatchTarget = Schema.Struct({
  domain: Schema.String,
  status: Schema.Literals(["pending", "scanning", "completed", "failed", "cancelled"]),
  scan_id: Schema.NullOr(ScanId),
  readiness_score: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(Schema.String).annotate({
    description: "Why it failed: `SITE_UNREACHABLE`, `DOMAIN_NOT_ALLOWED` or `SCANNER_UNAVAILABLE`"
  })
}).annotate({ identifier: "ScanBatchTarget" })
export type BatchTarget = typeof BatchTarget.Type

/** Many scans under one order: half a credit each, rounded up in sum. */
export const ScanBatch = Schema.Struct({
  id: Schema.String,
  name: Schema.NullOr(Schema.String),
  description: Schema.NullOr(Schema.String),
  status: Schema.Literals(["processing", "completed", "cancelled"]),
  total: Schema.Int,
  completed: Schema.Int,
  failed: Schema.Int,
  cancelled: Schema.Int,
  credits_charged: Schema.Int,
  credits_returned: Schema.Int,
  targets: Schema.Array(BatchTarget),
  created_at: Moment,
  completed_at: Schema.NullOr(Moment)
}).annotate({ identifier: "ScanBatch" })
export type ScanBatch = typeof ScanBatch.Type

/** What whoever orders a batch calls it. */
export interface BatchNames {
  readonly name: string | null
  readonly description: string | null
}

/** A batch as it is ordered: nothing of it is done yet. */
export const orderedBatch = (
  { at, id, ...named }: BatchNames & { readonly id: string; readonly at: Date },
  domains: ReadonlyArray<string>
): ScanBatch => ({
  id,
  ...named,
  status: "processing",
  total: domains.length,
  completed: 0,
  failed: 0,
  cancelled: 0,
  credits_charged: batchCredits(domains.length),
  credits_returned: 0,
  targets: domains.map((domain) => ({ domain, status: "pending", scan_id: null, readiness_score: null, error: null })),
  created_at: at,
  completed_at: null
})

/** Most targets of one batch. */
export const maxBatchTargets = 500

/** What so many scans of a batch cost in whole credits: half a credit each, rounded up in sum. */
export const batchCredits = (scans: number): number => Math.ceil(scans / 2)

/** What became of a target under one lease. `Again` is not over: it waits for so many milliseconds. */
export type TargetOutcome =
  | {
      readonly _tag: "Completed"
      readonly scan_id: ScanId
      readonly readiness_score: number | null
      readonly isBilled: boolean
    }
  | { readonly _tag: "Failed"; readonly scan_id: ScanId | null; readonly error: string }
  | { readonly _tag: "Cancelled" }
  | { readonly _tag: "Again"; readonly after: number }

/** How far a batch is. `billed` is how many of the completed targets cost something. */
export interface BatchProgress {
  readonly status: "processing" | "completed" | "cancelled"
  readonly total: number
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
  readonly billed: number
  readonly credits_charged: number
  readonly credits_returned: number
  readonly completed_at: Date | null
}

/** A batch after so many more of its targets have ended. With the last one it is over, and what was not done is to be returned. */
export const progressed = <Batch extends BatchProgress>(
  batch: Batch,
  more: Partial<Pick<BatchProgress, "completed" | "failed" | "cancelled" | "billed">>,
  now: Date
): Batch => {
  const next = {
    ...batch,
    completed: batch.completed + (more.completed ?? 0),
    failed: batch.failed + (more.failed ?? 0),
    cancelled: batch.cancelled + (more.cancelled ?? 0),
    billed: batch.billed + (more.billed ?? 0)
  }
  if (next.completed + next.failed + next.cancelled < next.total) return next
  return {
    ...next,
    status: batch.status === "processing" ? "completed" : batch.status,
    completed_at: now,
    credits_returned: next.credits_charged - batchCredits(next.billed)
  }
}
