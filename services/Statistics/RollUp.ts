import { DateTime, Effect, Schema, Semaphore } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { notForLong } from "../EventLog/Head.ts"
import { type Additions, additionsOf, Ended } from "./Counting.ts"

/** The most events counted in one transaction: what it keeps in memory and how long it holds its locks. */
export const batch = 1000n

/** Whether there are events that are not counted. */
export const isBehind = (sql: SqlClient.SqlClient) =>
  sql`EXISTS (SELECT FROM statistics_cursor c JOIN ledger_head h USING (log) WHERE c.log = 1 AND h.event_seq > c.seq)`

/**
 * Counts the event log, in its order and each event once: what is counted and how far commit together. Any number of processes
 * may count; the row of the cursor makes them take turns.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // One at a time from this process: the others would only hold connections while they wait for the row.
  const turn = yield* Semaphore.make(1)

  const Position = Schema.Struct({ seq: Schema.BigInt, head: Schema.BigInt })
  const position = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Position,
    execute: () =>
      sql`SELECT c.seq, h.event_seq AS head FROM statistics_cursor c JOIN ledger_head h USING (log) WHERE c.log = 1`
  })
  const take = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Position,
    // Nobody waits for the disk: what a crash of the database takes away of the counts it takes away of the cursor. Nor for a process
    // that stands still, because all who ask for statistics wait for the row.
    execute: () =>
      sql`SELECT c.seq, h.event_seq AS head, set_config('synchronous_commit', 'off', true), ${sql.literal(notForLong)}
        FROM statistics_cursor c JOIN ledger_head h USING (log) WHERE c.log = 1 FOR UPDATE OF c`
  })
  // The numbers of events have no gaps, so a range of them is known to be whole. Counted here, because there are far fewer different
  // ends than ends. As `jsonb` an end is taken apart once, as `json` it would be for each of its values.
  const endedIn = SqlSchema.findAll({
    Request: Schema.Struct({ after: Schema.BigInt, upTo: Schema.BigInt }),
    Result: Ended,
    execute: ({ after, upTo }) =>
      sql`WITH ends AS MATERIALIZED (
          SELECT p ->> 'endpoint_id' AS endpoint_id, date_bin('1 minute', created_at, 'epoch') AS minute,
            type = 'x402.payment.completed' AS done, coalesce(p ->> 'payer_wallet_id', p ->> 'payer_address', '') AS payer,
            coalesce(p ->> 'charged', '0') AS charged, coalesce(p ->> 'failure', '') AS failure,
            p ->> 'origin_ms' AS millis, count(*) AS count
          FROM events, LATERAL (SELECT data::jsonb -> 'payment' AS p OFFSET 0) AS parsed
          WHERE log = 1 AND seq > ${after} AND seq <= ${upTo}
            AND type IN ('x402.payment.completed', 'x402.payment.failed')
          GROUP BY 1, 2, 3, 4, 5, 6, 7
        )
        SELECT endpoint_id, minute, kind, key, sum(count)::bigint AS count, sum(micros * count)::bigint AS amount
        FROM ends, LATERAL (SELECT charged::numeric * 1000000 AS micros OFFSET 0) AS money, LATERAL (VALUES
          (CASE WHEN done THEN 'completed' ELSE 'failed' END, ''), (CASE WHEN done THEN 'payer' END, payer),
          (CASE WHEN NOT done THEN 'failure' END, failure), ('latency', millis)
        ) AS counted (kind, key)
        WHERE kind IS NOT NULL AND key IS NOT NULL
        GROUP BY 1, 2, 3, 4`
  })

  // All parts of a statement see the rows from before it: a payer without one is new to the window.
  const addSums = (sums: Additions["sums"]) =>
    Effect.flatMap(
      sql`WITH delta AS MATERIALIZED (
          SELECT * FROM unnest(
            ${sums.map((one) => one.endpoint_id)}::uuid[], ${sums.map((one) => one.span)}::text[],
            ${sums.map((one) => one.kind)}::text[], ${sums.map((one) => one.key)}::text[],
            ${sums.map((one) => one.count)}::bigint[], ${sums.map((one) => one.amount)}::bigint[]
          ) AS d (endpoint_id, span, kind, key, count, amount)
        ), summed AS (
          INSERT INTO statistics_sums AS s (endpoint_id, span, kind, key, count, amount) SELECT * FROM delta
          ON CONFLICT (endpoint_id, span, kind, key)
          DO UPDATE SET count = s.count + EXCLUDED.count, amount = s.amount + EXCLUDED.amount
        )
        SELECT d.endpoint_id, d.span, count(*) AS payers FROM delta d
        LEFT JOIN statistics_sums s ON s.endpoint_id = d.endpoint_id AND s.span = d.span AND s.kind = d.kind AND s.key = d.key
        WHERE d.kind = 'payer' AND s.key IS NULL GROUP BY d.endpoint_id, d.span`,
      Schema.decodeUnknownEffect(NewPayers)
    )
  const write = Effect.fnUntraced(function* ({ buckets, cells, sums, windows }: Additions) {
    const places = sql`${windows.map((one) => one.endpoint_id)}::uuid[], ${windows.map((one) => one.span)}::text[]`
    // First, because it locks the windows: in their order, and before anything that belongs to them.
    yield* sql`INSERT INTO statistics_windows AS w (endpoint_id, span, since, oldest)
      SELECT endpoint_id, span, since, nullif(oldest, '')::timestamptz FROM unnest(
        ${places}, ${windows.map((one) => iso(one.since))}::timestamptz[],
        ${windows.map((one) => (one.oldest === null ? "" : iso(one.oldest)))}::text[]
      ) AS n (endpoint_id, span, since, oldest)
      ON CONFLICT (endpoint_id, span)
      DO UPDATE SET since = greatest(w.since, EXCLUDED.since), oldest = least(w.oldest, EXCLUDED.oldest)`
    yield* sql`INSERT INTO statistics_buckets AS b (endpoint_id, span, at, calls, revenue)
      SELECT * FROM unnest(
        ${buckets.map((one) => one.endpoint_id)}::uuid[], ${buckets.map((one) => one.span)}::text[],
        ${buckets.map((one) => iso(one.at))}::timestamptz[], ${buckets.map((one) => one.count)}::bigint[],
        ${buckets.map((one) => one.amount)}::bigint[]
      )
      ON CONFLICT (endpoint_id, span, at)
      DO UPDATE SET calls = b.calls + EXCLUDED.calls, revenue = b.revenue + EXCLUDED.revenue`
    yield* sql`INSERT INTO statistics_cells AS c (endpoint_id, span, at, kind, key, count, amount)
      SELECT * FROM unnest(
        ${cells.map((one) => one.endpoint_id)}::uuid[], ${cells.map((one) => one.span)}::text[],
        ${cells.map((one) => iso(one.at))}::timestamptz[], ${cells.map((one) => one.kind)}::text[],
        ${cells.map((one) => one.key)}::text[], ${cells.map((one) => one.count)}::bigint[],
        ${cells.map((one) => one.amount)}::bigint[]
      )
      ON CONFLICT (endpoint_id, span, at, kind, key)
      DO UPDATE SET count = c.count + EXCLUDED.count, amount = c.amount + EXCLUDED.amount`
    const fresh = new Map<string, bigint>()
    for (const { endpoint_id, payers, span } of yield* addSums(sums)) fresh.set(`${endpoint_id} ${span}`, payers)
    const payers = windows.map(({ endpoint_id, span }) => fresh.get(`${endpoint_id} ${span}`) ?? 0n)
    yield* sql`UPDATE statistics_windows w SET calls = w.calls + n.calls, revenue = w.revenue + n.revenue,
        payers = w.payers + n.payers
      FROM unnest(
        ${places}, ${windows.map((one) => one.count)}::bigint[], ${windows.map((one) => one.amount)}::bigint[],
        ${payers}::bigint[]
      ) AS n (endpoint_id, span, calls, revenue, payers)
      WHERE w.endpoint_id = n.endpoint_id AND w.span = n.span`
  })

  /** Counts the next events; how far it is then, and how many events it went past. */
  const step = Effect.gen(function* () {
    const { head, seq } = yield* take()
    const upTo = head < seq + batch ? head : seq + batch
    if (upTo <= seq) return { seq, passed: 0 }
    yield* byKey(sql)
    const ended = yield* endedIn({ after: seq, upTo })
    if (ended.length > 0) yield* write(additionsOf(ended, (yield* DateTime.now).epochMilliseconds))
    yield* sql`UPDATE statistics_cursor SET seq = ${upTo} WHERE log = 1`
    return { seq: upTo, passed: Number(upTo - seq) }
  }).pipe(sql.withTransaction, Effect.withSpan("Statistics.rollUp"))

  /** Counts everything that was recorded when it was called. */
  const catchUp = Effect.gen(function* () {
    const { head, seq } = yield* position()
    if (seq >= head) return
    const rest = Effect.gen(function* () {
      let { seq } = yield* position()
      while (seq < head) {
        const counted = yield* step
        // The log ends before `head` where a standby took over without its last facts.
        if (counted.passed === 0) return
        seq = counted.seq
      }
    })
    yield* turn.withPermit(rest)
  }).pipe(Effect.orDie, Effect.withSpan("Statistics.catchUp"))

  const rollUp = Effect.gen(function* () {
    const { head, seq } = yield* position()
    return seq < head ? (yield* turn.withPermit(step)).passed : 0
  }).pipe(Effect.orDie)
  return { rollUp, catchUp }
})

const NewPayers = Schema.Array(
  Schema.Struct({ endpoint_id: Schema.String, span: Schema.String, payers: Schema.BigInt })
)

const iso = (millis: number) => DateTime.formatIso(DateTime.makeUnsafe(millis))

/**
 * For one transaction: every row is looked up by its key. A plan is kept for long, so one made while a table was small must not
 * read it whole when it is large.
 */
export const byKey = (sql: SqlClient.SqlClient) =>
  sql`SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)`
