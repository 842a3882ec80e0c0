import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Refunds and disputes. The money itself is in the log, and each refund that was paid is a transfer too. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What was refunded may only grow under this version, whoever decides on it.
  yield* sql`ALTER TABLE transfers ADD COLUMN refunds_version bigint NOT NULL DEFAULT 0`

  yield* sql`CREATE TABLE refunds (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    transfer_id uuid NOT NULL,
    payer_account_id uuid,
    receiver_account_id uuid,
    amount bigint NOT NULL CHECK (amount > 0),
    currency text NOT NULL,
    reason text NOT NULL,
    reason_details text,
    status text NOT NULL CHECK (status IN ('pending', 'completed', 'failed')),
    failure_reason text,
    refund_transfer_id uuid,
    dispute_id uuid,
    due_at timestamptz,
    created_at timestamptz NOT NULL,
    completed_at timestamptz,
    CHECK ((status = 'failed') = (failure_reason IS NOT NULL)),
    CHECK ((status = 'completed') = (completed_at IS NOT NULL)),
    CHECK ((status = 'completed') = (refund_transfer_id IS NOT NULL)),
    CHECK ((status = 'pending') = (due_at IS NOT NULL))
  )`
  yield* sql`CREATE INDEX refunds_tenant ON refunds (tenant_id, id)`
  yield* sql`CREATE INDEX refunds_transfer ON refunds (transfer_id, id)`
  yield* sql`CREATE INDEX refunds_payer ON refunds (payer_account_id, id)`
  yield* sql`CREATE INDEX refunds_receiver ON refunds (receiver_account_id, id)`
  // Nearly all are completed: what is not must be found without reading them.
  yield* sql`CREATE INDEX refunds_status ON refunds (tenant_id, status, id) WHERE status <> 'completed'`
  yield* sql`CREATE INDEX refunds_due ON refunds (due_at) WHERE due_at IS NOT NULL`

  yield* sql`CREATE TABLE disputes (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    transfer_id uuid NOT NULL,
    version bigint NOT NULL,
    command_id uuid NOT NULL,
    status text NOT NULL CHECK (status IN ('open', 'under_review', 'escalated', 'resolved')),
    reason text NOT NULL,
    description text NOT NULL,
    amount_disputed bigint NOT NULL CHECK (amount_disputed > 0),
    currency text NOT NULL,
    filed_by jsonb NOT NULL,
    filer_account_id uuid,
    respondent_account_id uuid,
    requested_resolution text,
    evidence jsonb NOT NULL,
    response text,
    counter_evidence jsonb NOT NULL,
    escalation_reason text,
    response_window_ends_at timestamptz NOT NULL,
    due_at timestamptz,
    resolution text,
    refund_id uuid,
    notes text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    resolved_at timestamptz,
    CHECK ((status = 'resolved') = (resolved_at IS NOT NULL)),
    CHECK ((status = 'resolved') = (resolution IS NOT NULL)),
    CHECK ((status = 'open') = (due_at IS NOT NULL)),
    CHECK (coalesce(resolution IN ('full_refund', 'partial_refund'), false) = (refund_id IS NOT NULL))
  ) WITH (fillfactor = 80)`
  yield* sql`CREATE INDEX disputes_tenant ON disputes (tenant_id, id)`
  yield* sql`CREATE INDEX disputes_transfer ON disputes (transfer_id)`
  yield* sql`CREATE UNIQUE INDEX disputes_unresolved ON disputes (tenant_id, transfer_id) WHERE status <> 'resolved'`
  yield* sql`CREATE INDEX disputes_status ON disputes (tenant_id, status, id) WHERE status <> 'resolved'`
  yield* sql`CREATE INDEX disputes_due ON disputes (due_at) WHERE due_at IS NOT NULL`
})
