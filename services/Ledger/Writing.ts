import type { Book, Decision } from "#domain/Command.ts"
import type { EventDraft } from "#domain/Event.ts"
import type { Hold, LedgerAccount } from "#domain/LedgerAccount.ts"
import * as Pipeline from "../Database/Pipeline.ts"
import { OID } from "../Database/Pipeline.ts"
import * as EventLog from "../EventLog.ts"
import { type CompanionRow, stepsOf } from "./Companion.ts"

const lineColumns = [
  "seq",
  "command_id",
  "step",
  "kind",
  "debit",
  "credit",
  "amount",
  "debit_posted",
  "debit_held",
  "credit_posted",
  "hold_id",
  "code"
]
const insertMovements = Pipeline.statement(
  [
    OID.timestamptz,
    OID.int8Array,
    OID.uuidArray,
    OID.int2Array,
    OID.textArray,
    OID.int8Array,
    OID.int8Array,
    OID.int8Array,
    OID.int8Array,
    OID.int8Array,
    OID.int8Array,
    OID.uuidArray,
    OID.textArray
  ],
  `INSERT INTO movements (${lineColumns.join(", ")}, created_at) SELECT *, $1 FROM ${Pipeline.lists(lineColumns, 2)}`
)
const movementsOf = (movements: Decision["movements"], at: Date): Pipeline.Step => ({
  statement: insertMovements,
  values: [
    at,
    movements.map(({ seq }) => seq),
    movements.map(({ command_id }) => command_id),
    movements.map(({ step }) => step),
    movements.map(({ kind }) => kind),
    movements.map(({ debit }) => debit),
    movements.map(({ credit }) => credit),
    movements.map(({ amount }) => amount),
    movements.map(({ debit_posted }) => debit_posted),
    movements.map(({ debit_held }) => debit_held),
    movements.map(({ credit_posted }) => credit_posted),
    movements.map(({ hold_id }) => hold_id),
    movements.map(({ code }) => code)
  ]
})

// An account that is not as it was when we decided gets no balance, and that no account may be without: the statement fails.
const accountColumns = ["key", "posted", "held", "was_posted", "was_held", "was_frozen"]
const updateAccounts = Pipeline.statement(
  [OID.int8Array, OID.int8Array, OID.int8Array, OID.int8Array, OID.int8Array, OID.boolArray],
  `UPDATE ledger_accounts a SET held = n.held,
      posted = CASE WHEN a.posted = n.was_posted AND a.held = n.was_held AND a.frozen = n.was_frozen THEN n.posted END
    FROM ${Pipeline.lists(accountColumns)} AS n WHERE a.key = n.key`
)
const accountsOf = (accounts: Decision["accounts"], before: ReadonlyArray<LedgerAccount>): Pipeline.Step => {
  const known = new Map(before.map((account) => [account.key, account]))
  const was = accounts.map((account) => known.get(account.key) ?? account)
  return {
    statement: updateAccounts,
    values: [
      accounts.map(({ key }) => key),
      accounts.map(({ posted }) => posted),
      accounts.map(({ held }) => held),
      was.map(({ posted }) => posted),
      was.map(({ held }) => held),
      was.map(({ frozen }) => frozen)
    ]
  }
}

const holdColumns = ["id", "debit", "credit", "amount", "captured", "state", "expires_at"]
const insertHolds = Pipeline.statement(
  [
    OID.timestamptz,
    OID.uuidArray,
    OID.int8Array,
    OID.int8Array,
    OID.int8Array,
    OID.int8Array,
    OID.textArray,
    OID.timestamptzArray
  ],
  `INSERT INTO holds (${holdColumns.join(", ")}, created_at) SELECT *, $1 FROM ${Pipeline.lists(holdColumns, 2)}`
)
const newHoldsOf = (holds: ReadonlyArray<Hold>, at: Date): Pipeline.Step => ({
  statement: insertHolds,
  values: [
    at,
    holds.map(({ id }) => id),
    holds.map(({ debit }) => debit),
    holds.map(({ credit }) => credit),
    holds.map(({ amount }) => amount),
    holds.map(({ captured }) => captured),
    holds.map(({ state }) => state),
    holds.map(({ expires_at }) => expires_at)
  ]
})

// A hold that has ended gets no state, and it may not be without: the statement fails.
const updateHolds = Pipeline.statement(
  [OID.uuidArray, OID.textArray, OID.int8Array],
  `UPDATE holds h SET state = CASE h.state WHEN 'open' THEN n.state END, captured = n.captured
    FROM ${Pipeline.lists(["id", "state", "captured"])} AS n WHERE h.id = n.id`
)
const endedHoldsOf = (holds: ReadonlyArray<Hold>): Pipeline.Step => ({
  statement: updateHolds,
  values: [holds.map(({ id }) => id), holds.map(({ state }) => state), holds.map(({ captured }) => captured)]
})

const tallyColumns = ["scope", "subject", "count", "amount"]
const upsertTallies = Pipeline.statement(
  [OID.uuidArray, OID.uuidArray, OID.int8Array, OID.int8Array],
  `INSERT INTO tallies (${tallyColumns.join(", ")}) SELECT * FROM ${Pipeline.lists(tallyColumns)}
    ON CONFLICT (log, scope, subject) DO UPDATE SET count = EXCLUDED.count, amount = EXCLUDED.amount`
)
const talliesOf = (tallies: Decision["tallies"]): Pipeline.Step => ({
  statement: upsertTallies,
  values: [
    tallies.map(({ scope }) => scope),
    tallies.map(({ subject }) => subject),
    tallies.map(({ count }) => count),
    tallies.map(({ amount }) => amount)
  ]
})

const keyColumns = ["tenant_id", "operation", "key", "fingerprint", "command_id", "result", "expires_at"]
// A key that still stands for something else gets no end, and it may not be without: the statement fails.
const upsertKeys = Pipeline.statement(
  [
    OID.timestamptz,
    OID.uuidArray,
    OID.textArray,
    OID.textArray,
    OID.textArray,
    OID.uuidArray,
    OID.jsonbArray,
    OID.timestamptzArray
  ],
  `INSERT INTO idempotency_keys AS k (${keyColumns.join(", ")}) SELECT * FROM ${Pipeline.lists(keyColumns, 2)}
    ON CONFLICT (tenant_id, operation, key) DO UPDATE SET fingerprint = EXCLUDED.fingerprint,
      command_id = EXCLUDED.command_id, result = EXCLUDED.result,
      expires_at = CASE WHEN k.expires_at <= $1 THEN EXCLUDED.expires_at END`
)
const keysOf = (keys: Decision["keys"], at: Date): Pipeline.Step => ({
  statement: upsertKeys,
  values: [
    at,
    keys.map(({ tenant_id }) => tenant_id),
    keys.map(({ operation }) => operation),
    keys.map(({ key }) => key),
    keys.map(({ fingerprint }) => fingerprint),
    keys.map(({ command_id }) => command_id),
    keys.map(({ result }) => result),
    keys.map(({ expires_at }) => expires_at)
  ]
})

const moveHead = Pipeline.statement(
  [OID.int8, OID.int8, OID.int8],
  `UPDATE ledger_head SET movement_seq = CASE WHEN movement_seq = $1 THEN $2 END, event_seq = event_seq + $3 WHERE log = 1`
)

/** Everything that has to be written for a decision to be true. It fails if the log or a balance is not as `book` says. */
export const writing = (
  decision: Decision,
  book: Pick<Book, "accounts" | "holds" | "seq" | "at">,
  extra: { readonly events: ReadonlyArray<EventDraft>; readonly rows: ReadonlyArray<CompanionRow> }
): ReadonlyArray<Pipeline.Step> => {
  const { accounts, holds, keys, movements, tallies } = decision
  const { events, rows } = extra
  const before = new Set(book.holds.map(({ id }) => id))
  const ended = holds.filter(({ id }) => before.has(id))
  const opened = ended.length === holds.length ? [] : holds.filter(({ id }) => !before.has(id))
  const head = [book.seq, book.seq + BigInt(movements.length), BigInt(events.length)]
  const steps: Array<Pipeline.Step> = [{ statement: moveHead, values: head }]
  if (movements.length > 0) steps.push(movementsOf(movements, book.at))
  if (accounts.length > 0) steps.push(accountsOf(accounts, book.accounts))
  if (opened.length > 0) steps.push(newHoldsOf(opened, book.at))
  if (ended.length > 0) steps.push(endedHoldsOf(ended))
  if (tallies.length > 0) steps.push(talliesOf(tallies))
  if (keys.length > 0) steps.push(keysOf(keys, book.at))
  if (events.length > 0) steps.push(EventLog.insertion(book.at, events))
  steps.push(...stepsOf(rows))
  return steps
}
