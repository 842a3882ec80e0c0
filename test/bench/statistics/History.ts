import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Endpoint } from "#domain/Endpoint.ts"
import { toTypeId, type WalletId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import { bucketWidth, isSliding, latencyBin, StatisticsWindow, windowStart } from "#domain/Statistics.ts"
import { newUuid } from "#services/NewId.ts"

/** Whose calls are made up. */
export interface Shop {
  readonly seller: Principal
  readonly till: WalletId
  readonly endpoint: Endpoint
}

/** No origin takes longer here. */
const slowest = 2_100

/** Tables of the payers, by their place, and of the bins that milliseconds are counted in. What statements show of the payers. */
export const prepare = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE bench_payers (place int PRIMARY KEY, id uuid NOT NULL UNIQUE, shown text NOT NULL)`
  const payers = Array.from({ length: count }, newUuid)
  const shown = payers.map((payer) => toTypeId("wal", payer))
  for (let from = 0; from < count; from += 10_000) {
    yield* sql`INSERT INTO bench_payers SELECT ${from} + place, id, shown
      FROM unnest(${payers.slice(from, from + 10_000)}::uuid[], ${shown.slice(from, from + 10_000)}::text[])
        WITH ORDINALITY AS one (id, shown, place)`
  }
  const bins = Array.from({ length: slowest }, (_, millis) => latencyBin(millis))
  yield* sql`CREATE TABLE bench_bins AS
    SELECT (place - 1)::int AS ms, bin::text FROM unnest(${bins}::int[]) WITH ORDINALITY AS one (bin, place)`
  return shown
})

/**
 * Payments and their events from the `from`th to before the `to`th, of `all` over the last thirty days: a tenth of them failed.
 * Payers come by chance, some more often than others; time goes up to now, where it is thickest: every window has many.
 */
export const append = Effect.fnUntraced(function* (
  { endpoint, seller, till }: Shop,
  {
    all,
    from,
    payers,
    to
  }: { readonly from: number; readonly to: number; readonly all: number; readonly payers: number }
) {
  const sql = yield* SqlClient.SqlClient
  const step = 100_000
  for (let first = from; first < to; first += step) {
    const last = Math.min(first + step, to) - 1
    yield* sql`WITH calls AS MATERIALIZED (
        SELECT n, gen_random_uuid() AS id, 1 + floor(power(random(), 2) * ${payers})::int AS place,
          now() - interval '30 days' * power(1 - n::float8 / ${all}, 4) AS at, n % 10 = 9 AS failed,
          (5 + 40 * random() + 2000 * power(random(), 20))::int AS ms
        FROM generate_series(${first}::bigint, ${last}::bigint) AS n
      ), called AS MATERIALIZED (
        SELECT c.*, p.id AS payer_id, p.shown FROM calls c JOIN bench_payers p USING (place)
      ), paid AS (
        INSERT INTO payments (id, tenant_id, endpoint_id, protocol, rail, payer_id, payee_wallet_id, method, currency, network,
          price, amount, charged, state, attempt, proof_expires_at, origin_status, origin_ms, failure, created_at, completed_at)
        SELECT id, ${seller.tenant_id}, ${endpoint.id}, 'native', 'ledger', payer_id, ${till}, 'GET', 'USDC',
          'solana-devnet', '{"base":"10000","tiers":[]}', 10000, CASE WHEN failed THEN NULL ELSE 10000 END,
          CASE WHEN failed THEN 'expired' ELSE 'captured' END, 1, at, CASE WHEN failed THEN 503 ELSE 200 END, ms,
          CASE WHEN failed THEN 'origin_status' END, at, CASE WHEN failed THEN NULL ELSE at END
        FROM called
      )
      INSERT INTO events (seq, id, tenant_id, type, data, created_at)
      SELECT n + 1, gen_random_uuid(), ${seller.tenant_id},
        CASE WHEN failed THEN 'x402.payment.failed' ELSE 'x402.payment.completed' END,
        json_build_object('payment', json_build_object('id', id, 'endpoint_id', ${endpoint.id}::text,
          'payer_wallet_id', shown, 'amount', '0.01', 'charged', CASE WHEN failed THEN NULL ELSE '0.01' END,
          'currency', 'USDC', 'network', 'solana-devnet', 'method', 'GET', 'origin_ms', ms,
          'failure', CASE WHEN failed THEN 'origin_status' END, 'created_at', at)), at
      FROM called`
  }
  yield* sql`UPDATE ledger_head SET event_seq = ${to}`
})

/**
 * Counts all payments that are there, in a few statements: what the follower of the log comes to in as many transactions as there are
 * thousands of them.
 */
export const countAtOnce = Effect.fnUntraced(function* ({ endpoint }: Shop) {
  const sql = yield* SqlClient.SqlClient
  const now = (yield* DateTime.now).epochMilliseconds
  yield* sql`TRUNCATE statistics_windows, statistics_buckets, statistics_cells, statistics_sums`
  yield* sql`ANALYZE payments`
  for (const span of StatisticsWindow.literals) {
    const of = sql`${endpoint.id}::uuid, ${span}::text`
    const width = bucketWidth(span) / 1000
    const since = DateTime.toDate(DateTime.makeUnsafe(isSliding(span) ? windowStart(span, now) : 0))
    const ends = sql`FROM payments p JOIN bench_payers b ON b.id = p.payer_id JOIN bench_bins l ON l.ms = p.origin_ms,
      LATERAL (SELECT date_bin(make_interval(secs => ${width}), p.created_at, 'epoch') AS at) AS bucket,
      LATERAL (VALUES ('payer', CASE WHEN p.failure IS NULL THEN b.shown END, p.charged), ('failure', p.failure, 0), ('latency', l.bin, 0))
        AS counted (kind, key, micros)
      WHERE p.created_at >= ${since} AND key IS NOT NULL`
    yield* sql`INSERT INTO statistics_buckets
      SELECT ${of}, date_bin(make_interval(secs => ${width}), created_at, 'epoch'), count(*), sum(charged) FROM payments
      WHERE created_at >= ${since} AND failure IS NULL GROUP BY 3`
    if (isSliding(span)) {
      yield* sql`INSERT INTO statistics_cells SELECT ${of}, at, kind, key, count(*), sum(micros) ${ends}
        GROUP BY at, kind, key ORDER BY at, kind, key COLLATE "C"`
      yield* sql`INSERT INTO statistics_sums SELECT ${of}, kind, key, sum(count), sum(amount) FROM statistics_cells
        WHERE endpoint_id = ${endpoint.id} AND span = ${span} GROUP BY kind, key`
    } else {
      yield* sql`INSERT INTO statistics_sums SELECT ${of}, kind, key, count(*), sum(micros) ${ends} GROUP BY kind, key`
    }
    yield* sql`INSERT INTO statistics_windows (endpoint_id, span, since, oldest, calls, revenue, payers)
      SELECT ${of}, ${since}, (SELECT min(at) FROM statistics_cells WHERE endpoint_id = ${endpoint.id} AND span = ${span}),
        coalesce(sum(calls), 0), coalesce(sum(revenue), 0),
        (SELECT count(*) FROM statistics_sums WHERE endpoint_id = ${endpoint.id} AND span = ${span} AND kind = 'payer')
      FROM statistics_buckets WHERE endpoint_id = ${endpoint.id} AND span = ${span}`
  }
  yield* sql`UPDATE statistics_cursor SET seq = (SELECT event_seq FROM ledger_head)`
})
