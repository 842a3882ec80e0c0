import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The corpus of scans, what is known of the merchants, and what is looked at now. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What is under way: one thing of a kind for a domain, held by one process at a time. What ended is no row here.
  yield* sql`CREATE TABLE scanner_work (
    kind text NOT NULL CHECK (kind IN ('scan', 'test')),
    domain text NOT NULL,
    variant text NOT NULL,
    id uuid NOT NULL UNIQUE,
    status text NOT NULL CHECK (status IN ('pending', 'scanning')),
    holder uuid NOT NULL,
    held_until timestamptz NOT NULL,
    merchant_name text,
    merchant_category text,
    country_code text,
    region text,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (kind, domain)
  ) WITH (fillfactor = 50)`
  yield* sql`CREATE INDEX scanner_work_held ON scanner_work (held_until)`

  // A scan that ended never changes. Places have no gaps and are in the order of time: a page and an age are ranges of them.
  yield* sql`CREATE TABLE merchant_scans (
    place bigint NOT NULL,
    id uuid NOT NULL UNIQUE,
    domain text NOT NULL,
    merchant_name text,
    merchant_category text,
    country_code text,
    region text,
    status text NOT NULL CHECK (status IN ('completed', 'failed')),
    readiness_score smallint CHECK (readiness_score BETWEEN 0 AND 100),
    scanned_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    findings json NOT NULL,
    CONSTRAINT merchant_scans_place PRIMARY KEY (place) INCLUDE (merchant_category, region, status, readiness_score),
    CHECK (status = 'completed' OR readiness_score IS NULL)
  )`
  yield* sql`CREATE INDEX merchant_scans_domain ON merchant_scans (domain, place)`
  yield* sql`CREATE INDEX merchant_scans_age ON merchant_scans (scanned_at, place)`
  yield* sql`CREATE INDEX merchant_scans_category ON merchant_scans (merchant_category, region, readiness_score, place)`
  yield* sql`CREATE INDEX merchant_scans_region ON merchant_scans (region, readiness_score, place)`
  yield* sql`CREATE INDEX merchant_scans_score ON merchant_scans (readiness_score, place)`
  yield* sql`CREATE INDEX merchant_scans_failed ON merchant_scans (place) WHERE status = 'failed'`

  // The last place that was given, when, and how many merchants there are. Whoever ends a scan holds this row until the commit.
  yield* sql`CREATE TABLE merchant_scan_head (
    log smallint PRIMARY KEY DEFAULT 1 CHECK (log = 1),
    place bigint NOT NULL DEFAULT 0,
    scanned_at timestamptz NOT NULL DEFAULT '-infinity',
    domains bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 10)`
  yield* sql`INSERT INTO merchant_scan_head DEFAULT VALUES`

  // Stretches of many places, counted once: they never change either. '' stands for none; upto[n + 1] have a score of n at most.
  yield* sql`CREATE TABLE merchant_scan_blocks (
    last bigint NOT NULL,
    first bigint NOT NULL CHECK (first <= last),
    merchant_category text NOT NULL,
    region text NOT NULL,
    status text NOT NULL,
    scans integer NOT NULL CHECK (scans > 0),
    scored integer NOT NULL,
    score_sum bigint NOT NULL,
    upto integer[] NOT NULL CHECK (array_length(upto, 1) = 101),
    PRIMARY KEY (last, merchant_category, region, status) INCLUDE (first, scans, scored, score_sum)
  )`

  // The newest word on each merchant, and which protocols it was found to speak when last it could be looked at.
  yield* sql`CREATE TABLE merchants (
    domain text PRIMARY KEY,
    merchant_name text,
    merchant_category text,
    country_code text,
    region text,
    protocols text[] NOT NULL DEFAULT '{}',
    updated_at timestamptz NOT NULL
  ) WITH (fillfactor = 80)`
  yield* sql`CREATE TABLE merchant_protocols (
    protocol text PRIMARY KEY,
    domains bigint NOT NULL CHECK (domains >= 0)
  ) WITH (fillfactor = 50)`

  // Whom the end of a scan or a test was told, once each.
  yield* sql`CREATE TABLE scanner_askers (
    record_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    PRIMARY KEY (record_id, tenant_id)
  )`
})
