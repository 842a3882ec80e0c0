import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The subscription that an endpoint's own `webhookUrl` is: it gets what happens to payments of that endpoint. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE webhooks ADD COLUMN endpoint_id uuid REFERENCES endpoints`
  yield* sql`CREATE UNIQUE INDEX webhooks_endpoint ON webhooks (endpoint_id) WHERE endpoint_id IS NOT NULL`
  // A tenant may have as many endpoints as it likes, and their subscriptions must not be walked for each fact.
  yield* sql`CREATE INDEX webhooks_own ON webhooks (tenant_id) WHERE endpoint_id IS NULL`
})
