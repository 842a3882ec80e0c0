import type { SqlClient } from "effect/sql"
import type { Assurance } from "./Assurance.ts"

/** What holds of the books, whatever they are kept for. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => {
  // Entries are a view of the log: what each movement did to the posted balance of each side.
  const entries = sql.literal(`(
    SELECT debit AS account, seq, step, -amount AS change, debit_posted AS posted FROM movements
    WHERE kind IN ('transfer', 'capture')
    UNION ALL
    SELECT credit, seq, step, amount, credit_posted FROM movements WHERE kind IN ('transfer', 'capture')
  )`)
  return [
    {
      promise: "the balances of each currency sum to zero",
      query: sql`SELECT currency, sum(posted) AS sum FROM ledger_accounts GROUP BY currency HAVING sum(posted) <> 0 LIMIT 10`
    },
    {
      promise: "the log is gapless and ends at its head",
      query: sql`SELECT h.movement_seq, m.lines, m.last FROM ledger_head h,
          (SELECT count(*) AS lines, coalesce(max(seq), 0) AS last FROM movements) m
        WHERE h.movement_seq <> m.lines OR h.movement_seq <> m.last`
    },
    {
      promise: "the event log is gapless and ends at its head",
      query: sql`SELECT h.event_seq, e.lines, e.last FROM ledger_head h,
          (SELECT count(*) AS lines, coalesce(max(seq), 0) AS last FROM events) e
        WHERE h.event_seq <> e.lines OR h.event_seq <> e.last`
    },
    {
      promise: "a balance is the sum of its entries, and every line of the log carries the balance at its time",
      // One pass: each line continues the line before it on the same account, and the last one is the balance.
      query: sql`SELECT coalesce(e.account, a.key) AS account, e.seq, e.posted, e.expected, a.posted AS balance FROM ledger_accounts a
        FULL JOIN (
          SELECT account, seq, posted, change + lag(posted, 1, 0::bigint) OVER lines AS expected,
            lead(seq) OVER lines IS NULL AS is_last
          FROM ${entries} e WINDOW lines AS (PARTITION BY account ORDER BY seq)
        ) e ON e.account = a.key
        WHERE a.key IS NULL OR e.posted <> e.expected OR (e.is_last AND e.posted <> a.posted)
          OR (e.account IS NULL AND a.posted <> 0) LIMIT 10`
    },
    {
      promise: "a refusal in the log moved nothing",
      query: sql`SELECT seq, command_id, amount FROM movements WHERE kind = 'refuse' AND amount <> 0 LIMIT 10`
    },
    {
      promise: "what is held is the sum of the open holds",
      query: sql`SELECT a.id, a.held, coalesce(h.sum, 0) AS holds FROM ledger_accounts a
        LEFT JOIN (SELECT debit, sum(amount) AS sum FROM holds WHERE state = 'open' GROUP BY debit) h ON h.debit = a.key
        WHERE a.held <> coalesce(h.sum, 0) LIMIT 10`
    },
    {
      promise: "no account ever spent or promised more than it had",
      query: sql`SELECT a.id, m.seq, m.debit_posted, m.debit_held FROM movements m JOIN ledger_accounts a ON a.key = m.debit
        WHERE NOT a.may_overdraw AND m.debit_posted < m.debit_held LIMIT 10`
    },
    {
      promise: "a hold begins once and ends at most once, in the way its state says",
      query: sql`SELECT h.id, h.state, m.began, m.captured, m.released FROM holds h
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
    }
  ]
}
