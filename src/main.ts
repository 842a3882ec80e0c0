import { Effect, Layer } from "effect"
import * as Arguments from "#layers/Arguments.ts"
import * as Node from "#layers/Node.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as ProcessMetrics from "#layers/ProcessMetrics.ts"
import * as Telemetry from "#layers/Telemetry.ts"
import * as UnreadSettings from "#layers/UnreadSettings.ts"

// Most of the program, which is loaded while the database starts.
const serving = import("./Serving.ts")

// Read from the bottom: each line stands on those below it, and stops before them.
Layer.unwrap(Effect.promise(() => serving.then(({ layer }) => layer))).pipe(
  Layer.provideMerge(Postgres.layer),
  Layer.provideMerge(Node.layer),
  Layer.provide(ProcessMetrics.layer),
  Layer.provide(UnreadSettings.layer),
  Layer.provide(Arguments.layer),
  Layer.provide(Telemetry.layer),
  Layer.launch,
  Node.tellingWhy("Turnpike"),
  Node.runMain
)
