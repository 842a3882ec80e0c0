import { Layer } from "effect"
import { Accounts } from "#services/Accounts.ts"
import { AgentChannel } from "#services/AgentChannel.ts"
import { Agents } from "#services/Agents.ts"
import { AgentSessions } from "#services/AgentSessions.ts"
import { Batches } from "#services/Batches.ts"
import { Bootstrap } from "#services/Bootstrap.ts"
import { BoughtCalls } from "#services/BoughtCalls.ts"
import { Credentials } from "#services/Credentials.ts"
import { CreditGrants } from "#services/CreditGrants.ts"
import { CrossBorder } from "#services/CrossBorder.ts"
import { Discovery } from "#services/Discovery.ts"
import { Disputes } from "#services/Disputes.ts"
import { Doctor } from "#services/Doctor.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { EventLog } from "#services/EventLog.ts"
import * as Appended from "#services/EventLog/Appended.ts"
import { Facilitator } from "#services/Facilitator.ts"
import { Gateway } from "#services/Gateway.ts"
import { Health } from "#services/Health.ts"
import { IdempotencyKeys } from "#services/IdempotencyKeys.ts"
import { Ledger } from "#services/Ledger.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { Operator } from "#services/Operator.ts"
import { Payments } from "#services/Payments.ts"
import { PortalTokens } from "#services/PortalTokens.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { Quotes } from "#services/Quotes.ts"
import { Refunds } from "#services/Refunds.ts"
import { ScanBatches } from "#services/ScanBatches.ts"
import { ScanEngine } from "#services/ScanEngine.ts"
import { ScannerCredits } from "#services/ScannerCredits.ts"
import { ScannerSales } from "#services/ScannerSales.ts"
import { SandboxChain } from "#services/SandboxChain.ts"
import { Scans } from "#services/Scans.ts"
import { Schedules } from "#services/Schedules.ts"
import { Secrets } from "#services/Secrets.ts"
import { Settlements } from "#services/Settlements.ts"
import { ShoppingEngine } from "#services/ShoppingEngine.ts"
import { ShoppingTests } from "#services/ShoppingTests.ts"
import { SiteVisits } from "#services/SiteVisits.ts"
import { Statistics } from "#services/Statistics.ts"
import { Tenants } from "#services/Tenants.ts"
import { Transfers } from "#services/Transfers.ts"
import { Users } from "#services/Users.ts"
import { UserSessions } from "#services/UserSessions.ts"
import { Wallets } from "#services/Wallets.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { Webhooks } from "#services/Webhooks.ts"
import * as Quarantine from "./Quarantine.ts"
import * as RateSource from "./RateSource.ts"
import * as Secp256k1 from "./Secp256k1.ts"
import * as TransferRail from "./TransferRail.ts"

const crossBorder = CrossBorder.layer.pipe(Layer.provideMerge(Settlements.layer), Layer.provide(TransferRail.layer))

/** The scanner: those who keep what was found, those who look, and the way out. */
const scanner = ScanBatches.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Scans.layer, ShoppingTests.layer)),
  Layer.provideMerge(Layer.mergeAll(ScanEngine.layer, ShoppingEngine.layer)),
  Layer.provideMerge(Layer.mergeAll(ScannerCredits.layer, SiteVisits.layer)),
  Layer.provide(Quarantine.layer)
)

const books = Layer.mergeAll(IdempotencyKeys.layer, EventLog.layer, Secrets.layer, Doctor.layer, Health.layer).pipe(
  Layer.provideMerge(Ledger.layer),
  Layer.provideMerge(Appended.layer)
)

/** Tenants and what belongs to them, over a database, a bus and a deployment. */
export const administration = Layer.mergeAll(Bootstrap.layer, CreditGrants.layer, Operator.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Tenants.layer, PortalTokens.layer, Users.layer)),
  Layer.provideMerge(Layer.mergeAll(Accounts.layer, Credentials.layer, UserSessions.layer, BoughtCalls.layer)),
  Layer.provideMerge(books)
)

/** Every service, over edges the caller still has to choose: a database, a bus, and where we are deployed. */
export const layer = Gateway.layer.pipe(
  Layer.provideMerge(Payments.layer),
  Layer.provideMerge(Layer.mergeAll(Statistics.layer, Facilitator.layer, Discovery.layer, AgentChannel.layer)),
  Layer.provideMerge(Layer.merge(ScannerSales.layer, scanner)),
  Layer.provideMerge(Endpoints.layer),
  Layer.provideMerge(Webhooks.layer.pipe(Layer.provideMerge(WebhookDeliveries.layer))),
  Layer.provideMerge(crossBorder),
  Layer.provideMerge(Layer.mergeAll(Transfers.layer, Batches.layer, Schedules.layer, MoneyStreams.layer)),
  Layer.provideMerge(Layer.mergeAll(Refunds.layer, Disputes.layer)),
  Layer.provideMerge(AgentSessions.layer.pipe(Layer.provideMerge(Agents.layer))),
  Layer.provideMerge(Quotes.layer.pipe(Layer.provide(RateSource.layer))),
  Layer.provideMerge(Layer.mergeAll(Wallets.layer, SandboxChain.layer, PublicHttp.layer, Secp256k1.layer)),
  Layer.provideMerge(administration)
)
