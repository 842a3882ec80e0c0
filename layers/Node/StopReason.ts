import { Cause, Config, Console, Effect, Predicate } from "effect"
import { isSqlError } from "effect/sql/SqlError"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { innermost, sayingOf } from "#services/Database/Reasons.ts"
import { isDatabaseAway } from "#services/Health.ts"
import * as Setting from "../Setting.ts"

/** Why the process cannot run: one sentence when somebody expected it or the database left, the whole cause when nobody did. */
export const reasonOf = (cause: Cause.Cause<unknown>): string => {
  const [reason] = cause.reasons
  if (reason?._tag === "Fail" && reason.error instanceof Config.ConfigError) return Setting.sentence(reason.error)
  const fault = Cause.squash(cause)
  if (hasCode(fault, "42501")) {
    return `The user of the database may not do what is needed, ${sayingOf(fault)}: it needs CREATE on the schema, and all that is in it`
  }
  if (hasCode(fault, "25006"))
    return `The database is a standby, or was set to read only (default_transaction_read_only): ${sayingOf(fault)}`
  if (fault instanceof ServiceUnavailable || isDatabaseAway(fault) || isDatabaseAway(behind(fault))) {
    return `The database went away: ${sayingOf(fault)}`
  }
  if (isSqlError(fault)) return `The database refused what was asked of it: ${sayingOf(fault)}`
  return reason?._tag === "Fail" &&
    Predicate.hasProperty(reason.error, "message") &&
    String(reason.error.message) !== ""
    ? String(reason.error.message)
    : Cause.pretty(cause)
}

/** Says why `who` cannot run. Also of a process that was asked to stop, where what it stands on could not be put away. */
export const tellingWhy =
  (who: string) =>
  <A, E, R>(running: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.onError(running, (cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.void : Console.error(`\n${who} cannot run: ${reasonOf(cause)}`)
    )

/** What a migration failed by: without its connection it cannot be rolled back either, and is a defect that names only itself. */
const behind = (fault: unknown) => (Predicate.hasProperty(fault, "cause") ? fault.cause : undefined)

const hasCode = (fault: unknown, code: string) => {
  const last = innermost(fault)
  return Predicate.hasProperty(last, "code") && last.code === code
}
