import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What was charged for the scanner in credits, and batches of scans with their targets. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A charge has the id of the command that took it. What is given back of it is moved by the command whose id differs from that in
  // the version digit alone: 8 for 7. A charge without a time is kept by whoever made it: a batch ends its own.
  yield* sql`CREATE TABLE credit_charges (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    operation text NOT NULL CHECK (operation IN ('scan', 'batch', 'test')),
    credits integer NOT NULL CHECK (credits > 0),
    returned integer NOT NULL DEFAULT 0 CHECK (returned BETWEEN 0 AND credits),
    state text NOT NULL CHECK (state IN ('open', 'earned', 'returning', 'returned')),
    reason text,
    source text NOT NULL,
    metadata jsonb NOT NULL,
    due_at timestamptz,
    created_at timestamptz NOT NULL,
    ended_at timestamptz,
    CHECK ((state IN ('returning', 'returned')) = (returned > 0)),
    CHECK ((state IN ('returning', 'returned')) = (reason IS NOT NULL)),
    CHECK ((state IN ('earned', 'returned')) = (ended_at IS NOT NULL)),
    CHECK (ended_at IS NULL OR due_at IS NULL),
    CHECK (state <> 'returning' OR due_at IS NOT NULL)
  ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX credit_charges_due ON credit_charges (due_at) WHERE due_at IS NOT NULL`

  // A batch has the id of its charge. `billed` is how many of the completed targets cost something.
  yield* sql`CREATE TABLE scan_batches (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    source text NOT NULL,
    status text NOT NULL CHECK (status IN ('processing', 'completed', 'cancelled')),
    total smallint NOT NULL CHECK (total BETWEEN 1 AND 500),
    completed smallint NOT NULL DEFAULT 0,
    failed smallint NOT NULL DEFAULT 0,
    cancelled smallint NOT NULL DEFAULT 0,
    billed smallint NOT NULL DEFAULT 0,
    credits_charged integer NOT NULL,
    credits_returned integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    completed_at timestamptz,
    CHECK (completed >= 0 AND failed >= 0 AND cancelled >= 0 AND completed + failed + cancelled <= total),
    CHECK ((completed + failed + cancelled = total) = (completed_at IS NOT NULL)),
    CHECK (billed BETWEEN 0 AND completed),
    CHECK (credits_charged = (total + 1) / 2),
    CHECK (credits_returned = CASE WHEN completed_at IS NULL THEN 0 ELSE credits_charged - (billed + 1) / 2 END),
    CHECK (status <> 'completed' OR completed_at IS NOT NULL),
    CHECK (status <> 'processing' OR completed_at IS NULL)
  ) WITH (fillfactor = 70)`
  // `turn_at` is whose turn it is, so that many small batches wait little behind a large one; `due_at` is not before when, and the lease
  // of what is being scanned. `attempts` tells one lease from the next.
  yield* sql`CREATE TABLE scan_batch_targets (
    batch_id uuid NOT NULL,
    position smallint NOT NULL,
    tenant_id uuid NOT NULL,
    domain text NOT NULL,
    merchant_name text,
    merchant_category text,
    country_code text,
    region text,
    skip_if_fresh boolean NOT NULL,
    status text NOT NULL CHECK (status IN ('pending', 'scanning', 'completed', 'failed', 'cancelled')),
    scan_id uuid,
    readiness_score smallint,
    error text,
    attempts smallint NOT NULL DEFAULT 0,
    turn_at timestamptz NOT NULL,
    due_at timestamptz,
    PRIMARY KEY (batch_id, position),
    CHECK ((status IN ('pending', 'scanning')) = (due_at IS NOT NULL)),
    CHECK (status <> 'completed' OR scan_id IS NOT NULL),
    CHECK ((status = 'failed') = (error IS NOT NULL))
  ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX scan_batch_targets_turn ON scan_batch_targets (turn_at) WHERE status IN ('pending', 'scanning')`
})
