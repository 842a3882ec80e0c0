import { Effect } from "effect"
import { type Book, type Command, consultedBy, type TallyRef } from "#domain/Command.ts"
import { type Hold, type LedgerAccount, type Movement, type Tally, tallyName, version } from "#domain/LedgerAccount.ts"
import * as Pipeline from "../Database/Pipeline.ts"
import { OID } from "../Database/Pipeline.ts"

const begin = { statement: Pipeline.statement([], "BEGIN"), values: [] }

const head = {
  statement: Pipeline.statement([], "SELECT movement_seq FROM ledger_head WHERE log = 1 FOR UPDATE"),
  values: []
}
/** Begins the transaction and takes the head's lock. */
export const locking: ReadonlyArray<Pipeline.Step> = [begin, head]
/** The last sequence of the log, by the answers to `locking`. */
export const headOf = (answers: ReadonlyArray<ReadonlyArray<Pipeline.Row>>): Effect.Effect<bigint> => {
  const row = answers[1]?.[0]
  return row === undefined ? Effect.die("The ledger has no head row") : Effect.succeed(Pipeline.bigint(row[0]))
}

/**
 * How many movements of others are read to bring memory up to date, at most: several times the largest group. Were there more, none
 * is read.
 */
const followed = 4096

const movementsAfter = Pipeline.statement(
  [OID.int8],
  `SELECT debit, debit_posted, debit_held, credit, credit_posted, CASE WHEN kind <> 'hold' THEN hold_id END
    FROM movements
    WHERE log = 1 AND seq > $1 AND (SELECT movement_seq FROM ledger_head WHERE log = 1) <= $1 + ${followed}
    ORDER BY seq`
)
/** What a movement says about how its accounts were left, and which hold it ended. */
export interface Trace extends Pick<Movement, "debit" | "debit_posted" | "debit_held" | "credit" | "credit_posted"> {
  readonly ended: string | null
}
/** Reads the movements behind a sequence of the log, as far as it is known. */
export const after = (seq: bigint | undefined): ReadonlyArray<Pipeline.Step> =>
  seq === undefined ? [] : [{ statement: movementsAfter, values: [seq] }]
export const asTrace = ([debit, debit_posted, debit_held, credit, credit_posted, ended]: Pipeline.Row): Trace => ({
  debit: Pipeline.bigint(debit),
  debit_posted: Pipeline.bigint(debit_posted),
  debit_held: Pipeline.bigint(debit_held),
  credit: Pipeline.bigint(credit),
  credit_posted: Pipeline.bigint(credit_posted),
  ended: Pipeline.nullable(Pipeline.text)(ended)
})

const accountsById = Pipeline.statement(
  [OID.uuidArray],
  "SELECT key, id, currency, posted, held, may_overdraw, frozen, purpose = 'wallet' FROM ledger_accounts WHERE id = ANY($1)"
)
const asAccount = ([
  key,
  id,
  currency,
  posted,
  held,
  may_overdraw,
  frozen,
  is_wallet
]: Pipeline.Row): LedgerAccount => ({
  key: Pipeline.bigint(key),
  id: Pipeline.text(id),
  currency: Pipeline.text(currency),
  posted: Pipeline.bigint(posted),
  held: Pipeline.bigint(held),
  may_overdraw: Pipeline.flag(may_overdraw),
  frozen: Pipeline.flag(frozen),
  is_wallet: Pipeline.flag(is_wallet)
})

const movementsByCommand = Pipeline.statement(
  [OID.uuidArray],
  `SELECT seq, command_id, step, kind, debit, credit, amount, debit_posted, debit_held, credit_posted, hold_id, code,
    created_at FROM movements WHERE command_id = ANY($1) ORDER BY seq`
)
const asKind = Pipeline.oneOf("transfer", "hold", "capture", "release", "count", "refuse")
const asMovement = (row: Pipeline.Row): Movement => {
  const [seq, command_id, step, kind, debit, credit, amount, debit_posted, debit_held, credit_posted] = row
  const [hold_id, code, created_at] = row.slice(10)
  return {
    seq: Pipeline.bigint(seq),
    command_id: Pipeline.text(command_id),
    step: Pipeline.int(step),
    kind: asKind(kind),
    debit: Pipeline.bigint(debit),
    credit: Pipeline.bigint(credit),
    amount: Pipeline.bigint(amount),
    debit_posted: Pipeline.bigint(debit_posted),
    debit_held: Pipeline.bigint(debit_held),
    credit_posted: Pipeline.bigint(credit_posted),
    hold_id: Pipeline.nullable(Pipeline.text)(hold_id),
    code: Pipeline.text(code),
    created_at: Pipeline.date(created_at)
  }
}

const holdsById = Pipeline.statement(
  [OID.uuidArray],
  "SELECT id, debit, credit, amount, captured, state, expires_at FROM holds WHERE id = ANY($1)"
)
const asState = Pipeline.oneOf("open", "captured", "released", "expired")
const asHold = ([id, debit, credit, amount, captured, state, expires_at]: Pipeline.Row): Hold => ({
  id: Pipeline.text(id),
  debit: Pipeline.bigint(debit),
  credit: Pipeline.bigint(credit),
  amount: Pipeline.bigint(amount),
  captured: Pipeline.bigint(captured),
  state: asState(state),
  expires_at: Pipeline.date(expires_at)
})

const talliesByName = Pipeline.overLists(
  "r",
  [
    ["scope", OID.uuidArray],
    ["subject", OID.uuidArray]
  ],
  (rows) => `SELECT t.scope, t.subject, t.count, t.amount FROM ${rows}
    JOIN tallies t ON t.log = 1 AND t.scope = r.scope AND t.subject = r.subject`
)
const asTally = ([scope, subject, count, amount]: Pipeline.Row): Tally => ({
  scope: Pipeline.text(scope),
  subject: Pipeline.text(subject),
  count: Pipeline.bigint(count),
  amount: Pipeline.bigint(amount)
})

const keysByName = Pipeline.overLists(
  "c",
  [
    ["tenant_id", OID.uuidArray],
    ["operation", OID.textArray],
    ["key", OID.textArray]
  ],
  (rows) => `SELECT k.tenant_id, k.operation, k.key, k.fingerprint, k.command_id, k.result, k.expires_at
    FROM ${rows}
    JOIN idempotency_keys k USING (tenant_id, operation, key)`
)
const asKey = ([tenant_id, operation, key, fingerprint, command_id, result, expires_at]: Pipeline.Row) => ({
  tenant_id: Pipeline.text(tenant_id),
  operation: Pipeline.text(operation),
  key: Pipeline.text(key),
  fingerprint: Pipeline.text(fingerprint),
  command_id: Pipeline.text(command_id),
  result,
  expires_at: Pipeline.date(expires_at)
})

export interface Touched {
  readonly accounts: ReadonlyArray<string>
  readonly holds: ReadonlyArray<string>
  readonly tallies: ReadonlyArray<TallyRef>
}

/** What the commands touch, each thing once. */
export const touchedBy = (commands: ReadonlyArray<Command>): Touched => {
  const accounts = new Set<string>()
  const holds = new Set<string>()
  const tallies = new Map<string, TallyRef>()
  for (const { fences, steps } of commands) {
    if (fences !== undefined)
      for (const { scope } of fences) tallies.set(`${scope} ${version}`, { scope, subject: version })
    for (const step of steps) {
      accounts.add(step.debit).add(step.credit)
      if (step.kind === "capture" || step.kind === "release") holds.add(step.hold)
      const consulted = consultedBy(step)
      if (consulted !== undefined) tallies.set(tallyName(consulted), consulted)
    }
  }
  return { accounts: [...accounts], holds: [...holds], tallies: [...tallies.values()] }
}

export interface Reading {
  readonly touched: Touched
  /** Reads everything that is touched. */
  readonly steps: ReadonlyArray<Pipeline.Step>
  /** What the answers to these steps say. */
  readonly understand: (
    answers: ReadonlyArray<ReadonlyArray<Pipeline.Row>>
  ) => Omit<Book, "seq" | "at" | "keysExpireAt" | "custody">
}

/** The commands of a group and the items of those that have some. */
export const flat = <A extends { readonly items?: ReadonlyArray<A> | undefined }>(
  group: ReadonlyArray<A>
): ReadonlyArray<A> =>
  group.some(({ items }) => items !== undefined)
    ? group.flatMap((command) => [command, ...(command.items ?? [])])
    : group

export const reading = (group: ReadonlyArray<Command>): Reading => {
  const commands = flat(group)
  const touched = touchedBy(commands)
  const { accounts, holds, tallies } = touched
  const claims = commands.flatMap(({ idempotency }) => idempotency ?? [])
  const steps: Array<Pipeline.Step> = []
  const ask = (statement: Pipeline.Statement, values: ReadonlyArray<unknown>) => steps.push({ statement, values }) - 1
  const places = {
    accounts: ask(accountsById, [accounts]),
    posted: ask(movementsByCommand, [commands.map(({ id }) => id)]),
    holds: holds.length === 0 ? -1 : ask(holdsById, [holds]),
    tallies:
      tallies.length === 0
        ? -1
        : ask(talliesByName, [tallies.map(({ scope }) => scope), tallies.map(({ subject }) => subject)]),
    keys:
      claims.length === 0
        ? -1
        : ask(keysByName, [
            claims.map(({ tenant_id }) => tenant_id),
            claims.map(({ operation }) => operation),
            claims.map(({ key }) => key)
          ])
  }
  return {
    touched,
    steps,
    understand: (answers) => {
      const rows = (place: number) => answers[place] ?? []
      return {
        accounts: rows(places.accounts).map(asAccount),
        posted: rows(places.posted).map(asMovement),
        holds: rows(places.holds).map(asHold),
        tallies: rows(places.tallies).map(asTally),
        keys: rows(places.keys).map(asKey)
      }
    }
  }
}
