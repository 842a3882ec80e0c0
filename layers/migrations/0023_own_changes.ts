import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What refunds of a disputed transfer were for when the dispute was filed: only what came since then counts against it. And which
 * command changed a schedule last, so that whoever lost the answer knows its own change from somebody else's.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Waits until no group is in the middle of these tables, and lets none begin.
  yield* sql`SELECT 1 FROM ledger_head WHERE log = 1 FOR UPDATE`
  yield* sql`ALTER TABLE disputes ADD COLUMN promised_before bigint NOT NULL DEFAULT 0`
  yield* sql`UPDATE disputes d SET promised_before = (
      SELECT coalesce(sum(r.amount), 0) FROM refunds r WHERE r.transfer_id = d.transfer_id AND r.created_at < d.created_at
    ) WHERE d.status <> 'resolved'`
  yield* sql`ALTER TABLE scheduled_transfers ADD COLUMN changed_by uuid`
})
