import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Transfers that are made later, and the attempts at them. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE scheduled_transfers (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    status text NOT NULL CHECK (status IN ('scheduled', 'executed', 'failed', 'cancelled', 'paused')),
    type text NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    currency text NOT NULL,
    from_wallet_id uuid NOT NULL,
    to_wallet_id uuid NOT NULL CHECK (to_wallet_id <> from_wallet_id),
    from_account_id uuid,
    to_account_id uuid,
    memo text,
    scheduled_at timestamptz,
    frequency text CHECK (frequency IN ('daily', 'weekly', 'monthly', 'cron')),
    cron_expression text,
    interval integer,
    day_of_month integer,
    day_of_week integer,
    time text,
    timezone text,
    start_at timestamptz,
    end_at timestamptz,
    max_occurrences integer,
    retry_enabled boolean NOT NULL,
    max_retry_attempts integer NOT NULL,
    retry_window_days integer NOT NULL,
    next_execution_at timestamptz,
    last_execution_at timestamptz,
    executions_completed integer NOT NULL CHECK (executions_completed <= occurrences),
    last_transfer_id uuid,
    failure_reason text,
    attempts integer NOT NULL,
    initiated_by_type text NOT NULL,
    initiated_by_id text NOT NULL,
    version bigint NOT NULL,
    occurrence_at timestamptz,
    occurrences integer NOT NULL,
    first_attempt_at timestamptz,
    -- When a worker takes it: the next execution, or the end of the lease of the worker that has it.
    due_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CHECK ((scheduled_at IS NULL) <> (frequency IS NULL)),
    CHECK ((frequency IS NULL) = (timezone IS NULL AND start_at IS NULL AND interval IS NULL)),
    CHECK ((status = 'scheduled') = (due_at IS NOT NULL)),
    CHECK (max_occurrences IS NULL OR occurrences <= max_occurrences)
  ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX scheduled_transfers_due ON scheduled_transfers (due_at) WHERE due_at IS NOT NULL`
  yield* sql`CREATE INDEX scheduled_transfers_tenant ON scheduled_transfers (tenant_id, id)`
  yield* sql`CREATE INDEX scheduled_transfers_status ON scheduled_transfers (tenant_id, status, id)`
  yield* sql`CREATE INDEX scheduled_transfers_from ON scheduled_transfers (from_wallet_id, id)`
  yield* sql`CREATE INDEX scheduled_transfers_payer ON scheduled_transfers (from_account_id, id)`
  yield* sql`CREATE INDEX scheduled_transfers_payee ON scheduled_transfers (to_account_id, id)`

  yield* sql`CREATE TABLE scheduled_executions (
    transfer_id uuid PRIMARY KEY,
    schedule_id uuid NOT NULL,
    occurrence integer NOT NULL,
    attempt integer NOT NULL
  )`
  yield* sql`CREATE INDEX scheduled_executions_schedule ON scheduled_executions (schedule_id, transfer_id)`
})
