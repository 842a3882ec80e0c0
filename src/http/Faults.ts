import { Cause, Effect } from "effect"
import { isRefusal, type Refusal, toProblem } from "#api/Problems.ts"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { sayingOf } from "#services/Database/Reasons.ts"
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

/** Logs `what` failed so. What we do not understand is logged with its cause and never shown; what a caller did wrong is not logged. */
export const logFault = (what: string, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  const refusal = refusalOf(cause)
  if (refusal === undefined) return Effect.logError(`${what} failed`, cause)
  if ((toProblem(refusal)?.status ?? 500) < 500) return Effect.void
  // An outage refuses every request: one line for each is enough.
  return Effect.logWarning(`${what} is unavailable: ${sayingOf(Cause.squash(cause))}`)
}
