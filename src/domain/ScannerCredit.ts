import { Schema } from "effect"
import { TenantId, TenantTypeId } from "./Ids.ts"
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

/** The most that is given at once: fewer than the ledger can hold, in micro-units. */
export const mostGranted = 999_999_999_999

/** Credits that the operator gives, whole ones; to its own tenant where none is named. */
export const GrantCredits = Schema.Struct({
  tenant_id: Schema.optionalKey(TenantId),
  credits: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: mostGranted }))
}).annotate({ identifier: "GrantCredits" })
export type GrantCredits = typeof GrantCredits.Type

/** What was given, and what the tenant had then. */
export const CreditGrant = Schema.Struct({
  tenant_id: TenantTypeId,
  credits: Schema.Int,
  balance: Schema.Int,
  created_at: Moment
}).annotate({ identifier: "CreditGrant" })
export type CreditGrant = typeof CreditGrant.Type
