import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Batches of transfers. What became of the items is in their transfers. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A transfer that an item's key had made before belongs to whoever made it: only here it says that the item stands for it.
  yield* sql`CREATE TABLE batches (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    total smallint NOT NULL CHECK (total BETWEEN 1 AND 1000),
    completed smallint NOT NULL,
    failed smallint NOT NULL,
    replayed jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    CHECK (completed >= 0 AND failed >= 0 AND completed + failed = total)
  )`
})
