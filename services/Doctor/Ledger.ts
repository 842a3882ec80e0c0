import type { SqlClient } from "effect/sql"
import { LedgerCurrency, purposes, systemAccount } from "#domain/LedgerAccount.ts"
import type { Assurance } from "./Assurance.ts"

/** What holds of the books, whatever they are kept for. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => {
  // What each line of the log did to the posted balance of each side; other kinds than these two moved nothing.
  const entries = sql.literal(`(
    SELECT debit AS account, seq, CASE WHEN kind IN ('transfer', 'capture') THEN -amount ELSE 0 END AS change,
      debit_posted AS posted FROM movements
    UNION ALL
    SELECT credit, seq, CASE WHEN kind IN ('transfer', 'capture') THEN amount ELSE 0 END, credit_posted FROM movements
  )`)
  // A log that lost its head has none to compare with, which is a finding, too.
  const head = sql.literal("(VALUES (1)) one (log) LEFT JOIN ledger_head h ON h.log = one.log")
  const own = sql.join(
    ", ",
    false
  )(
    purposes.flatMap((purpose) =>
      LedgerCurrency.literals.map(
        (currency) => sql`(${systemAccount(purpose, currency)}::uuid, ${purpose}, ${currency})`
      )
    )
  )
  return [
    {
      promise: "the balances of each currency sum to zero",
      query: sql`SELECT currency, sum(posted) AS sum FROM ledger_accounts GROUP BY currency HAVING sum(posted) <> 0 LIMIT 10`
    },
    {
      promise: "the log is gapless and ends at its head",
      query: sql`SELECT h.movement_seq, m.lines, m.last FROM ${head},
          (SELECT count(*) AS lines, coalesce(max(seq), 0) AS last FROM movements WHERE log = 1) m
        WHERE h.movement_seq IS DISTINCT FROM m.lines OR h.movement_seq <> m.last`
    },
    {
      promise: "the event log is gapless and ends at its head",
      query: sql`SELECT h.event_seq, e.lines, e.last FROM ${head},
          (SELECT count(*) AS lines, coalesce(max(seq), 0) AS last FROM events WHERE log = 1) e
        WHERE h.event_seq IS DISTINCT FROM e.lines OR h.event_seq <> e.last`
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
      promise: "a refusal in the log moved nothing, and a line names a hold when it is about one",
      query: sql`SELECT seq, command_id, kind, amount, hold_id FROM movements
        WHERE (kind = 'refuse' AND amount <> 0) OR (kind IN ('hold', 'capture', 'release')) <> (hold_id IS NOT NULL) LIMIT 10`
    },
    {
      promise: "the lines of a command stand together, and its steps are numbered without gaps",
      // In the order of the log, which is that of the disk; nothing of a command has one place twice, by its index.
      query: sql`SELECT seq, command_id, step, command_before, step_before FROM (
          SELECT seq, command_id, step, lag(command_id) OVER lines AS command_before, lag(step) OVER lines AS step_before
          FROM movements WHERE log = 1 WINDOW lines AS (ORDER BY seq)
        ) line WHERE step <> 0 AND (command_before, step_before) IS DISTINCT FROM (command_id, step - 1) LIMIT 10`
    },
    {
      promise: "the platform has its own accounts, once in each currency, and may overdraw issuance alone",
      query: sql`SELECT coalesce(s.id, a.id) AS id, s.purpose AS expected, a.purpose, a.currency, a.may_overdraw
        FROM (VALUES ${own}) s (id, purpose, currency)
        FULL JOIN ledger_accounts a ON a.id = s.id
        WHERE a.id IS NULL OR a.log <> 1 OR a.may_overdraw <> (a.purpose = 'issuance') OR a.purpose IN ('issuance', 'fees', 'fx')
          AND (s.purpose IS DISTINCT FROM a.purpose OR s.currency <> a.currency OR a.frozen) LIMIT 10`
    },
    {
      promise: "what is held is the sum of the open holds",
      query: sql`SELECT a.id, a.held, coalesce(h.sum, 0) AS holds FROM ledger_accounts a
        LEFT JOIN (SELECT debit, sum(amount) AS sum FROM holds WHERE state = 'open' GROUP BY debit) h ON h.debit = a.key
        WHERE a.held <> coalesce(h.sum, 0) LIMIT 10`
    },
    {
      promise: "every line of the log carries what its debited account had promised at its time",
      // Of accounts that promised something once: of the others, the accounts themselves say what there is.
      query: sql`SELECT account, seq, held, expected, now_held FROM (
          SELECT m.debit AS account, m.seq, m.debit_held AS held, a.held AS now_held,
            lag(m.debit_held, 1, 0::bigint) OVER lines + CASE m.kind WHEN 'hold' THEN m.amount WHEN 'release' THEN -m.amount
              WHEN 'capture' THEN -h.amount ELSE 0 END AS expected,
            lead(m.seq) OVER lines IS NULL AS is_last
          FROM movements m JOIN (SELECT DISTINCT debit FROM movements WHERE hold_id IS NOT NULL OR debit_held <> 0) p ON p.debit = m.debit
          LEFT JOIN holds h ON h.id = m.hold_id LEFT JOIN ledger_accounts a ON a.key = m.debit
          WINDOW lines AS (PARTITION BY m.debit ORDER BY m.seq)
        ) line WHERE held IS DISTINCT FROM expected OR (is_last AND held IS DISTINCT FROM now_held::bigint) LIMIT 10`
    },
    {
      promise: "no account ever spent or promised more than it had",
      query: sql`SELECT a.id, m.seq, m.debit_posted, m.debit_held FROM movements m JOIN ledger_accounts a ON a.key = m.debit
        WHERE NOT a.may_overdraw AND m.debit_posted < m.debit_held LIMIT 10`
    },
    {
      promise: "a hold begins once and ends at most once, in the way its state says, always between the same two",
      query: sql`SELECT coalesce(h.id, m.hold_id) AS id, h.state, m.began, m.captured, m.released FROM holds h
        FULL JOIN (
          SELECT hold_id, count(*) FILTER (WHERE kind = 'hold') AS began,
            coalesce(sum(amount) FILTER (WHERE kind = 'capture'), 0) AS captured,
            count(*) FILTER (WHERE kind = 'capture') AS captures,
            count(*) FILTER (WHERE kind = 'release') AS released,
            min(amount) FILTER (WHERE kind <> 'capture') AS least, max(amount) FILTER (WHERE kind <> 'capture') AS most,
            min(debit) AS debit, max(debit) AS debited, min(credit) AS credit, max(credit) AS credited
          FROM movements WHERE hold_id IS NOT NULL GROUP BY hold_id
        ) m ON m.hold_id = h.id
        WHERE h.id IS NULL OR m.began IS DISTINCT FROM 1 OR m.captured <> h.captured
          OR m.captures <> (h.state = 'captured')::int OR m.released <> (h.state IN ('released', 'expired'))::int
          OR (m.least, m.most, m.debit, m.debited, m.credit, m.credited)
            IS DISTINCT FROM (h.amount::bigint, h.amount::bigint, h.debit, h.debit, h.credit, h.credit)
        LIMIT 10`
    }
  ]
}
