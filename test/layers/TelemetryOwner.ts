import { Console, Effect, Metric, Schedule } from "effect"
import * as Telemetry from "#layers/Telemetry.ts"

// A process that logs ten lines, each in a turn of its own, of so many characters as it is told, and says on standard output how many of
// them were lost.
const [, , length = "0"] = process.argv
const lost = Effect.map(Metric.snapshot, (metrics) => {
  const metric = metrics.find(({ id }) => id === "turnpike_log_lines_lost_total")
  return metric?.type === "Counter" ? String(metric.state.count) : "none is counted"
})
const program = Effect.logError("something went wrong", "a".repeat(Number(length))).pipe(
  Effect.repeat(Schedule.spaced("5 millis").pipe(Schedule.upTo({ times: 9 }))),
  Effect.andThen(lost),
  Effect.flatMap(Console.log)
)
await Effect.runPromise(Effect.provide(program, Telemetry.layer))
