import type { Book, Decision, IdempotencyRecord } from "#domain/Command.ts"
import type { EventDraft } from "#domain/Event.ts"
import type { Hold, LedgerAccount, Movement, Tally } from "#domain/LedgerAccount.ts"
import * as Pipeline from "../Database/Pipeline.ts"
import { OID } from "../Database/Pipeline.ts"
import * as EventLog from "../EventLog.ts"
import { type CompanionRow, stepsOf } from "./Companion.ts"

/**
 * A statement over rows of the ledger. Its first parameter is the instant of the group; each other one is the list of one column,
 * with the type of that list. The text gets the names of the columns, and what to read the rows from, which begin with `at`.
 */
const over = <Row extends object>(
  columns: ReadonlyArray<readonly [column: keyof Row & string, type: number]>,
  text: (names: string, rows: string) => string
) => {
  const names = columns.map(([column]) => column)
  const withInstant = (rows: string) => text(names.join(", "), `(SELECT $1 AS at, r.* FROM ${rows})`)
  const statement = Pipeline.overLists("r", columns, withInstant, { before: [OID.timestamptz] })
  return (at: Date, rows: ReadonlyArray<Row>): Pipeline.Step => ({
    statement,
    values: [at, ...names.map((name) => rows.map((row) => row[name]))]
  })
}

const insertMovements = over<Movement>(
  [
    ["seq", OID.int8Array],
    ["command_id", OID.uuidArray],
    ["step", OID.int2Array],
    ["kind", OID.textArray],
    ["debit", OID.int8Array],
    ["credit", OID.int8Array],
    ["amount", OID.int8Array],
    ["debit_posted", OID.int8Array],
    ["debit_held", OID.int8Array],
    ["credit_posted", OID.int8Array],
    ["hold_id", OID.uuidArray],
    ["code", OID.textArray]
  ],
  (names, rows) => `INSERT INTO movements (created_at, ${names}) SELECT * FROM ${rows} AS n`
)

interface Change extends LedgerAccount {
  readonly was_posted: bigint
  readonly was_held: bigint
  readonly was_frozen: boolean
}
// An account that is not as it was when we decided gets no balance, and that no account may be without: the statement fails.
const updateAccounts = over<Change>(
  [
    ["key", OID.int8Array],
    ["posted", OID.int8Array],
    ["held", OID.int8Array],
    ["was_posted", OID.int8Array],
    ["was_held", OID.int8Array],
    ["was_frozen", OID.boolArray]
  ],
  (_, rows) => `UPDATE ledger_accounts a SET held = n.held,
      posted = CASE WHEN a.posted = n.was_posted AND a.held = n.was_held AND a.frozen = n.was_frozen THEN n.posted END
    FROM ${rows} AS n WHERE a.key = n.key`
)
const changesOf = (accounts: Decision["accounts"], before: ReadonlyArray<LedgerAccount>): ReadonlyArray<Change> => {
  const known = new Map(before.map((account) => [account.key, account]))
  return accounts.map((account) => {
    const { frozen, held, posted } = known.get(account.key) ?? account
    return { ...account, was_posted: posted, was_held: held, was_frozen: frozen }
  })
}

const insertHolds = over<Hold>(
  [
    ["id", OID.uuidArray],
    ["debit", OID.int8Array],
    ["credit", OID.int8Array],
    ["amount", OID.int8Array],
    ["captured", OID.int8Array],
    ["state", OID.textArray],
    ["expires_at", OID.timestamptzArray]
  ],
  (names, rows) => `INSERT INTO holds (created_at, ${names}) SELECT * FROM ${rows} AS n`
)
// A hold that has ended gets no state, and it may not be without: the statement fails.
const updateHolds = over<Hold>(
  [
    ["id", OID.uuidArray],
    ["state", OID.textArray],
    ["captured", OID.int8Array]
  ],
  (_, rows) => `UPDATE holds h SET state = CASE h.state WHEN 'open' THEN n.state END, captured = n.captured
    FROM ${rows} AS n WHERE h.id = n.id`
)

const raiseTallies = over<Tally>(
  [
    ["scope", OID.uuidArray],
    ["subject", OID.uuidArray],
    ["count", OID.int8Array],
    ["amount", OID.int8Array]
  ],
  (names, rows) => `INSERT INTO tallies AS t (${names}) SELECT ${names} FROM ${rows} AS n
    ON CONFLICT (log, scope, subject) DO UPDATE SET count = t.count + EXCLUDED.count, amount = t.amount + EXCLUDED.amount`
)

// A key that still stands for something else gets no end, and it may not be without: the statement fails.
const upsertKeys = over<IdempotencyRecord>(
  [
    ["tenant_id", OID.uuidArray],
    ["operation", OID.textArray],
    ["key", OID.textArray],
    ["fingerprint", OID.textArray],
    ["command_id", OID.uuidArray],
    ["result", OID.jsonArray],
    ["expires_at", OID.timestamptzArray]
  ],
  (names, rows) => `INSERT INTO idempotency_keys AS k (${names}) SELECT ${names} FROM ${rows} AS n
    ON CONFLICT (tenant_id, operation, key) DO UPDATE SET fingerprint = EXCLUDED.fingerprint,
      command_id = EXCLUDED.command_id, result = EXCLUDED.result,
      expires_at = CASE WHEN k.expires_at <= $1 THEN EXCLUDED.expires_at END`
)

const movingHead = (types: ReadonlyArray<number>, condition: string) =>
  Pipeline.statement(
    [OID.int8, OID.int8, OID.int8, ...types],
    `UPDATE ledger_head SET movement_seq = CASE WHEN ${condition} THEN $2 END, event_seq = event_seq + $3 WHERE log = 1`
  )
// Not behind another sequence than the one we decided on: then the head gets none, and it may not be without.
const moveHead = movingHead([], "movement_seq = $1")
// Another process may have brought the log as far as a group of ours would have, even with the same command as its last one: the last
// movement has to be that group's, too.
const moveHeadBehind = movingHead(
  [OID.uuid, OID.timestamptz],
  "movement_seq = $1 AND (SELECT command_id = $4 AND created_at = $5 FROM movements WHERE log = 1 AND seq = $1)"
)

/**
 * Everything that has to be written for a decision to be true. It fails if the log or a balance is not as `book` says; or if the log
 * does not end with `behind`, a movement that was on its way when we decided.
 */
export const writing = (
  decision: Decision,
  book: Pick<Book, "accounts" | "holds" | "seq" | "at">,
  extra: { readonly events: ReadonlyArray<EventDraft>; readonly rows: ReadonlyArray<CompanionRow> },
  behind?: Movement
): ReadonlyArray<Pipeline.Step> => {
  const { accounts, holds, keys, movements, tallies } = decision
  const { events, rows } = extra
  const before = new Set(book.holds.map(({ id }) => id))
  const ended = holds.filter(({ id }) => before.has(id))
  const opened = ended.length === holds.length ? [] : holds.filter(({ id }) => !before.has(id))
  const head = [book.seq, book.seq + BigInt(movements.length), BigInt(events.length)]
  const steps: Array<Pipeline.Step> = [
    behind === undefined
      ? { statement: moveHead, values: head }
      : { statement: moveHeadBehind, values: [...head, behind.command_id, behind.created_at] }
  ]
  const add = <Row>(step: (at: Date, rows: ReadonlyArray<Row>) => Pipeline.Step, rows: ReadonlyArray<Row>) => {
    if (rows.length > 0) steps.push(step(book.at, rows))
  }
  add(insertMovements, movements)
  add(updateAccounts, changesOf(accounts, book.accounts))
  add(insertHolds, opened)
  add(updateHolds, ended)
  add(raiseTallies, tallies)
  add(upsertKeys, keys)
  add(EventLog.insertion, events)
  steps.push(...stepsOf(rows))
  return steps
}
