import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What agents were told, and which of them are connected. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Facts name wallets and agents as the wire does. Only what belongs to agents is found by that name, so nothing else pays for it.
  yield* sql`CREATE OR REPLACE FUNCTION type_id(prefix text, id uuid) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT prefix || '_' || string_agg(
      substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits FROM 1 + 5 * place FOR 5)::int + 1, 1), '' ORDER BY place)
    FROM (SELECT B'00' || ('x' || replace(id::text, '-', ''))::bit(128) AS bits) b, generate_series(0, 25) AS place
  $$`
  yield* sql`CREATE INDEX wallets_of_agents ON wallets (type_id('wal', id)) WHERE owner_type = 'agent'`
  yield* sql`CREATE INDEX agents_on_wire ON agents (type_id('agt', id))`
  // Which facts concern which agent: the last hundred, and no older than five minutes but for the latest.
  yield* sql`CREATE TABLE agent_events (
    agent_id uuid NOT NULL,
    seq bigint NOT NULL,
    event_id uuid NOT NULL,
    wallet_id uuid,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (agent_id, seq)
  )`
  yield* sql`CREATE INDEX agent_events_seq ON agent_events (seq)`
  // Who is connected, as far as anybody knows: a process that dies stops renewing. Of two connections of one session the later
  // \`fence\` is the one.
  yield* sql`CREATE SEQUENCE agent_connection_fences`
  yield* sql`CREATE TABLE agent_connections (
    session_id uuid PRIMARY KEY,
    agent_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    auth_key_id uuid NOT NULL,
    fence bigint NOT NULL,
    node uuid NOT NULL,
    connected_at timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    last_event_id uuid
  ) WITH (fillfactor = 50)`
  yield* sql`CREATE INDEX agent_connections_agent ON agent_connections (agent_id)`
  // Whose row is locked changes the connections of that agent; \`connected_since\` is there while the log says that it is connected.
  yield* sql`CREATE TABLE agent_presence (
    agent_id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    connected_since timestamptz,
    last_seen_at timestamptz NOT NULL,
    last_event_id uuid
  ) WITH (fillfactor = 50)`
})
