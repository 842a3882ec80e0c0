import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import * as Accounts from "./Accounts.ts"
import * as Answering from "./Answering.ts"
import * as ApiKeys from "./ApiKeys.ts"
import * as Authorization from "./Authorization.ts"
import * as Batches from "./Batches.ts"
import * as ContextApi from "./ContextApi.ts"
import * as Decoding from "./Decoding.ts"
import * as Discovery from "./Discovery.ts"
import * as Disputes from "./Disputes.ts"
import * as Docs from "./Docs.ts"
import * as Edge from "./Edge.ts"
import * as Endpoints from "./Endpoints.ts"
import * as Facilitator from "./Facilitator.ts"
import * as Gateway from "./Gateway.ts"
import { Paths } from "./Paths.ts"
import { Patience } from "./Patience.ts"
import * as Payments from "./Payments.ts"
import * as Quotes from "./Quotes.ts"
import { RateLimiter } from "./RateLimiter.ts"
import { RawRoutes } from "./RawRoutes.ts"
import * as Refunds from "./Refunds.ts"
import * as SandboxChain from "./SandboxChain.ts"
import * as Schedules from "./Schedules.ts"
import * as Streams from "./Streams.ts"
import * as System from "./System.ts"
import * as Transfers from "./Transfers.ts"
import * as Visitors from "./Visitors.ts"
import * as Wallets from "./Wallets.ts"

/** The handlers of the contract, one layer per group. */
const groups = Layer.mergeAll(
  ContextApi.layer,
  ApiKeys.layer,
  Accounts.layer,
  System.layer,
  Wallets.layer,
  Quotes.layer,
  Transfers.layer,
  Batches.layer,
  Streams.layer,
  Schedules.layer,
  Refunds.layer,
  Disputes.layer,
  SandboxChain.layer,
  Endpoints.layer,
  Payments.layer,
  Discovery.layer,
  Facilitator.layer
)

/** Routes whose bytes do not pass through the framework. */
const raw = Layer.mergeAll(Gateway.layer, Transfers.layerDirect, Payments.layerDirect).pipe(
  Layer.provide(Layer.merge(RateLimiter.layer, Patience.layer))
)

const api = HttpApiBuilder.layer(Api).pipe(
  Layer.provide(groups),
  Layer.provide(Visitors.layer),
  Layer.provide(Layer.merge(Authorization.layer, Decoding.layer)),
  Layer.provide(Layer.merge(RateLimiter.layer, Patience.layer))
)

const routes = Layer.mergeAll(api, Docs.layer, System.metrics, Answering.layer).pipe(Layer.provide(Paths.layer))

const served = HttpRouter.serve(routes, {
  disableLogger: true,
  disableListenLog: true,
  // One spelling for each path: what stands before us may allow and forbid by path.
  routerConfig: { caseSensitive: true, ignoreDuplicateSlashes: false }
})

/**
 * Everything that answers HTTP, on the listener that `layers/Node.ts` opens. The edge comes last: it lets requests in when
 * everything behind it stands, and keeps everything standing until the last one is answered.
 */
export const layer = Edge.layer.pipe(Layer.provideMerge(Layer.merge(served, raw)), Layer.provide(RawRoutes.layer))
