import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Of a failure that ended its chain, whether the event arrived by another one: that outlives whatever is forgotten of the other. And
 * attempts are forgotten in the order in which they were made: a repetition is queued long before that.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE webhook_deliveries ADD COLUMN arrived boolean NOT NULL DEFAULT false`
  yield* sql`CREATE INDEX webhook_deliveries_missed ON webhook_deliveries (webhook_id, event_seq)
    WHERE status = 'failed' AND next_retry_at IS NULL AND NOT arrived`
  yield* sql`CREATE INDEX webhook_deliveries_past ON webhook_deliveries (webhook_id, sent_at, id)
    WHERE status = 'delivered' OR next_retry_at IS NOT NULL`
  yield* sql`DROP INDEX webhook_deliveries_passing`
})
