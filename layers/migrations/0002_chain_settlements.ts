import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Settlements on chains, and the transactions of our own relayer. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE chain_settlements (
    id uuid PRIMARY KEY,
    payment_id uuid,
    "authorization" jsonb NOT NULL,
    network text NOT NULL,
    asset text NOT NULL,
    payer text NOT NULL,
    nonce text NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    state text NOT NULL CHECK (state IN ('prepared', 'submitting', 'pending', 'unknown', 'unresolved', 'confirmed', 'refused')),
    transaction text,
    reason text,
    attempts integer NOT NULL DEFAULT 0,
    due_at timestamptz,
    give_up_at timestamptz NOT NULL,
    booked_at timestamptz,
    created_at timestamptz NOT NULL,
    concluded_at timestamptz,
    CHECK (state <> 'confirmed' OR transaction IS NOT NULL),
    CHECK ((state = 'refused') = (reason IS NOT NULL)),
    CHECK ((state IN ('confirmed', 'refused')) = (concluded_at IS NOT NULL))
  ) WITH (fillfactor = 70)`
  // Signed money moves once: a second settlement of one authorisation exists only after the first was refused.
  yield* sql`CREATE UNIQUE INDEX chain_settlements_authorization ON chain_settlements (network, asset, payer, nonce)
    WHERE state <> 'refused'`
  yield* sql`CREATE INDEX chain_settlements_payment ON chain_settlements (payment_id) WHERE payment_id IS NOT NULL`
  yield* sql`CREATE INDEX chain_settlements_due ON chain_settlements (due_at)
    WHERE state IN ('prepared', 'submitting', 'pending', 'unknown')`
  yield* sql`CREATE INDEX chain_settlements_unbooked ON chain_settlements (due_at)
    WHERE state IN ('confirmed', 'refused') AND payment_id IS NOT NULL AND booked_at IS NULL`

  // One row per key of ours: its lock hands out nonces one by one, whatever the number of processes.
  yield* sql`CREATE TABLE chain_relayers (
    chain_id bigint NOT NULL,
    address text NOT NULL,
    next_nonce bigint NOT NULL,
    PRIMARY KEY (chain_id, address)
  )`
  // Written before it is sent, so whatever may be on the chain is known here. Same nonce twice: the later pays more.
  yield* sql`CREATE TABLE chain_transactions (
    hash text PRIMARY KEY,
    settlement_id uuid NOT NULL,
    chain_id bigint NOT NULL,
    relayer text NOT NULL,
    nonce bigint NOT NULL,
    raw text NOT NULL,
    gas bigint NOT NULL,
    max_fee bigint NOT NULL,
    tip bigint NOT NULL,
    from_block bigint NOT NULL,
    created_at timestamptz NOT NULL,
    dropped_at timestamptz
  )`
  yield* sql`CREATE INDEX chain_transactions_settlement ON chain_transactions (settlement_id)`
})
