import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Agents, their keys, and the credentials of agents and portals. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // A deleted agent stays as a row: what it did and the wallet it has name it.
  yield* sql`CREATE TABLE agents (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants,
    account_id uuid NOT NULL REFERENCES accounts,
    wallet_id uuid NOT NULL UNIQUE REFERENCES wallets DEFERRABLE INITIALLY DEFERRED,
    name text NOT NULL,
    description text,
    skills text[] NOT NULL,
    metadata jsonb NOT NULL,
    status text NOT NULL CHECK (status IN ('active', 'suspended', 'deleted')),
    suspended_reason text CHECK (suspended_reason IS NULL OR status = 'suspended'),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  )`
  yield* sql`CREATE INDEX agents_tenant ON agents (tenant_id, id) WHERE status <> 'deleted'`
  yield* sql`CREATE INDEX agents_account ON agents (account_id, id)`
  // A key that was replaced does not come back: what was once signed with it would count again.
  yield* sql`CREATE TABLE agent_auth_keys (
    id uuid PRIMARY KEY,
    agent_id uuid NOT NULL REFERENCES agents,
    public_key bytea NOT NULL CHECK (length(public_key) = 32),
    status text NOT NULL CHECK (status IN ('active', 'rotated', 'revoked')),
    created_at timestamptz NOT NULL,
    ended_at timestamptz,
    CHECK ((status = 'active') = (ended_at IS NULL)),
    CONSTRAINT agent_auth_keys_once UNIQUE (agent_id, public_key)
  )`
  // One key at a time proves who an agent is.
  yield* sql`CREATE UNIQUE INDEX agent_auth_keys_active ON agent_auth_keys (agent_id) WHERE status = 'active'`
  // A challenge is answered once, whatever the number of processes.
  yield* sql`CREATE TABLE agent_challenges (
    nonce uuid PRIMARY KEY,
    expires_at timestamptz NOT NULL
  )`
  yield* sql`CREATE INDEX agent_challenges_ended ON agent_challenges (expires_at)`
  yield* sql`ALTER TABLE credentials DROP CONSTRAINT credentials_kind_check,
    ADD CONSTRAINT credentials_kind_check
      CHECK (kind IN ('api_key', 'scanner_key', 'agent_token', 'session_token', 'portal_token')),
    ADD COLUMN agent_id uuid REFERENCES agents,
    ADD COLUMN auth_key_id uuid REFERENCES agent_auth_keys,
    ADD COLUMN account_id uuid REFERENCES accounts,
    ADD COLUMN expires_at timestamptz,
    ADD CONSTRAINT credentials_holder CHECK ((kind IN ('agent_token', 'session_token')) = (agent_id IS NOT NULL)),
    ADD CONSTRAINT credentials_session CHECK ((kind = 'session_token') = (auth_key_id IS NOT NULL)),
    ADD CONSTRAINT credentials_customer CHECK ((kind = 'portal_token') = (account_id IS NOT NULL)),
    ADD CONSTRAINT credentials_ends CHECK (kind NOT IN ('session_token', 'portal_token') OR expires_at IS NOT NULL)`
  yield* sql`CREATE INDEX credentials_agent ON credentials (agent_id, id) WHERE agent_id IS NOT NULL`
  yield* sql`CREATE INDEX credentials_ended ON credentials (kind, expires_at) WHERE expires_at IS NOT NULL`
})
