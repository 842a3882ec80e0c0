import type { IdempotencyClaim } from "#domain/Command.ts"
import type { Verdict } from "#domain/DisputeEnd.ts"
import type { Principal } from "#domain/Principal.ts"

export const receipt = { type: "receipt", description: "What was ordered", url: "https://example.com/1" }
export const answer = { response: "It was delivered", counter_evidence: [receipt] }

export const verdict = (resolution: Verdict["resolution"], refund_amount?: bigint): Verdict => ({
  resolution,
  refund_amount,
  notes: null
})

export const claimOf = ({ tenant_id }: Principal, operation: string, fingerprint = "1"): IdempotencyClaim => ({
  tenant_id,
  operation,
  key: "k",
  fingerprint
})
