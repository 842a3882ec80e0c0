import { Layer } from "effect"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { Ledger } from "#services/Ledger.ts"
import { Payments } from "#services/Payments.ts"
import { Statistics } from "#services/Statistics.ts"

/** Every background fiber. Any number of processes may run them over one database. */
export const layer = Layer.mergeAll(
  Ledger.layerWorker,
  Payments.layerWorker,
  ChainSettlements.layerWorker,
  Statistics.layerWorker
)
