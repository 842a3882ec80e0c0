import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Counts and sums of paid calls, kept by a follower of the event log. All of it can be made again from the events. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // How far the event log is counted; moves in the transaction that counts.
  yield* sql`CREATE TABLE statistics_cursor (
    log smallint PRIMARY KEY,
    seq bigint NOT NULL
  ) WITH (fillfactor = 10)`
  yield* sql`INSERT INTO statistics_cursor VALUES (1, 0)`
  // What an endpoint's windows hold now. Facts before `since` may have left; `oldest` is the first bucket that is still inside.
  // Whoever changes anything of a window holds the lock of its row here.
  yield* sql`CREATE TABLE statistics_windows (
    endpoint_id uuid NOT NULL,
    span text NOT NULL CHECK (span IN ('1h', '24h', '7d', '30d', 'all')),
    since timestamptz NOT NULL DEFAULT 'epoch',
    oldest timestamptz,
    calls bigint NOT NULL DEFAULT 0 CHECK (calls >= 0),
    revenue bigint NOT NULL DEFAULT 0 CHECK (revenue >= 0),
    payers bigint NOT NULL DEFAULT 0 CHECK (payers >= 0),
    PRIMARY KEY (endpoint_id, span)
  ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX statistics_windows_oldest ON statistics_windows (span, oldest) WHERE oldest IS NOT NULL`
  yield* sql`CREATE TABLE statistics_buckets (
    endpoint_id uuid NOT NULL,
    span text NOT NULL,
    at timestamptz NOT NULL,
    calls bigint NOT NULL,
    revenue bigint NOT NULL,
    PRIMARY KEY (endpoint_id, span, at)
  ) WITH (fillfactor = 70)`
  // What each bucket of a sliding window brought in, to be taken off when the bucket leaves. The key is a payer, a bin of
  // latencies, or a reason of failures.
  yield* sql`CREATE TABLE statistics_cells (
    endpoint_id uuid NOT NULL,
    span text NOT NULL,
    at timestamptz NOT NULL,
    kind text NOT NULL CHECK (kind IN ('payer', 'latency', 'failure')),
    key text COLLATE "C" NOT NULL,
    count bigint NOT NULL,
    amount bigint NOT NULL,
    PRIMARY KEY (endpoint_id, span, at, kind, key)
  ) WITH (fillfactor = 70)`
  // The sums over the cells that are inside a window; of `all` over everything.
  yield* sql`CREATE TABLE statistics_sums (
    endpoint_id uuid NOT NULL,
    span text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('payer', 'latency', 'failure')),
    key text COLLATE "C" NOT NULL,
    count bigint NOT NULL CHECK (count > 0),
    amount bigint NOT NULL CHECK (amount >= 0),
    PRIMARY KEY (endpoint_id, span, kind, key)
  ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX statistics_sums_top ON statistics_sums (endpoint_id, span, amount DESC, count DESC, key)
    WHERE kind = 'payer'`
})
