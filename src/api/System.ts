import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { documented } from "./Documented.ts"

/** What the process stands on, as the readiness probe sees it. */
export class Readiness extends Schema.Class<Readiness>("Readiness")({
  status: Schema.Literals(["ready", "unavailable"]),
  checks: Schema.Struct({
    postgres: Schema.Literals(["up", "down"]),
    migrations: Schema.Literals(["done", "pending", "unknown"]),
    writable: Schema.Literals(["up", "down"]),
    ledger: Schema.Literals(["up", "down"]),
    bus: Schema.Literals(["up", "down"]),
    serving: Schema.Literals(["yes", "stopping"])
  })
}) {}

const live = HttpApiEndpoint.get("live", "/health/live", {
  success: Schema.Struct({ status: Schema.Literal("live") })
}).annotateMerge(
  documented({
    summary: "Is the process alive",
    description: "Answers as long as the process can answer.",
    answer: { status: "live" }
  })
)

const ready = HttpApiEndpoint.get("ready", "/health/ready", {
  success: Readiness,
  error: Readiness.pipe(HttpApiSchema.status(503))
}).annotateMerge(
  documented({
    summary: "Is it ready for traffic",
    description:
      "200 when Postgres answers within a second, is migrated and may be written, and the ledger has its connection or was without it " +
      "for less than three seconds; 503 otherwise, and from the moment the process was asked to stop. The bus is shown but decides nothing: without it signals between processes are only late.",
    answer: {
      status: "ready",
      checks: { postgres: "up", migrations: "done", writable: "up", ledger: "up", bus: "up", serving: "yes" }
    }
  })
)

export class SystemApi extends HttpApiGroup.make("system")
  .add(live, ready)
  .annotateMerge(
    OpenApi.annotations({ title: "System", description: "Probes for whoever runs Turnpike. No credential needed." })
  ) {}
