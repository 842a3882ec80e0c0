import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Money streams. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // What has accrued is counted in 10^-21 units: a rate in 10^-18 units a second times milliseconds.
  yield* sql`CREATE TABLE streams (
    id uuid PRIMARY KEY REFERENCES ledger_accounts (id),
    tenant_id uuid NOT NULL,
    from_wallet_id uuid NOT NULL,
    to_wallet_id uuid NOT NULL,
    currency text NOT NULL,
    flow_rate numeric(32, 0) NOT NULL CHECK (flow_rate > 0),
    status text NOT NULL CHECK (status IN ('active', 'paused', 'cancelled')),
    pause_reason text CHECK (pause_reason IN ('requested', 'exhausted')),
    deposited bigint NOT NULL CHECK (deposited > 0),
    buffer bigint NOT NULL CHECK (buffer BETWEEN 0 AND deposited),
    withdrawn bigint NOT NULL CHECK (withdrawn >= 0),
    returned bigint NOT NULL CHECK (returned >= 0),
    accrued numeric(36, 0) NOT NULL CHECK (accrued >= 0),
    since timestamptz NOT NULL,
    exhausts_at timestamptz,
    alerted text NOT NULL CHECK (alerted IN ('none', 'warning', 'critical', 'exhausted')),
    next_alert_at timestamptz,
    latest_transfer_id uuid NOT NULL,
    metadata jsonb NOT NULL,
    version bigint NOT NULL,
    changed_by uuid NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    cancelled_at timestamptz,
    CHECK (from_wallet_id <> to_wallet_id),
    CHECK (accrued <= (deposited - buffer) * 1000000000000000::numeric),
    CHECK (withdrawn * 1000000000000000::numeric <= accrued),
    CHECK ((status = 'paused') = (pause_reason IS NOT NULL)),
    CHECK ((status = 'cancelled') = (cancelled_at IS NOT NULL)),
    CHECK (CASE status WHEN 'cancelled' THEN withdrawn + returned = deposited ELSE returned = 0 END)
  ) WITH (fillfactor = 80)`
  yield* sql`CREATE INDEX streams_tenant ON streams (tenant_id, id)`
  yield* sql`CREATE INDEX streams_from ON streams (from_wallet_id, id)`
  yield* sql`CREATE INDEX streams_to ON streams (to_wallet_id, id)`
  // Most have ended some day: those that live must be found without reading them.
  yield* sql`CREATE INDEX streams_status ON streams (tenant_id, status, id) WHERE status <> 'cancelled'`
  yield* sql`CREATE INDEX streams_alerts ON streams (next_alert_at) WHERE next_alert_at IS NOT NULL`
})
