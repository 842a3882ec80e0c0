import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import * as Accounts from "./Accounts.ts"
import * as Administration from "./Administration.ts"
import * as AgentChannel from "./AgentChannel.ts"
import * as Agents from "./Agents.ts"
import * as AgentSessions from "./AgentSessions.ts"
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
import * as PortalTokens from "./PortalTokens.ts"
import * as Quotes from "./Quotes.ts"
import { RateLimiter } from "./RateLimiter.ts"
import { RawRoutes } from "./RawRoutes.ts"
import * as Refunds from "./Refunds.ts"
import * as SandboxChain from "./SandboxChain.ts"
import * as ScanBatches from "./ScanBatches.ts"
import * as ScannerCredits from "./ScannerCredits.ts"
import * as ScannerKeys from "./ScannerKeys.ts"
import * as ScannerReports from "./ScannerReports.ts"
import * as ScannerRubric from "./ScannerRubric.ts"
import * as ScannerSales from "./ScannerSales.ts"
import * as Scans from "./Scans.ts"
import * as Schedules from "./Schedules.ts"
import * as ShoppingTests from "./ShoppingTests.ts"
import * as Streams from "./Streams.ts"
import * as System from "./System.ts"
import * as Transfers from "./Transfers.ts"
import * as UcpAgent from "./UcpAgent.ts"
import * as Users from "./Users.ts"
import * as UserSessions from "./UserSessions.ts"
import * as Visitors from "./Visitors.ts"
import * as Wallets from "./Wallets.ts"
import * as Webhooks from "./Webhooks.ts"

/** The handlers of the contract, one layer per group. */
const groups = Layer.mergeAll(
  ContextApi.layer,
  ApiKeys.layer,
  Users.layer,
  Administration.layer,
  UserSessions.layer,
  PortalTokens.layer,
  Scans.layer,
  ShoppingTests.layer,
  ScanBatches.layer,
  ScannerKeys.layer,
  ScannerCredits.layer,
  ScannerReports.layer,
  ScannerRubric.layer,
  Accounts.layer,
  Agents.layer,
  AgentSessions.layer,
  AgentChannel.layer,
  System.layer,
  Wallets.layer,
  Webhooks.layer,
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
const raw = Layer.mergeAll(
  Gateway.layer,
  ScannerSales.layer,
  Transfers.layerDirect,
  Payments.layerDirect,
  AgentChannel.layerRaw
)

const api = HttpApiBuilder.layer(Api).pipe(
  Layer.provide(groups),
  Layer.provide(Visitors.layer),
  Layer.provide(Layer.merge(Authorization.layer, Decoding.layer))
)

const routes = Layer.mergeAll(api, Docs.layer, UcpAgent.layer, System.metrics, Answering.layer).pipe(
  Layer.provide(Paths.layer)
)

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
export const layer = Edge.layer.pipe(
  Layer.provideMerge(Layer.merge(served, raw)),
  // Here, because the router builds its layers apart: a caller would have a limit with it and another with the raw routes.
  Layer.provide(Layer.mergeAll(RawRoutes.layer, RateLimiter.layer, Patience.layer))
)
