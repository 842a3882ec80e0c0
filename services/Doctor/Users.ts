import type { SqlClient } from "effect/sql"
import { sessionLife } from "#domain/UserSession.ts"
import type { Assurance } from "./Assurance.ts"

/** What holds of users, their sessions, and the views given to customers. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => [
  {
    promise: "a user's address is kept in lower case and is that user's alone",
    query: sql`SELECT min(id::text) AS user, count(*) AS users FROM users GROUP BY lower(email)
      HAVING count(*) > 1 OR min(email) <> lower(min(email)) LIMIT 10`
  },
  {
    promise: "a session belongs to a user, and no session lasts longer than a session may",
    query: sql`SELECT s.id, s.user_id, s.created_at, s.expires_at FROM user_sessions s LEFT JOIN users u ON u.id = s.user_id
      WHERE u.id IS NULL
        OR s.expires_at > s.created_at + make_interval(secs => ${sessionLife.session}) LIMIT 10`
  },
  {
    promise: "a portal token shows an account of the tenant that gave it, and ends within a day",
    query: sql`SELECT c.id, c.tenant_id, c.account_id FROM credentials c LEFT JOIN accounts a ON a.id = c.account_id
      WHERE c.kind = 'portal_token' AND (a.tenant_id IS DISTINCT FROM c.tenant_id
        OR c.expires_at > c.created_at + interval '24 hours' + interval '1 minute') LIMIT 10`
  }
]
