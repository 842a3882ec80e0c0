import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Transfers as callers see them; the money itself is in the log. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A refusal that was told as the outcome of a transfer stays in the log: posting it again must not move money.
  yield* sql`ALTER TABLE movements
    DROP CONSTRAINT movements_kind_check, DROP CONSTRAINT movements_check,
    ADD CONSTRAINT movements_kind CHECK (kind IN ('transfer', 'hold', 'capture', 'release', 'count', 'refuse')),
    ADD CONSTRAINT movements_amount CHECK (amount > 0 OR (amount = 0 AND kind IN ('count', 'refuse')))`
  yield* sql`ALTER TABLE ledger_accounts
    DROP CONSTRAINT ledger_accounts_purpose_check,
    ADD CONSTRAINT ledger_accounts_purpose
      CHECK (purpose IN ('wallet', 'issuance', 'fees', 'fx', 'scanner_credits', 'stream'))`

  yield* sql`CREATE TABLE transfers (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    type text NOT NULL,
    status text NOT NULL CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'cancelled')),
    amount bigint NOT NULL CHECK (amount >= 0),
    currency text NOT NULL,
    from_wallet_id uuid,
    to_wallet_id uuid,
    from_account_id uuid,
    to_account_id uuid,
    memo text,
    quote_id uuid,
    destination_amount bigint,
    destination_currency text,
    fee bigint NOT NULL,
    batch_id uuid,
    batch_index smallint,
    stream_id uuid,
    scheduled_at timestamptz,
    initiated_by_type text NOT NULL,
    initiated_by_id text NOT NULL,
    protocol text NOT NULL,
    protocol_metadata jsonb NOT NULL,
    failure_reason text,
    refunded_amount bigint NOT NULL DEFAULT 0 CHECK (refunded_amount BETWEEN 0 AND amount),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    completed_at timestamptz,
    CHECK ((status = 'completed') = (completed_at IS NOT NULL)),
    CHECK ((status = 'failed') = (failure_reason IS NOT NULL))
  ) WITH (fillfactor = 90)`
  yield* sql`CREATE INDEX transfers_tenant ON transfers (tenant_id, id)`
  yield* sql`CREATE INDEX transfers_from ON transfers (from_wallet_id, id)`
  yield* sql`CREATE INDEX transfers_to ON transfers (to_wallet_id, id)`
  yield* sql`CREATE INDEX transfers_batch ON transfers (batch_id, batch_index) WHERE batch_id IS NOT NULL`
  // Most transfers are internal and completed: what is not must be found without reading them.
  yield* sql`CREATE INDEX transfers_status ON transfers (tenant_id, status, id) WHERE status <> 'completed'`
  yield* sql`CREATE INDEX transfers_type ON transfers (tenant_id, type, id) WHERE type <> 'internal'`
  // The same of one wallet: that of a platform has as many of the others as its tenant.
  yield* sql`CREATE INDEX transfers_from_status ON transfers (from_wallet_id, status, id) WHERE status <> 'completed'`
  yield* sql`CREATE INDEX transfers_to_status ON transfers (to_wallet_id, status, id) WHERE status <> 'completed'`
  yield* sql`CREATE INDEX transfers_from_type ON transfers (from_wallet_id, type, id) WHERE type <> 'internal'`
  yield* sql`CREATE INDEX transfers_to_type ON transfers (to_wallet_id, type, id) WHERE type <> 'internal'`
})
