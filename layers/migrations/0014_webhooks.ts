import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Subscriptions to events, and what was sent. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Secrets are sealed: services/Webhooks/SigningSecrets.ts. Facts up to `since` are not for the subscription.
  yield* sql`CREATE TABLE webhooks (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants,
    url text NOT NULL,
    events text[] NOT NULL CHECK (events <> '{}'),
    description text,
    status text NOT NULL CHECK (status IN ('active', 'paused', 'disabled')),
    status_reason text CHECK (status_reason IN ('requested', 'failing', 'gone')),
    secret bytea NOT NULL,
    previous_secret bytea,
    previous_secret_until timestamptz,
    since bigint NOT NULL,
    failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
    failing_since timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CHECK ((status = 'active') = (status_reason IS NULL)),
    CHECK ((failures = 0) = (failing_since IS NULL)),
    CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL))
  ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX webhooks_tenant ON webhooks (tenant_id, id)`
  // One row per attempt: its id is on the wire, and no two attempts share one. The attempts of a chain share `chain_id`, the id of
  // the first. Those in the lane `again` (repetitions, replays of many) wait behind nobody's first attempts.
  yield* sql`CREATE TABLE webhook_deliveries (
    webhook_id uuid NOT NULL,
    id uuid NOT NULL,
    chain_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    cause text NOT NULL CHECK (cause IN ('event', 'test', 'replay')),
    event_id uuid NOT NULL,
    event_type text NOT NULL,
    event_seq bigint,
    event_data jsonb,
    event_at timestamptz,
    attempt smallint NOT NULL CHECK (attempt >= 1),
    again boolean NOT NULL,
    first_at timestamptz,
    due_at timestamptz NOT NULL,
    status text NOT NULL CHECK (status IN ('pending', 'sending', 'delivered', 'failed')),
    lease_until timestamptz,
    url text,
    sent_at timestamptz,
    duration_ms integer,
    response_status smallint,
    response_headers jsonb,
    response_body bytea,
    response_truncated boolean,
    failure text,
    next_retry_at timestamptz,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (webhook_id, id),
    CHECK ((event_seq IS NULL) = (event_data IS NOT NULL)),
    CHECK ((event_data IS NULL) = (event_at IS NULL)),
    CHECK ((status = 'sending') = (lease_until IS NOT NULL)),
    CHECK ((status = 'failed') = (failure IS NOT NULL)),
    CHECK (next_retry_at IS NULL OR status = 'failed')
  ) WITH (fillfactor = 70)`
  // Nothing that is finished is in an index that is polled.
  yield* sql`CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook_id, again, due_at, id)
    WHERE status = 'pending'`
  yield* sql`CREATE INDEX webhook_deliveries_sending ON webhook_deliveries (webhook_id, again) WHERE status = 'sending'`
  // What may be forgotten when there are many; the last failed attempt of a chain only when it is old.
  yield* sql`CREATE INDEX webhook_deliveries_passing ON webhook_deliveries (webhook_id, id)
    WHERE status = 'delivered' OR next_retry_at IS NOT NULL`
  yield* sql`CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (created_at)
    WHERE status = 'failed' AND next_retry_at IS NULL`
  // What is pending in a lane is due at \`ready_at\` or after it. A lane is blocked while as much is in flight as may be. Its lock
  // makes claims of a subscription one after the other, whatever the number of processes.
  yield* sql`CREATE TABLE webhook_lanes (
    webhook_id uuid NOT NULL,
    again boolean NOT NULL,
    ready_at timestamptz,
    blocked boolean NOT NULL DEFAULT false,
    finished integer NOT NULL DEFAULT 0,
    PRIMARY KEY (webhook_id, again)
  ) WITH (fillfactor = 50)`
  yield* sql`CREATE INDEX webhook_lanes_ready ON webhook_lanes (again, ready_at) WHERE ready_at IS NOT NULL`
  yield* sql`CREATE INDEX webhook_lanes_finished ON webhook_lanes (webhook_id) WHERE finished >= 100`
  yield* sql`CREATE FUNCTION new_uuid() RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
      PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1),
      'hex')::uuid $$`
  yield* sql`CREATE FUNCTION type_id(prefix text, id uuid) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT prefix || '_' || string_agg(
        substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits FROM n * 5 + 1 FOR 5)::bit(5)::int + 1, 1), '' ORDER BY n)
      FROM (SELECT B'00' || ('x' || replace(id::text, '-', ''))::bit(128) AS bits) AS one, generate_series(0, 25) AS n $$`
})
