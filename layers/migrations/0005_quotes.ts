import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Promised conversions. A quote that was used stays for as long as its transfer does. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE quotes (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    from_currency text NOT NULL,
    to_currency text NOT NULL,
    rate text NOT NULL,
    mid_rate text NOT NULL,
    spread_basis_points integer NOT NULL,
    amount_side text NOT NULL CHECK (amount_side IN ('send', 'receive')),
    send_amount bigint NOT NULL CHECK (send_amount > 0),
    receive_amount bigint NOT NULL CHECK (receive_amount > 0),
    fee bigint NOT NULL CHECK (fee >= 0 AND fee < send_amount),
    expires_at timestamptz NOT NULL,
    transfer_id uuid,
    used_at timestamptz,
    created_at timestamptz NOT NULL,
    CHECK (expires_at > created_at),
    CHECK ((transfer_id IS NULL) = (used_at IS NULL))
  ) WITH (fillfactor = 90)`
  yield* sql`CREATE INDEX quotes_unused ON quotes (expires_at) WHERE transfer_id IS NULL`
})
