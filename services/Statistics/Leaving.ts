import { DateTime, Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { dateOf } from "#domain/Instant.ts"
import { type SlidingWindow, slidingWindows, windowStart } from "#domain/Statistics.ts"
import { notForLong } from "../EventLog/Head.ts"
import { byKey } from "./RollUp.ts"

/** Cells taken off in one transaction. */
const cellsAtOnce = 20_000
/** Windows that one round of tidying looks at, of each length. */
const windowsAtOnce = 100
/** How many buckets may stand outside a window that nobody looks at, so that they leave together. */
const patience = 5

const spans: ReadonlyArray<SlidingWindow> = ["1h", "24h", "7d", "30d"]

/** Takes off what windows have slid past. What a bucket brought in is kept until then, and dropped with it. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const Window = Schema.Struct({ endpoint: Schema.String, span: Schema.String, from: Schema.Date })
  const Oldest = Schema.Struct({ oldest: Schema.NullOr(Schema.Date) })
  // Who counts waits for the window, and all who ask wait for who counts.
  const lock = SqlSchema.findOneOption({
    Request: Window,
    Result: Oldest,
    execute: ({ endpoint, from, span }) =>
      sql`UPDATE statistics_windows SET since = greatest(since, ${from}::timestamptz)
        WHERE endpoint_id = ${endpoint} AND span = ${span} RETURNING oldest, ${sql.literal(notForLong)}`
  })
  const takeOff = ({ endpoint, from, span }: typeof Window.Type) =>
    sql`WITH gone AS (
        DELETE FROM statistics_cells WHERE ctid = ANY(ARRAY(
          SELECT ctid FROM statistics_cells WHERE endpoint_id = ${endpoint} AND span = ${span} AND at < ${from}
          ORDER BY at, kind, key LIMIT ${cellsAtOnce}
        )) RETURNING kind, key, count, amount
      ), delta AS (
        SELECT kind, key, sum(count)::bigint AS count, sum(amount)::bigint AS amount FROM gone GROUP BY kind, key
      ), empty AS (
        DELETE FROM statistics_sums s USING delta d
        WHERE s.endpoint_id = ${endpoint} AND s.span = ${span} AND s.kind = d.kind AND s.key = d.key AND s.count = d.count
        RETURNING s.kind
      ), less AS (
        UPDATE statistics_sums s SET count = s.count - d.count, amount = s.amount - d.amount FROM delta d
        WHERE s.endpoint_id = ${endpoint} AND s.span = ${span} AND s.kind = d.kind AND s.key = d.key AND s.count > d.count
      ), buckets AS (
        DELETE FROM statistics_buckets WHERE endpoint_id = ${endpoint} AND span = ${span} AND at < ${from}
        RETURNING calls, revenue
      )
      UPDATE statistics_windows SET
        calls = calls - (SELECT coalesce(sum(calls), 0)::bigint FROM buckets),
        revenue = revenue - (SELECT coalesce(sum(revenue), 0)::bigint FROM buckets),
        payers = payers - (SELECT count(*) FROM empty WHERE kind = 'payer')
      WHERE endpoint_id = ${endpoint} AND span = ${span}`
  const look = SqlSchema.findOne({
    Request: Window,
    Result: Oldest,
    execute: ({ endpoint, span }) =>
      sql`UPDATE statistics_windows SET oldest = (
          SELECT at FROM statistics_cells WHERE endpoint_id = ${endpoint} AND span = ${span} ORDER BY at LIMIT 1
        ) WHERE endpoint_id = ${endpoint} AND span = ${span} RETURNING oldest`
  })

  /** One bounded part of it; whether there is more. */
  const part = Effect.fnUntraced(function* (window: typeof Window.Type) {
    yield* byKey(sql)
    const known = yield* lock(window)
    if (Option.isNone(known) || !isBefore(known.value.oldest, window.from)) return false
    yield* takeOff(window)
    const { oldest } = yield* look(window)
    return isBefore(oldest, window.from)
  }, sql.withTransaction)

  /** Takes off everything before `from`. */
  const leave = Effect.fn("Statistics.leave")(function* (endpoint: string, span: SlidingWindow, from: number) {
    const window = { endpoint, span, from: dateOf(from) }
    while (yield* part(window));
  }, Effect.orDie)

  const due = SqlSchema.findAll({
    Request: Schema.Struct({ span: Schema.String, before: Schema.Date }),
    Result: Schema.Struct({ endpoint_id: Schema.String }),
    execute: ({ before, span }) =>
      sql`SELECT endpoint_id FROM statistics_windows WHERE span = ${span} AND oldest < ${before}
        ORDER BY oldest LIMIT ${windowsAtOnce}`
  })
  const tidySpan = Effect.fnUntraced(function* (span: SlidingWindow) {
    const now = (yield* DateTime.now).epochMilliseconds
    const from = windowStart(span, now)
    const before = dateOf(from - patience * slidingWindows[span].width)
    const found = yield* Effect.orDie(due({ span, before }))
    yield* Effect.forEach(found, ({ endpoint_id }) => leave(endpoint_id, span, from), { discard: true })
    return found.length
  })
  /** The same for windows that nobody looks at; how many it tidied. */
  const tidy = Effect.forEach(spans, tidySpan).pipe(
    Effect.map((tidied) => tidied.reduce((sum, one) => sum + one, 0)),
    Effect.withSpan("Statistics.tidy")
  )

  return { leave, tidy }
})

const isBefore = (oldest: Date | null, from: Date) => oldest !== null && oldest < from
