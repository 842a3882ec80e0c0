import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** How many replays of a subscription wait is asked before more are taken, whatever else waits. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX webhook_deliveries_replays ON webhook_deliveries (webhook_id)
    WHERE status = 'pending' AND cause = 'replay'`
})
