import type { SqlClient } from "effect/sql"
import type { Assurance } from "./Assurance.ts"

/** What holds of the event channels of agents. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => [
  {
    promise: "an agent is told facts of its own tenant only, and of no wallet but its own",
    query: sql`SELECT a.agent_id, a.seq FROM agent_events a JOIN agents g ON g.id = a.agent_id
      JOIN events e ON e.log = 1 AND e.seq = a.seq LEFT JOIN wallets w ON w.id = a.wallet_id
      WHERE e.id <> a.event_id OR e.tenant_id <> g.tenant_id OR w.owner_id <> a.agent_id LIMIT 10`
  },
  {
    promise: "an agent is told nothing of what is not passed yet",
    query: sql`SELECT a.agent_id, a.seq FROM agent_events a JOIN followers f ON f.name = 'agent_channel'
      WHERE a.seq > f.seq LIMIT 10`
  },
  {
    promise: "an agent is present while it has a connection, and not otherwise",
    query: sql`SELECT coalesce(p.agent_id, c.agent_id) AS agent_id, p.connected_since, c.connections
      FROM agent_presence p FULL JOIN (
        SELECT agent_id, count(*) AS connections FROM agent_connections GROUP BY agent_id
      ) c ON c.agent_id = p.agent_id
      WHERE (p.connected_since IS NULL) <> (c.connections IS NULL) LIMIT 10`
  },
  {
    promise: "what the log says of an agent's coming and going ends with how it is",
    query: sql`SELECT p.agent_id, p.connected_since, l.balance
      FROM agent_presence p LEFT JOIN (
        SELECT data->'agent'->>'id' AS shown, sum(CASE type WHEN 'agent.connected' THEN 1 ELSE -1 END) AS balance
        FROM events WHERE log = 1 AND type IN ('agent.connected', 'agent.disconnected') GROUP BY 1
      ) l ON l.shown = type_id('agt', p.agent_id)
      WHERE coalesce(l.balance, 0) <> CASE WHEN p.connected_since IS NULL THEN 0 ELSE 1 END LIMIT 10`
  }
]
