import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Where few are wanted of very many. The oldest wallet of an account with a hundred thousand was looked for among all of them, with their
 * ledger accounts, by each call that it paid for. The sessions of an agent that last were looked for among all that it, or its tenant,
 * had in a day, by each that was opened. And lists of suspended agents, and of streams that stand still, read all those that are active.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX wallets_oldest ON wallets (owner_id, currency, network, id) INCLUDE (owner_type, frozen_at)`
  yield* sql`CREATE INDEX credentials_sessions ON credentials (agent_id, id) WHERE kind = 'session_token' AND revoked_at IS NULL`
  yield* sql`CREATE INDEX agents_suspended ON agents (tenant_id, id) WHERE status = 'suspended'`
  yield* sql`CREATE INDEX streams_exhausted ON streams (tenant_id, exhausts_at) WHERE status = 'active'`
  // Last, because all who read wallets wait from here on.
  yield* sql`DROP INDEX wallets_owner`
})
