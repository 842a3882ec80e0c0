import type { SqlClient } from "effect/sql"
import type { Assurance } from "./Assurance.ts"

/** What holds of agents, their keys and their credentials. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => [
  {
    promise: "an agent has a wallet that it owns, and an account of its own tenant",
    query: sql`SELECT g.id, g.wallet_id, w.owner_type, w.owner_id FROM agents g
      LEFT JOIN wallets w ON w.id = g.wallet_id AND w.tenant_id = g.tenant_id
      LEFT JOIN accounts a ON a.id = g.account_id AND a.tenant_id = g.tenant_id
      WHERE w.owner_type IS DISTINCT FROM 'agent' OR w.owner_id <> g.id OR a.id IS NULL LIMIT 10`
  },
  {
    promise: "an agent has one token, and one active key at most; a deleted one has none of them and no session",
    query: sql`SELECT g.id, g.status, c.tokens, c.sessions, k.active FROM agents g
      LEFT JOIN (
        SELECT agent_id, count(*) FILTER (WHERE kind = 'agent_token') AS tokens,
          count(*) FILTER (WHERE kind = 'session_token') AS sessions
        FROM credentials WHERE agent_id IS NOT NULL AND revoked_at IS NULL GROUP BY agent_id
      ) c ON c.agent_id = g.id
      LEFT JOIN (
        SELECT agent_id, count(*) AS active FROM agent_auth_keys WHERE status = 'active' GROUP BY agent_id
      ) k ON k.agent_id = g.id
      WHERE coalesce(c.tokens, 0) <> CASE g.status WHEN 'deleted' THEN 0 ELSE 1 END OR k.active > 1
        OR (g.status = 'deleted' AND (c.sessions > 0 OR k.active > 0)) LIMIT 10`
  },
  {
    promise:
      "a credential of an agent belongs to the agent's tenant, and a session that lasts to the agent's active key",
    query: sql`SELECT c.id, c.agent_id, c.auth_key_id, k.status FROM credentials c
      LEFT JOIN agents g ON g.id = c.agent_id LEFT JOIN agent_auth_keys k ON k.id = c.auth_key_id
      WHERE c.agent_id IS NOT NULL AND (c.tenant_id IS DISTINCT FROM g.tenant_id OR c.kind = 'session_token'
        AND (k.agent_id IS DISTINCT FROM c.agent_id OR c.revoked_at IS NULL AND k.status <> 'active')) LIMIT 10`
  },
  {
    promise: "every key that was replaced by proof has its event, once",
    query: sql`SELECT k.tenant_id, e.tenant_id AS told_to, k.keys, e.events FROM (
        SELECT g.tenant_id, count(*) AS keys FROM agent_auth_keys k JOIN agents g ON g.id = k.agent_id
        WHERE k.status = 'rotated' GROUP BY g.tenant_id
      ) k FULL JOIN (
        SELECT tenant_id, count(*) AS events FROM events WHERE type = 'agent.key_rotated' GROUP BY tenant_id
      ) e ON e.tenant_id = k.tenant_id
      WHERE coalesce(k.keys, 0) <> coalesce(e.events, 0) LIMIT 10`
  }
]
