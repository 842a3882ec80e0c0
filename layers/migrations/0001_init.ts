import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Tenants and credentials, the ledger, pay-per-call endpoints and payments. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE tenants (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    environment text NOT NULL CHECK (environment IN ('sandbox', 'live')),
    created_at timestamptz NOT NULL
  )`
  yield* sql`CREATE TABLE accounts (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants,
    name text NOT NULL,
    type text NOT NULL CHECK (type IN ('business', 'person')),
    email text,
    country text,
    metadata jsonb NOT NULL,
    is_default boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  )`
  yield* sql`CREATE INDEX accounts_tenant ON accounts (tenant_id, id)`
  yield* sql`CREATE UNIQUE INDEX accounts_default ON accounts (tenant_id) WHERE is_default`
  yield* sql`CREATE TABLE users (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants,
    email text NOT NULL UNIQUE,
    password_hash text NOT NULL,
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
    created_at timestamptz NOT NULL
  )`
  yield* sql`CREATE TABLE credentials (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants,
    kind text NOT NULL CHECK (kind IN ('api_key', 'scanner_key')),
    name text NOT NULL,
    scopes text[] NOT NULL,
    hash bytea NOT NULL UNIQUE,
    prefix text NOT NULL,
    last_four text NOT NULL,
    created_at timestamptz NOT NULL,
    revoked_at timestamptz
  )`
  yield* sql`CREATE INDEX credentials_tenant ON credentials (tenant_id, kind, id)`
  yield* sql`CREATE TABLE secrets (
    name text PRIMARY KEY,
    value bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  )`

  // One row per log. Its lock makes groups of movements and appended events serial across all processes, which makes
  // both sequences gapless and in commit order: a follower that reads `seq > last` never misses a late commit.
  yield* sql`CREATE TABLE ledger_head (
    log smallint PRIMARY KEY,
    movement_seq bigint NOT NULL,
    event_seq bigint NOT NULL
  ) WITH (fillfactor = 10)`
  yield* sql`INSERT INTO ledger_head VALUES (1, 0, 0)`
  // No index on a balance, and room on the page: balance updates stay heap-only.
  yield* sql`CREATE TABLE ledger_accounts (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    log smallint NOT NULL DEFAULT 1,
    id uuid NOT NULL UNIQUE,
    purpose text NOT NULL CHECK (purpose IN ('wallet', 'issuance', 'fees', 'fx', 'scanner_credits')),
    currency text NOT NULL,
    posted bigint NOT NULL DEFAULT 0,
    held bigint NOT NULL DEFAULT 0,
    may_overdraw boolean NOT NULL DEFAULT false,
    frozen boolean NOT NULL DEFAULT false,
    CONSTRAINT held_is_not_negative CHECK (held >= 0),
    CONSTRAINT available_is_not_negative CHECK (may_overdraw OR posted - held >= 0)
  ) WITH (fillfactor = 50)`
  yield* sql`INSERT INTO ledger_accounts (id, purpose, currency, may_overdraw)
    SELECT ('00000000-0000-8000-8000-0000000' || purpose.digit || currency.digit || '000')::uuid,
      purpose.name, currency.name, purpose.name = 'issuance'
    FROM (VALUES ('issuance', '1'), ('fees', '2'), ('fx', '3')) AS purpose (name, digit),
      (VALUES ('USDC', '1'), ('EURC', '2'), ('CREDIT', '9')) AS currency (name, digit)
    ORDER BY purpose.digit, currency.digit`
  yield* sql`CREATE TABLE movements (
    log smallint NOT NULL DEFAULT 1,
    seq bigint NOT NULL,
    command_id uuid NOT NULL,
    step smallint NOT NULL,
    kind text NOT NULL CHECK (kind IN ('transfer', 'hold', 'capture', 'release', 'count')),
    debit bigint NOT NULL,
    credit bigint NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0 OR (amount = 0 AND kind = 'count')),
    debit_posted bigint NOT NULL,
    debit_held bigint NOT NULL,
    credit_posted bigint NOT NULL,
    hold_id uuid,
    code text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (log, seq),
    CHECK (debit <> credit)
  )`
  yield* sql`CREATE UNIQUE INDEX movements_command ON movements (command_id, step)`
  yield* sql`CREATE INDEX movements_debit ON movements (debit, seq) WHERE kind IN ('transfer', 'capture')`
  yield* sql`CREATE INDEX movements_credit ON movements (credit, seq) WHERE kind IN ('transfer', 'capture')`
  yield* sql`CREATE TABLE holds (
    id uuid PRIMARY KEY,
    log smallint NOT NULL DEFAULT 1,
    debit bigint NOT NULL,
    credit bigint NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    captured bigint NOT NULL DEFAULT 0,
    state text NOT NULL CHECK (state IN ('open', 'captured', 'released', 'expired')),
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    CHECK (captured BETWEEN 0 AND amount),
    CHECK ((state = 'captured') = (captured > 0))
  ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX holds_open ON holds (expires_at) WHERE state = 'open'`
  // Counts and sums that must be exact: per endpoint (subject = nil uuid) and per endpoint and payer.
  yield* sql`CREATE TABLE tallies (
    log smallint NOT NULL DEFAULT 1,
    scope uuid NOT NULL,
    subject uuid NOT NULL,
    count bigint NOT NULL,
    amount bigint NOT NULL,
    PRIMARY KEY (log, scope, subject)
  ) WITH (fillfactor = 70)`
  yield* sql`CREATE TABLE idempotency_keys (
    tenant_id uuid NOT NULL,
    operation text NOT NULL,
    key text NOT NULL,
    fingerprint text NOT NULL,
    command_id uuid NOT NULL,
    result jsonb NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, operation, key)
  )`
  yield* sql`CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at)`
  yield* sql`CREATE TABLE events (
    log smallint NOT NULL DEFAULT 1,
    seq bigint NOT NULL,
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    type text NOT NULL,
    data jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (log, seq)
  )`
  yield* sql`CREATE INDEX events_tenant ON events (tenant_id, seq)`
  yield* sql`CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$`
  for (const table of ["movements", "events"]) {
    yield* sql`CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${sql(table)}
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`
  }

  yield* sql`CREATE TABLE wallets (
    id uuid PRIMARY KEY REFERENCES ledger_accounts (id),
    tenant_id uuid NOT NULL REFERENCES tenants,
    owner_type text NOT NULL CHECK (owner_type IN ('account', 'agent')),
    owner_id uuid NOT NULL,
    currency text NOT NULL,
    network text NOT NULL,
    address text NOT NULL,
    name text,
    metadata jsonb NOT NULL,
    frozen_reason text,
    frozen_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT wallets_address UNIQUE (network, currency, address)
  )`
  yield* sql`CREATE INDEX wallets_tenant ON wallets (tenant_id, id)`
  yield* sql`CREATE INDEX wallets_owner ON wallets (owner_id, currency, network)`
  yield* sql`CREATE TABLE endpoints (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants,
    account_id uuid NOT NULL REFERENCES accounts,
    wallet_id uuid NOT NULL REFERENCES wallets,
    name text NOT NULL,
    description text,
    path text NOT NULL,
    method text NOT NULL,
    origin_url text,
    base_price bigint NOT NULL CHECK (base_price > 100),
    currency text NOT NULL,
    network text NOT NULL,
    asset_address text,
    status text NOT NULL CHECK (status IN ('active', 'paused', 'disabled')),
    volume_discounts jsonb NOT NULL,
    webhook_url text,
    timeout_ms integer NOT NULL,
    rate_limit integer,
    charge_on text NOT NULL CHECK (charge_on IN ('success', 'response')),
    schemes text[] NOT NULL CHECK (schemes <> '{}' AND schemes <@ ARRAY['exact', 'upto']),
    mpp boolean NOT NULL,
    forward_headers jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  )`
  yield* sql`CREATE INDEX endpoints_tenant ON endpoints (tenant_id, id)`
  // What anybody may find: read in order, and counted, without touching a row.
  yield* sql`CREATE INDEX endpoints_public ON endpoints (id) WHERE status = 'active' AND origin_url IS NOT NULL`
  yield* sql`CREATE TABLE payments (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    endpoint_id uuid NOT NULL REFERENCES endpoints,
    protocol text NOT NULL CHECK (protocol IN ('native', 'x402v2', 'x402v1', 'mpp')),
    rail text NOT NULL CHECK (rail IN ('ledger', 'chain')),
    reservation uuid,
    payer_id uuid NOT NULL,
    payer_address text,
    payee_wallet_id uuid NOT NULL,
    method text NOT NULL,
    currency text NOT NULL,
    network text NOT NULL,
    price jsonb NOT NULL,
    amount bigint NOT NULL CHECK (amount >= 0),
    charged bigint,
    state text NOT NULL CHECK (state IN ('authorized', 'in_flight', 'settling', 'captured', 'released', 'expired')),
    hold_id uuid,
    attempt smallint NOT NULL,
    lease_until timestamptz,
    proof_expires_at timestamptz NOT NULL,
    origin_status smallint,
    origin_ms integer,
    transaction text,
    failure text,
    request_fingerprint text,
    delivered_at timestamptz,
    created_at timestamptz NOT NULL,
    completed_at timestamptz,
    CHECK (charged IS NULL OR charged BETWEEN 0 AND amount),
    CHECK ((state = 'captured') = (charged IS NOT NULL)),
    CHECK ((protocol = 'native') = (reservation IS NULL))
  ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX payments_endpoint ON payments (endpoint_id, id)`
  yield* sql`CREATE UNIQUE INDEX payments_reservation ON payments (reservation) WHERE reservation IS NOT NULL`
  yield* sql`CREATE INDEX payments_leased ON payments (lease_until) WHERE state = 'in_flight'`
  yield* sql`CREATE INDEX payments_settling ON payments (lease_until) WHERE state = 'settling'`
  yield* sql`CREATE INDEX payments_unused ON payments (proof_expires_at) WHERE state IN ('authorized', 'released')`
  // The answer of a captured call whose delivery was not seen to finish; small answers only, dropped with the proof.
  yield* sql`CREATE TABLE payment_answers (
    payment_id uuid PRIMARY KEY,
    status smallint NOT NULL,
    headers jsonb NOT NULL,
    body bytea NOT NULL,
    expires_at timestamptz NOT NULL
  )`
  yield* sql`CREATE INDEX payment_answers_expiry ON payment_answers (expires_at)`
})
