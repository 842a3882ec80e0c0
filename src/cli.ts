import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Layer, Logger, Predicate, Runtime } from "effect"
import { Command } from "effect/cli"
import * as Node from "#layers/Node.ts"
import * as Telemetry from "#layers/Telemetry.ts"
import * as Answer from "./cli/Answer.ts"
import * as Help from "./cli/Help.ts"
import { turnpike } from "./cli/Turnpike.ts"

/** Whether whoever read the command, or carried it out, has said why it failed. */
const isSaid = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return Predicate.hasProperty(error, Runtime.errorReported) && error[Runtime.errorReported] === false
}

Command.run(turnpike, { version: "0.1.0" }).pipe(
  Answer.arrived,
  Effect.tapCause((cause) =>
    Cause.hasInterruptsOnly(cause) || isSaid(cause) ? Effect.void : Console.error(Node.reasonOf(cause))
  ),
  // Logs stand apart from what a command answers: a script keeps that.
  Effect.provide(
    Layer.mergeAll(NodeServices.layer, Help.layer, Logger.layer([Logger.withConsoleError(Telemetry.readable)]))
  ),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
