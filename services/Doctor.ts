import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/** One promise about the books, whether it holds, and up to ten rows that break it. */
export interface Finding {
  readonly promise: string
  readonly broken: ReadonlyArray<unknown>
  readonly millis: number
}

/** Proves the books on a live database, in one snapshot and in the memory of one page of rows. */
export class Doctor extends Context.Service<
  Doctor,
  {
    /** Every promise, checked from scratch. Nothing is repaired. */
    readonly examine: Effect.Effect<ReadonlyArray<Finding>>
  }
>()("turnpike/services/Doctor") {
  static readonly layer = Layer.effect(
    Doctor,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const Rows = Schema.Array(Schema.Record(Schema.String, Schema.Unknown))

      const check = Effect.fnUntraced(function* (promise: string, query: Effect.Effect<unknown, SqlError.SqlError>) {
        const before = yield* Clock.currentTimeMillis
        const broken = yield* Effect.flatMap(query, Schema.decodeUnknownEffect(Rows))
        return { promise, broken, millis: (yield* Clock.currentTimeMillis) - before } satisfies Finding
      })

      // Entries are a view of the log: what each movement did to the posted balance of each side.
      const entries = sql.literal(`(
        SELECT debit AS account, seq, step, -amount AS change, debit_posted AS posted FROM movements
        WHERE kind IN ('transfer', 'capture')
        UNION ALL
        SELECT credit, seq, step, amount, credit_posted FROM movements WHERE kind IN ('transfer', 'capture')
      )`)

      const examination = [
        check(
          "the balances of each currency sum to zero",
          sql`SELECT currency, sum(posted) AS sum FROM ledger_accounts GROUP BY currency HAVING sum(posted) <> 0 LIMIT 10`
        ),
        check(
          "the log is gapless and ends at its head",
          sql`SELECT h.movement_seq, m.lines, m.last FROM ledger_head h,
              (SELECT count(*) AS lines, coalesce(max(seq), 0) AS last FROM movements) m
            WHERE h.movement_seq <> m.lines OR h.movement_seq <> m.last`
        ),
        check(
          "the event log is gapless and ends at its head",
          sql`SELECT h.event_seq, e.lines, e.last FROM ledger_head h,
              (SELECT count(*) AS lines, coalesce(max(seq), 0) AS last FROM events) e
            WHERE h.event_seq <> e.lines OR h.event_seq <> e.last`
        ),
        check(
          "a balance is the sum of its entries, and every line of the log carries the balance at its time",
          // One pass: each line continues the line before it on the same account, and the last one is the balance.
          sql`SELECT coalesce(e.account, a.key) AS account, e.seq, e.posted, e.expected, a.posted AS balance FROM ledger_accounts a
            FULL JOIN (
              SELECT account, seq, posted, change + lag(posted, 1, 0::bigint) OVER lines AS expected,
                lead(seq) OVER lines IS NULL AS is_last
              FROM ${entries} e WINDOW lines AS (PARTITION BY account ORDER BY seq)
            ) e ON e.account = a.key
            WHERE a.key IS NULL OR e.posted <> e.expected OR (e.is_last AND e.posted <> a.posted)
              OR (e.account IS NULL AND a.posted <> 0) LIMIT 10`
        ),
        check(
          "what is held is the sum of the open holds",
          sql`SELECT a.id, a.held, coalesce(h.sum, 0) AS holds FROM ledger_accounts a
            LEFT JOIN (SELECT debit, sum(amount) AS sum FROM holds WHERE state = 'open' GROUP BY debit) h ON h.debit = a.key
            WHERE a.held <> coalesce(h.sum, 0) LIMIT 10`
        ),
        check(
          "no account ever spent or promised more than it had",
          sql`SELECT a.id, m.seq, m.debit_posted, m.debit_held FROM movements m JOIN ledger_accounts a ON a.key = m.debit
            WHERE NOT a.may_overdraw AND m.debit_posted < m.debit_held LIMIT 10`
        ),
        check(
          "a hold begins once and ends at most once, in the way its state says",
          sql`SELECT h.id, h.state, m.began, m.captured, m.released FROM holds h
            LEFT JOIN (
              SELECT hold_id, count(*) FILTER (WHERE kind = 'hold') AS began,
                coalesce(sum(amount) FILTER (WHERE kind = 'capture'), 0) AS captured,
                count(*) FILTER (WHERE kind = 'capture') AS captures,
                count(*) FILTER (WHERE kind = 'release') AS released
              FROM movements WHERE hold_id IS NOT NULL GROUP BY hold_id
            ) m ON m.hold_id = h.id
            WHERE m.began IS DISTINCT FROM 1 OR m.captured <> h.captured
              OR m.captures <> (h.state = 'captured')::int OR m.released <> (h.state IN ('released', 'expired'))::int
            LIMIT 10`
        ),
        check(
          "a captured payment took exactly what its hold gave",
          sql`SELECT p.id, p.state, p.charged, h.state AS hold, h.captured FROM payments p JOIN holds h ON h.id = p.hold_id
            WHERE (p.state = 'captured' AND p.charged <> h.captured)
              OR (p.state <> 'captured' AND h.state = 'captured') LIMIT 10`
        ),
        check(
          "the totals of an endpoint are the sum of its captured payments",
          sql`SELECT t.scope AS endpoint, t.count, t.amount, p.count AS payments, p.amount AS charged
            FROM (SELECT * FROM tallies WHERE subject = '00000000-0000-0000-0000-000000000000') t
            FULL JOIN (
              SELECT endpoint_id, count(*) AS count, sum(charged) AS amount FROM payments WHERE state = 'captured' GROUP BY endpoint_id
            ) p ON p.endpoint_id = t.scope
            WHERE t.count IS DISTINCT FROM p.count OR t.amount IS DISTINCT FROM p.amount LIMIT 10`
        ),
        check(
          "the totals of a payer are the sum of the payer's captured payments",
          sql`SELECT t.scope AS endpoint, t.subject AS payer, t.count, t.amount, p.count AS payments, p.amount AS charged
            FROM (SELECT * FROM tallies WHERE subject <> '00000000-0000-0000-0000-000000000000') t
            FULL JOIN (
              SELECT endpoint_id, payer_id, count(*) AS count, sum(charged) AS amount FROM payments
              WHERE state = 'captured' GROUP BY endpoint_id, payer_id
            ) p ON p.endpoint_id = t.scope AND p.payer_id = t.subject
            WHERE t.count IS DISTINCT FROM p.count OR t.amount IS DISTINCT FROM p.amount LIMIT 10`
        ),
        check(
          "every captured payment has its event, once",
          sql`SELECT p.endpoint_id, p.payments, e.events, e.different FROM (
              SELECT endpoint_id::text, count(*) AS payments FROM payments WHERE state = 'captured' GROUP BY endpoint_id
            ) p FULL JOIN (
              SELECT data #>> '{payment,endpoint_id}' AS endpoint_id, count(*) AS events,
                count(DISTINCT data #>> '{payment,id}') AS different
              FROM events WHERE type = 'x402.payment.completed' GROUP BY 1
            ) e USING (endpoint_id)
            WHERE p.payments IS DISTINCT FROM e.events OR p.payments IS DISTINCT FROM e.different LIMIT 10`
        ),
        check(
          "what was charged on a chain is what was settled there, once",
          sql`SELECT p.id AS payment, p.charged, p.transaction, c.id AS settlement, c.amount, c.state FROM (
              SELECT id, charged, transaction FROM payments WHERE rail = 'chain' AND state = 'captured' AND charged > 0
            ) p FULL JOIN (
              SELECT id, payment_id, amount, transaction, state FROM chain_settlements
              WHERE payment_id IS NOT NULL AND state = 'confirmed' AND booked_at IS NOT NULL
            ) c ON c.payment_id = p.id AND c.amount = p.charged AND c.transaction = p.transaction
            WHERE p.id IS NULL OR c.id IS NULL LIMIT 10`
        ),
        check(
          "money that is held for a call belongs to a payment that may still be used",
          sql`SELECT h.id AS hold, p.id AS payment, p.state FROM holds h
            JOIN payments p ON p.hold_id = h.id
            WHERE h.state = 'open' AND p.state IN ('captured', 'released') LIMIT 10`
        )
      ]

      const examine = sql`SET LOCAL statement_timeout = 0`.pipe(
        Effect.andThen(sql`SET LOCAL work_mem = '64MB'`),
        Effect.andThen(Effect.all(examination)),
        sql.withTransaction,
        Effect.provideService(SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
        Effect.orDie,
        Effect.withSpan("Doctor.examine")
      )
      return Doctor.of({ examine })
    })
  )
}
