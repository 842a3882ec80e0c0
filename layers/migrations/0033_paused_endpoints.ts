import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** That somebody paused what an endpoint's `webhookUrl` is outlives the subscription, which ends while the endpoint has none. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE endpoints ADD COLUMN webhook_paused boolean NOT NULL DEFAULT false`
})
