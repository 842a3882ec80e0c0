import { Schema } from "effect"
import { Moment } from "./Instant.ts"

/** One promise about the books, whether it holds, and up to ten rows that break it. */
export const ExaminedPromise = Schema.Struct({
  promise: Schema.String,
  ok: Schema.Boolean,
  rows: Schema.Array(Schema.Record(Schema.String, Schema.Json)),
  duration_ms: Schema.Int
}).annotate({ identifier: "ExaminedPromise" })

/** What the doctor says of the books, as they were at one moment. */
export const Examination = Schema.Struct({
  ok: Schema.Boolean,
  checked: Schema.Int,
  broken: Schema.Int,
  examined_at: Moment,
  duration_ms: Schema.Int,
  promises: Schema.Array(ExaminedPromise)
}).annotate({ identifier: "Examination" })
export type Examination = typeof Examination.Type
