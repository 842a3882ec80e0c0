import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Synthetic shopping, as it ended. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Of one domain one runs at a time, so that their numbers are in the order of their ends.
  yield* sql`CREATE TABLE shopping_tests (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL UNIQUE,
    domain text NOT NULL,
    test_type text NOT NULL CHECK (test_type IN ('browse', 'search', 'add_to_cart', 'checkout', 'full_flow')),
    outcome json NOT NULL,
    projection json,
    tested_at timestamptz NOT NULL
  )`
  yield* sql`CREATE INDEX shopping_tests_domain ON shopping_tests (domain, seq)`
})
