import type { Cause } from "effect"
import * as Pipeline from "../Database/Pipeline.ts"

/** Why a group was not posted. */
export type GroupFailure = Pipeline.FlightFailure | Cause.TimeoutError

/** A command of the group, or what it wants to write, threw: that is no fault of the connection. */
export const undecided = (cause: unknown) =>
  new Pipeline.StatementFailed({ code: "", message: "A ledger command threw", cause })

export const endsConnection = (failure: GroupFailure): boolean =>
  failure._tag === "TimeoutError" || Pipeline.endsConnection(failure)

export const isPassing = (failure: GroupFailure): boolean =>
  failure._tag === "StatementFailed" && Pipeline.isContention(failure)

/** A server that only reads is not the one to write to any more: a new connection may find that one. */
export const isElsewhere = (failure: GroupFailure): boolean =>
  failure._tag === "StatementFailed" && failure.code === "25006"

/** What a command makes of its outcome may throw; where it is looked up that command is found. */
export const attempt = <A>(decide: () => A): A | undefined => {
  try {
    return decide()
  } catch {
    return undefined
  }
}
