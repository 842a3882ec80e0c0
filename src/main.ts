import { Layer } from "effect"
import * as Http from "#http/Http.ts"
import * as Arguments from "#layers/Arguments.ts"
import * as Banner from "#layers/Banner.ts"
import * as Bus from "#layers/Bus.ts"
import * as CredentialsFile from "#layers/CredentialsFile.ts"
import * as Custody from "#layers/Custody.ts"
import * as DatabaseClock from "#layers/DatabaseClock.ts"
import * as Fees from "#layers/Fees.ts"
import * as Heap from "#layers/Heap.ts"
import * as Node from "#layers/Node.ts"
import * as Outbound from "#layers/Outbound.ts"
import * as Platform from "#layers/Platform.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as ProcessMetrics from "#layers/ProcessMetrics.ts"
import * as Rail from "#layers/Rail.ts"
import * as Sales from "#layers/Sales.ts"
import * as Telemetry from "#layers/Telemetry.ts"
import * as UnreadSettings from "#layers/UnreadSettings.ts"
import * as Workers from "#layers/Workers.ts"

// Read from the bottom: each line stands on those below it, and stops before them.
Layer.merge(Banner.layer, Heap.layer).pipe(
  Layer.provide(Layer.merge(Http.layer, Workers.layer)),
  Layer.provide(Sales.layer),
  // First of all who make the first tenant: only who makes it learns its password.
  Layer.provide(CredentialsFile.layer),
  Layer.provide(Platform.layer),
  Layer.provide(Rail.layer),
  Layer.provide(Fees.layer),
  Layer.provide(Custody.layer),
  Layer.provideMerge(Outbound.layer),
  Layer.provide(Bus.layer),
  Layer.provide(DatabaseClock.layer),
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
