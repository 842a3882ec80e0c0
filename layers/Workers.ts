import { Layer } from "effect"
import { AgentSessions } from "#services/AgentSessions.ts"
import { AgentChannel } from "#services/AgentChannel.ts"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { Credentials } from "#services/Credentials.ts"
import { Disputes } from "#services/Disputes.ts"
import { Facilitator } from "#services/Facilitator.ts"
import { Ledger } from "#services/Ledger.ts"
import { Lookout } from "#services/Lookout.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { Payments } from "#services/Payments.ts"
import { Quotes } from "#services/Quotes.ts"
import { Refunds } from "#services/Refunds.ts"
import { ScanBatches } from "#services/ScanBatches.ts"
import { Scans } from "#services/Scans.ts"
import { ScannerCredits } from "#services/ScannerCredits.ts"
import { Settlements } from "#services/Settlements.ts"
import { Schedules } from "#services/Schedules.ts"
import { Statistics } from "#services/Statistics.ts"
import { UserSessions } from "#services/UserSessions.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import * as EventRelay from "./EventRelay.ts"

/** Every background fiber. Any number of processes may run them over one database. */
export const layer = Layer.mergeAll(
  Ledger.layerWorker,
  Payments.layerWorker,
  ChainSettlements.layerWorker,
  Quotes.layerWorker,
  AgentSessions.layerWorker,
  MoneyStreams.layerWorker,
  Settlements.layerWorker,
  Schedules.layerWorker,
  Refunds.layerWorker,
  ScannerCredits.layerWorker,
  Scans.layerWorker,
  ScanBatches.layerWorker,
  Disputes.layerWorker,
  Facilitator.layerWorker,
  EventRelay.layerWorker,
  Statistics.layerWorker,
  AgentChannel.layerWorker,
  UserSessions.layerWorker,
  WebhookDeliveries.layerWorker,
  Credentials.layerWorker
).pipe(Layer.provide(Lookout.layer))
