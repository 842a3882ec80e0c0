import { Layer } from "effect"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { Disputes } from "#services/Disputes.ts"
import { Ledger } from "#services/Ledger.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { Payments } from "#services/Payments.ts"
import { Quotes } from "#services/Quotes.ts"
import { Refunds } from "#services/Refunds.ts"
import { Settlements } from "#services/Settlements.ts"
import { Schedules } from "#services/Schedules.ts"
import { Statistics } from "#services/Statistics.ts"

/** Every background fiber. Any number of processes may run them over one database. */
export const layer = Layer.mergeAll(
  Ledger.layerWorker,
  Payments.layerWorker,
  ChainSettlements.layerWorker,
  Quotes.layerWorker,
  MoneyStreams.layerWorker,
  Settlements.layerWorker,
  Schedules.layerWorker,
  Refunds.layerWorker,
  Disputes.layerWorker,
  Statistics.layerWorker
)
