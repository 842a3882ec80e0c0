import { Layer } from "effect"
import { Accounts } from "#services/Accounts.ts"
import { Batches } from "#services/Batches.ts"
import { Bootstrap } from "#services/Bootstrap.ts"
import { Credentials } from "#services/Credentials.ts"
import { CrossBorder } from "#services/CrossBorder.ts"
import { Discovery } from "#services/Discovery.ts"
import { Disputes } from "#services/Disputes.ts"
import { Doctor } from "#services/Doctor.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { EventLog } from "#services/EventLog.ts"
import { Facilitator } from "#services/Facilitator.ts"
import { Gateway } from "#services/Gateway.ts"
import { Health } from "#services/Health.ts"
import { Ledger } from "#services/Ledger.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { Payments } from "#services/Payments.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { Quotes } from "#services/Quotes.ts"
import { Refunds } from "#services/Refunds.ts"
import { SandboxChain } from "#services/SandboxChain.ts"
import { Schedules } from "#services/Schedules.ts"
import { Secrets } from "#services/Secrets.ts"
import { Settlements } from "#services/Settlements.ts"
import { Statistics } from "#services/Statistics.ts"
import { Tenants } from "#services/Tenants.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import * as RateSource from "./RateSource.ts"
import * as Secp256k1 from "./Secp256k1.ts"
import * as TransferRail from "./TransferRail.ts"

const crossBorder = CrossBorder.layer.pipe(Layer.provideMerge(Settlements.layer), Layer.provide(TransferRail.layer))

const books = Layer.mergeAll(EventLog.layer, Ledger.layer, Secrets.layer, Doctor.layer, Health.layer)

/** Tenants and what belongs to them, over a database, a bus and a deployment. */
export const administration = Bootstrap.layer.pipe(
  Layer.provideMerge(Tenants.layer),
  Layer.provideMerge(Layer.mergeAll(Accounts.layer, Credentials.layer)),
  Layer.provideMerge(books)
)

/** Every service, over edges the caller still has to choose: a database, a bus, and where we are deployed. */
export const layer = Gateway.layer.pipe(
  Layer.provideMerge(Payments.layer),
  Layer.provideMerge(Layer.mergeAll(Statistics.layer, Facilitator.layer, Discovery.layer)),
  Layer.provideMerge(Endpoints.layer),
  Layer.provideMerge(crossBorder),
  Layer.provideMerge(Layer.mergeAll(Transfers.layer, Batches.layer, Schedules.layer, MoneyStreams.layer)),
  Layer.provideMerge(Layer.mergeAll(Refunds.layer, Disputes.layer)),
  Layer.provideMerge(Quotes.layer.pipe(Layer.provide(RateSource.layer))),
  Layer.provideMerge(Layer.mergeAll(Wallets.layer, SandboxChain.layer, PublicHttp.layer, Secp256k1.layer)),
  Layer.provideMerge(administration)
)
