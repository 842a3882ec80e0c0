import type { Cause } from "effect"
import { isRefusal, type Refusal } from "#api/Problems.ts"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { isDatabaseAway } from "#services/Health.ts"

/** The refusal of a request that failed outside what its operation declares; undefined when it is a fault of ours. */
export const refusalOf = (cause: Cause.Cause<unknown>): Refusal | undefined => {
  for (const reason of cause.reasons) {
    if (reason._tag === "Interrupt") continue
    const fault = reason._tag === "Fail" ? reason.error : reason.defect
    if (isRefusal(fault)) return fault
    if (isDatabaseAway(fault)) return new ServiceUnavailable({ retry_after: 2 })
  }
  return undefined
}
