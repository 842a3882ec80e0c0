import type { SqlClient } from "effect/sql"
import type { Assurance } from "./Assurance.ts"

/** The indexes by which Postgres refuses what is there already: two processes that do the same at once are told apart by nothing else. */
export const uniqueIndexes: ReadonlyArray<string> = `
  accounts_default accounts_pkey agent_auth_keys_active agent_auth_keys_once agent_auth_keys_pkey agent_challenges_pkey
  agent_connections_pkey agent_events_pkey agent_presence_pkey agents_pkey agents_wallet_id_key batches_pkey chain_relayers_pkey
  chain_settlements_authorization chain_settlements_pkey chain_transactions_pkey credentials_hash_key credentials_pkey
  credit_charges_pkey disputes_pkey disputes_unresolved endpoints_own_path_key endpoints_pkey events_pkey facilitated_pkey
  followers_pkey holds_pkey idempotency_keys_pkey ledger_accounts_id_key ledger_accounts_pkey ledger_head_pkey
  merchant_protocols_pkey merchant_scan_blocks_pkey merchant_scan_head_pkey merchant_scans_id_key merchant_scans_place merchants_pkey
  movements_command movements_pkey payment_answers_pkey payments_pkey payments_reservation quotes_pkey refunds_pkey relays_pkey
  scan_batch_targets_pkey scan_batches_pkey scanner_askers_pkey scanner_work_id_key scanner_work_pkey scheduled_executions_pkey
  scheduled_transfers_pkey schema_migrations_pkey secrets_pkey settlements_pkey shopping_tests_id_key shopping_tests_pkey
  statistics_buckets_pkey statistics_cells_pkey statistics_cursor_pkey statistics_sums_pkey statistics_windows_pkey streams_pkey
  tallies_pkey tenants_pkey transfers_pkey user_sessions_pkey users_email users_email_key users_pkey wallets_address wallets_pkey
  webhook_deliveries_pkey webhook_lanes_pkey webhooks_endpoint webhooks_pkey
`
  .trim()
  .split(/\s+/)

/** What holds of the tables themselves. A restore that ended half-way leaves every row, and no index. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => [
  {
    promise: "the indexes that let nothing be there twice are in place",
    query: sql`SELECT u.name AS missing FROM unnest(${uniqueIndexes}::text[]) u (name)
      LEFT JOIN pg_index i ON i.indexrelid = to_regclass(u.name)
      WHERE (i.indisunique AND i.indisvalid) IS NOT TRUE LIMIT 10`
  }
]
