import { Predicate } from "effect"

/** What was wrong in the end, below what the driver and others have wrapped around it. */
export const innermost = (fault: unknown): unknown => {
  if (Predicate.hasProperty(fault, "reason") && Predicate.isObject(fault.reason)) return innermost(fault.reason)
  return Predicate.hasProperty(fault, "cause") && Predicate.isObject(fault.cause) ? innermost(fault.cause) : fault
}

/** The same in words: what it says, or what it is said to be caused by. */
export const sayingOf = (fault: unknown): string => {
  const last = innermost(fault)
  if (Predicate.hasProperty(last, "message") && last.message !== "") {
    const message = String(last.message)
    return Number(asLength.exec(message)?.[1]) > longest ? unforked : message
  }
  return Predicate.hasProperty(last, "cause") && typeof last.cause === "string" ? last.cause : String(last)
}

/**
 * "could not fork new process for connection", or that in the server's language, comes in a protocol older than the one that Postgres
 * speaks otherwise: the driver takes its first letters for the length of a message, which is more than Postgres ever sends at once.
 */
const asLength = /^Message length (\d+) exceeds/
const longest = 2 ** 30
const unforked = "Postgres could make no process for another connection; its log says why"
