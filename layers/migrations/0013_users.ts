import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Sessions of users, and one user for each address in whatever case. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE users SET email = lower(email) WHERE email <> lower(email)`
  yield* sql`CREATE UNIQUE INDEX users_email ON users (lower(email))`
  yield* sql`CREATE INDEX users_tenant ON users (tenant_id, id)`
  // Nothing secret is kept: a refresh token is sealed, and the generation says which one of its session is the latest.
  yield* sql`CREATE TABLE user_sessions (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    generation integer NOT NULL CHECK (generation >= 0),
    user_agent text,
    created_at timestamptz NOT NULL,
    refreshed_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
  )`
  yield* sql`CREATE INDEX user_sessions_user ON user_sessions (user_id, id)`
  yield* sql`CREATE INDEX user_sessions_expiry ON user_sessions (expires_at)`
})
