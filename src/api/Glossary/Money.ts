import type { Terms } from "./Terms.ts"

/** Of wallets, transfers, batches, schedules, streams, refunds, disputes and quotes of exchange. */
export const money: Terms = {}
