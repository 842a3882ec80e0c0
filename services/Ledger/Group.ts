import { DateTime, Effect, Result, Schema } from "effect"
import { type SqlClient, SqlError, type Statement } from "effect/sql"
import type { EventDraft } from "#domain/Event.ts"
import { Hold, LedgerAccount, Movement, Tally } from "#domain/LedgerAccount.ts"
import type { Command, Decision, Posted } from "#domain/Command.ts"
import { decide } from "#domain/Posting.ts"
import type { PostingRefused } from "#domain/PostingRefused.ts"
import { insertEvents } from "../EventLog.ts"
import type { CompanionRow } from "./Companion.ts"

/** A command together with the facts and rows that commit with it. Both are asked for only when it really moves. */
export interface LedgerCommand extends Command {
  readonly events?: (posted: Posted) => ReadonlyArray<EventDraft>
  readonly rows?: (posted: Posted) => ReadonlyArray<CompanionRow>
}

export type Answer = Result.Result<Posted, PostingRefused>

const Key = Schema.Struct({
  tenant_id: Schema.String,
  operation: Schema.String,
  key: Schema.String,
  fingerprint: Schema.String,
  command_id: Schema.String,
  result: Schema.Unknown,
  expires_at: Schema.Date
})
const Head = Schema.Struct({ movement_seq: Schema.BigInt, event_seq: Schema.BigInt })

const decoder = <S extends Schema.Codec<unknown, unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(schema))
  return <E>(rows: Effect.Effect<unknown, E>) => Effect.flatMap(rows, decode)
}
const asHead = decoder(Head)
const asAccounts = decoder(LedgerAccount)
const asHolds = decoder(Hold)
const asTallies = decoder(Tally)
const asMovements = decoder(Movement)
const asKeys = decoder(Key)
const none = Effect.succeed([])

/** Statements of one flight: written to the socket together and answered in order. */
const flight = { concurrency: 64 } as const

/** Reads what the group touches under the head's lock: one round trip on a pipelined connection. */
const read = (sql: SqlClient.SqlClient, commands: ReadonlyArray<LedgerCommand>) => {
  const accounts = new Set<string>()
  const holds = new Set<string>()
  const tallies = new Map<string, { readonly scope: string; readonly subject: string }>()
  for (const command of commands) {
    for (const step of command.steps) {
      accounts.add(step.debit).add(step.credit)
      if (step.kind === "capture" || step.kind === "release") holds.add(step.hold)
      if ("tally" in step && step.tally !== undefined) {
        tallies.set(`${step.tally.scope}${step.tally.subject}`, step.tally)
        tallies.set(step.tally.scope, { scope: step.tally.scope, subject: "00000000-0000-0000-0000-000000000000" })
      }
    }
  }
  const claims = commands.flatMap((command) => command.idempotency ?? [])
  const refs = [...tallies.values()]
  return Effect.all(
    [
      sql`BEGIN`,
      asHead(sql`SELECT movement_seq, event_seq FROM ledger_head WHERE log = 1 FOR UPDATE`),
      asAccounts(sql`SELECT key, id, currency, posted, held, may_overdraw, frozen FROM ledger_accounts
        WHERE id = ANY(${[...accounts]}::uuid[])`),
      asMovements(sql`SELECT seq, command_id, step, kind, debit, credit, amount, debit_posted, debit_held,
          credit_posted, hold_id, code, created_at FROM movements
        WHERE command_id = ANY(${commands.map((command) => command.id)}::uuid[]) ORDER BY seq`),
      holds.size === 0
        ? none
        : asHolds(sql`SELECT id, debit, credit, amount, captured, state, expires_at FROM holds
        WHERE id = ANY(${[...holds]}::uuid[])`),
      refs.length === 0
        ? none
        : asTallies(sql`SELECT t.scope, t.subject, t.count, t.amount
        FROM unnest(${refs.map((ref) => ref.scope)}::uuid[], ${refs.map((ref) => ref.subject)}::uuid[]) AS r (scope, subject)
        JOIN tallies t ON t.log = 1 AND t.scope = r.scope AND t.subject = r.subject`),
      claims.length === 0
        ? none
        : asKeys(sql`SELECT k.tenant_id, k.operation, k.key, k.fingerprint, k.command_id,
          k.result, k.expires_at
        FROM unnest(
          ${claims.map((claim) => claim.tenant_id)}::uuid[], ${claims.map((claim) => claim.operation)}::text[],
          ${claims.map((claim) => claim.key)}::text[]
        ) AS c (tenant_id, operation, key)
        JOIN idempotency_keys k USING (tenant_id, operation, key)`)
    ],
    flight
  )
}

/** The ledger's own rows, in one statement: a part for each table that changes, and the head last. */
const writeBooks = (
  sql: SqlClient.SqlClient,
  { accounts, holds, keys, movements, tallies }: Decision,
  events: ReadonlyArray<EventDraft>,
  head: typeof Head.Type,
  at: Date
) => {
  const parts: Array<Statement.Fragment> = []
  if (movements.length > 0) {
    parts.push(sql`written AS (
      INSERT INTO movements (seq, command_id, step, kind, debit, credit, amount, debit_posted, debit_held, credit_posted,
        hold_id, code, created_at)
      SELECT seq, command_id, step, kind, debit, credit, amount, debit_posted, debit_held, credit_posted,
        nullif(hold_id, '')::uuid, code, ${at}::timestamptz
      FROM unnest(
        ${movements.map((one) => one.seq)}::bigint[], ${movements.map((one) => one.command_id)}::uuid[],
        ${movements.map((one) => one.step)}::smallint[], ${movements.map((one) => one.kind)}::text[],
        ${movements.map((one) => one.debit)}::bigint[], ${movements.map((one) => one.credit)}::bigint[],
        ${movements.map((one) => one.amount)}::bigint[], ${movements.map((one) => one.debit_posted)}::bigint[],
        ${movements.map((one) => one.debit_held)}::bigint[], ${movements.map((one) => one.credit_posted)}::bigint[],
        ${movements.map((one) => one.hold_id ?? "")}::text[], ${movements.map((one) => one.code)}::text[]
      ) AS m (seq, command_id, step, kind, debit, credit, amount, debit_posted, debit_held, credit_posted, hold_id, code)
    )`)
  }
  if (accounts.length > 0) {
    parts.push(sql`balances AS (
      UPDATE ledger_accounts a SET posted = n.posted, held = n.held
      FROM unnest(
        ${accounts.map((one) => one.key)}::bigint[], ${accounts.map((one) => one.posted)}::bigint[],
        ${accounts.map((one) => one.held)}::bigint[]
      ) AS n (key, posted, held)
      WHERE a.key = n.key
    )`)
  }
  if (holds.length > 0) {
    parts.push(sql`reserved AS (
      INSERT INTO holds (id, debit, credit, amount, captured, state, expires_at, created_at)
      SELECT *, ${at}::timestamptz FROM unnest(
        ${holds.map((one) => one.id)}::uuid[], ${holds.map((one) => one.debit)}::bigint[],
        ${holds.map((one) => one.credit)}::bigint[], ${holds.map((one) => one.amount)}::bigint[],
        ${holds.map((one) => one.captured)}::bigint[], ${holds.map((one) => one.state)}::text[],
        ${holds.map((one) => one.expires_at)}::timestamptz[]
      )
      ON CONFLICT (id) DO UPDATE SET state = EXCLUDED.state, captured = EXCLUDED.captured WHERE holds.state = 'open'
    )`)
  }
  if (tallies.length > 0) {
    parts.push(sql`counted AS (
      INSERT INTO tallies (scope, subject, count, amount)
      SELECT * FROM unnest(
        ${tallies.map((one) => one.scope)}::uuid[], ${tallies.map((one) => one.subject)}::uuid[],
        ${tallies.map((one) => one.count)}::bigint[], ${tallies.map((one) => one.amount)}::bigint[]
      )
      ON CONFLICT (log, scope, subject) DO UPDATE SET count = EXCLUDED.count, amount = EXCLUDED.amount
    )`)
  }
  if (keys.length > 0) {
    parts.push(sql`remembered AS (
      INSERT INTO idempotency_keys (tenant_id, operation, key, fingerprint, command_id, result, expires_at)
      SELECT * FROM unnest(
        ${keys.map((one) => one.tenant_id)}::uuid[], ${keys.map((one) => one.operation)}::text[],
        ${keys.map((one) => one.key)}::text[], ${keys.map((one) => one.fingerprint)}::text[],
        ${keys.map((one) => one.command_id)}::uuid[], ${keys.map((one) => JSON.stringify(one.result))}::jsonb[],
        ${keys.map((one) => one.expires_at)}::timestamptz[]
      )
      ON CONFLICT (tenant_id, operation, key) DO UPDATE SET fingerprint = EXCLUDED.fingerprint,
        command_id = EXCLUDED.command_id, result = EXCLUDED.result, expires_at = EXCLUDED.expires_at
    )`)
  }
  if (events.length > 0) parts.push(sql`told AS (${insertEvents(sql, head.event_seq, at, events)})`)
  const moved = sql`UPDATE ledger_head SET movement_seq = ${head.movement_seq + BigInt(movements.length)},
    event_seq = ${head.event_seq + BigInt(events.length)} WHERE log = 1`
  return parts.length === 0 ? moved : sql`WITH ${sql.csv(parts)} ${moved}`
}

/** Writes a decision and commits: the second round trip. */
const write = (
  sql: SqlClient.SqlClient,
  decision: Decision,
  extra: { readonly events: ReadonlyArray<EventDraft>; readonly rows: ReadonlyArray<CompanionRow> },
  head: typeof Head.Type,
  at: Date
) => {
  // Companions are statements of their own: two of them may touch one row, which the parts of one statement may not.
  const companions = [...Map.groupBy(extra.rows, (row) => row.statement)].map(([statement, rows]) =>
    sql.unsafe(statement, [JSON.stringify(rows.map(({ row }) => row))])
  )
  const statements: ReadonlyArray<Effect.Effect<unknown, SqlError.SqlError>> = [
    writeBooks(sql, decision, extra.events, head, at),
    ...companions,
    commit(sql)
  ]
  return Effect.asVoid(Effect.all(statements, flight))
}

/** `COMMIT` of an aborted transaction succeeds and rolls back: only the command tag tells. */
const commit = (sql: SqlClient.SqlClient) =>
  Effect.flatMap(sql`COMMIT`.raw, (result) =>
    Schema.is(Committed)(result)
      ? Effect.void
      : Effect.fail(
          new SqlError.SqlError({
            reason: new SqlError.UnknownError({
              cause: result,
              message: "The group was rolled back",
              operation: "commit"
            })
          })
        )
  )
const Committed = Schema.Struct({ command: Schema.Literal("COMMIT") })

/** Posts a group on a connection of its own: two round trips, all or nothing, answers in order. */
export const postGroup = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  commands: ReadonlyArray<LedgerCommand>
): Effect.fn.Return<ReadonlyArray<Answer>, SqlError.SqlError | Schema.SchemaError> {
  const now = yield* DateTime.now
  const at = DateTime.toDate(now)
  const [, heads, accounts, posted, holds, tallies, keys] = yield* read(sql, commands)
  const head = heads[0]
  if (head === undefined) return yield* Effect.die("The ledger has no head row")
  const decision = decide(
    {
      accounts,
      holds,
      tallies,
      posted,
      keys,
      seq: head.movement_seq,
      at,
      keysExpireAt: DateTime.toDate(DateTime.add(now, { hours: 24 }))
    },
    commands
  )
  const events: Array<EventDraft> = []
  const rows: Array<CompanionRow> = []
  decision.answers.forEach((answer, index) => {
    const command = commands[index]
    if (command === undefined || Result.isFailure(answer) || answer.success.replayed) return
    if (command.events !== undefined) events.push(...command.events(answer.success))
    if (command.rows !== undefined) rows.push(...command.rows(answer.success))
  })
  if (decision.movements.length + decision.keys.length + rows.length + events.length === 0) yield* sql`ROLLBACK`
  else yield* write(sql, decision, { events, rows }, head, at)
  return decision.answers
})
