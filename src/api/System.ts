import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { documented } from "./Documented.ts"

/** What the process stands on, as the readiness probe sees it. */
export class Readiness extends Schema.Class<Readiness>("Readiness")({
  status: Schema.Literals(["ready", "unavailable"]),
  checks: Schema.Struct({
    postgres: Schema.Literals(["up", "down"]),
    migrations: Schema.Literals(["done", "pending", "unknown"]),
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
      "200 when Postgres answers within a second and its migrations are done; 503 otherwise, and from the moment the process was " +
      "asked to stop. The bus is shown but decides nothing: without it signals between processes are only late.",
    answer: { status: "ready", checks: { postgres: "up", migrations: "done", bus: "up", serving: "yes" } }
  })
)

export class SystemApi extends HttpApiGroup.make("system")
  .add(live, ready)
  .annotateMerge(
    OpenApi.annotations({ title: "System", description: "Probes for whoever runs Turnpike. No credential needed." })
  ) {}
