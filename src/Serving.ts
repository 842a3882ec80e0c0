import { Layer } from "effect"
import * as Http from "#http/Http.ts"
import * as Banner from "#layers/Banner.ts"
import * as Bus from "#layers/Bus.ts"
import * as CredentialsFile from "#layers/CredentialsFile.ts"
import * as Custody from "#layers/Custody.ts"
import * as DatabaseClock from "#layers/DatabaseClock.ts"
import * as Fees from "#layers/Fees.ts"
import * as Heap from "#layers/Heap.ts"
import * as Outbound from "#layers/Outbound.ts"
import * as Platform from "#layers/Platform.ts"
import * as Rail from "#layers/Rail.ts"
import * as Sales from "#layers/Sales.ts"
import * as Workers from "#layers/Workers.ts"

/** All that serves, over a database and a listener. Read from the bottom, as src/main.ts, which stands below it. */
export const layer = Layer.merge(Banner.layer, Heap.layer).pipe(
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
  Layer.provide(DatabaseClock.layer)
)
