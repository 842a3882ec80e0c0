import type { Cause } from "effect"
import * as Pipeline from "../Database/Pipeline.ts"

/** Why a group was not posted. */
export type GroupFailure = Pipeline.FlightFailure | Cause.TimeoutError

/** A command of the group, or what it wants to write, threw: that is no fault of the connection. */
export const undecided = (cause: unknown) =>
  new Pipeline.StatementFailed({ code: "", message: "A ledger command threw", cause })

export const endsConnection = (failure: GroupFailure): boolean =>
  failure._tag !== "StatementFailed" || endings.has(failure.code)

export const isPassing = (failure: GroupFailure): boolean =>
  failure._tag === "StatementFailed" && Pipeline.isContention(failure)

/** A server that only reads is not the one to write to any more: a new connection may find that one. */
export const isElsewhere = (failure: GroupFailure): boolean =>
  failure._tag === "StatementFailed" && failure.code === "25006"

// Not allowed in any more, or a statement that the server has forgotten: a new connection prepares all again.
const endings = new Set(["28000", "28P01", "26000", "0A000"])
