import { Schema } from "effect"
import { Moment } from "./Instant.ts"
import { Band, CheckStatus, Protocol, Region, ScanId, ScanStatus } from "./Scan.ts"

const score = Schema.NullOr(Schema.Int)

/** A scan beside the one before it: what became better or worse. `changes` is null of the oldest. */
export const ScanChange = Schema.Struct({
  id: ScanId,
  status: ScanStatus,
  scanned_at: Moment,
  readiness_score: score,
  protocol_score: score,
  data_score: score,
  accessibility_score: score,
  checkout_score: score,
  rubric_version: Schema.String,
  changes: Schema.NullOr(
    Schema.Struct({
      score_delta: score,
      checks: Schema.Array(
        Schema.Struct({ id: Schema.String, from: Schema.NullOr(CheckStatus), to: Schema.NullOr(CheckStatus) })
      )
    })
  )
}).annotate({ identifier: "ScanChange" })
export type ScanChange = typeof ScanChange.Type

const group = Schema.Struct({ scans: Schema.Int, average_score: Schema.NullOr(Schema.Finite) })

/** The corpus in numbers. Scans without a category or region count as `unknown`. */
export const ScanStatistics = Schema.Struct({
  total: Schema.Int,
  domains: Schema.Int,
  by_status: Schema.Record(ScanStatus, Schema.Int),
  by_category: Schema.Record(Schema.String, group),
  by_region: Schema.Record(Schema.Union([Region, Schema.Literal("unknown")]), group),
  by_band: Schema.Record(Band, Schema.Int),
  average_score: Schema.NullOr(Schema.Finite),
  /** Of how many domains the newest scan found the protocol confirmed, declared or enabled by the platform. */
  protocol_adoption: Schema.Record(Protocol, Schema.Int)
}).annotate({ identifier: "ScanStatistics" })
export type ScanStatistics = typeof ScanStatistics.Type
