import { Schema } from "effect"
import { Moment } from "./Instant.ts"

/** Whole credits. `consumed_total` is without what was returned. */
export const CreditBalance = Schema.Struct({
  balance: Schema.Int,
  granted_total: Schema.Int,
  consumed_total: Schema.Int
}).annotate({ identifier: "CreditBalance" })
export type CreditBalance = typeof CreditBalance.Type

/** A line of the credit ledger; `id` is its place. */
export const CreditEntry = Schema.Struct({
  id: Schema.BigIntFromString,
  delta: Schema.Int,
  reason: Schema.Literals(["grant", "consume", "refund", "adjustment"]),
  source: Schema.NullOr(Schema.String),
  balance_after: Schema.Int,
  metadata: Schema.Record(Schema.String, Schema.String),
  created_at: Moment
}).annotate({ identifier: "CreditEntry" })
export type CreditEntry = typeof CreditEntry.Type
