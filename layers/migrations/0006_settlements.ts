import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What is to settle outside of the ledger: the transfer says what, this row who asks the rail next and when. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE settlements (
    transfer_id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    version bigint NOT NULL DEFAULT 0,
    state text NOT NULL CHECK (state IN
      ('pending', 'submitting', 'submitted', 'unknown', 'unresolved', 'completed', 'failed', 'cancelled')),
    attempts integer NOT NULL DEFAULT 0,
    unanswered integer NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL,
    submitted_at timestamptz,
    give_up_at timestamptz,
    rail_reference text,
    last_error text,
    created_at timestamptz NOT NULL,
    concluded_at timestamptz,
    CHECK ((state IN ('pending', 'cancelled')) = (submitted_at IS NULL)),
    CHECK ((submitted_at IS NULL) = (give_up_at IS NULL)),
    CHECK ((state IN ('completed', 'failed', 'cancelled')) = (concluded_at IS NOT NULL)),
    CHECK ((state = 'completed') = (rail_reference IS NOT NULL))
  ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX settlements_due ON settlements (due_at)
    WHERE state IN ('pending', 'submitting', 'submitted', 'unknown')`
  yield* sql`CREATE INDEX settlements_unresolved ON settlements (transfer_id) WHERE state = 'unresolved'`
})
