import type { QuoteId, TransferId } from "#domain/Ids.ts"
import { OID } from "../Database/Pipeline.ts"
import { columnar } from "../Ledger/Companion.ts"

/** That a transfer was made with a quote. */
export interface QuoteUse {
  readonly id: QuoteId
  readonly transfer_id: TransferId
  readonly used_at: Date
}

/**
 * Marks quotes as used in the transaction of the transfers made with them. Goes with the fence
 * `{ scope: quote.id, expected: 0n, until: quote.expires_at }`, which lets one of several transfers have the quote, and none that
 * would be posted when it has ended.
 */
export const useQuote = columnar<QuoteUse>(
  [
    ["id", OID.uuidArray],
    ["transfer_id", OID.uuidArray],
    ["used_at", OID.timestamptzArray]
  ],
  (rows) => `UPDATE quotes q SET transfer_id = r.transfer_id, used_at = r.used_at
  FROM ${rows} WHERE q.id = r.id`
)
