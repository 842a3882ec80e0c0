import { DateTime, type Duration, Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { TransferId, type TenantId } from "#domain/Ids.ts"
import { Currency, Micros } from "#domain/Money.ts"
import { Settlement, type SettlementState, transferStatusOf } from "#domain/Settlement.ts"
import type { Transfer } from "#domain/Transfer.ts"
import * as EachRow from "../Database/EachRow.ts"
import { OID } from "../Database/Pipeline.ts"
import { columnar, type CompanionRow } from "../Ledger/Companion.ts"
import { transferColumns } from "../Transfers/Records.ts"

/** Writes a new settlement in the transaction of its hold. */
export const insertSettlement = columnar<{
  readonly transfer_id: TransferId
  readonly tenant_id: TenantId
  readonly due_at: Date
  readonly created_at: Date
}>(
  [
    ["transfer_id", OID.uuidArray],
    ["tenant_id", OID.uuidArray],
    ["due_at", OID.timestamptzArray],
    ["created_at", OID.timestamptzArray]
  ],
  (rows, names) => `INSERT INTO settlements (${names}, state) SELECT r.*, 'pending' FROM ${rows} ON CONFLICT DO NOTHING`
)

const moveSettlement = columnar<{
  readonly transfer_id: TransferId
  readonly version: bigint
  readonly state: SettlementState
  readonly submitted_at: Date | null
  readonly give_up_at: Date | null
  readonly rail_reference: string | null
  readonly concluded_at: Date | null
}>(
  [
    ["transfer_id", OID.uuidArray],
    ["version", OID.int8Array],
    ["state", OID.textArray],
    ["submitted_at", OID.timestamptzArray],
    ["give_up_at", OID.timestamptzArray],
    ["rail_reference", OID.textArray],
    ["concluded_at", OID.timestamptzArray]
  ],
  (
    rows
  ) => `UPDATE settlements s SET version = r.version, state = r.state, submitted_at = coalesce(r.submitted_at, s.submitted_at),
    give_up_at = coalesce(r.give_up_at, s.give_up_at), rail_reference = r.rail_reference, concluded_at = r.concluded_at
  FROM ${rows}
  WHERE s.transfer_id = r.transfer_id`
)

const moveTransfer = columnar<
  Pick<Transfer, "id" | "status" | "failure_reason" | "updated_at" | "completed_at" | "protocol_metadata">
>(
  [
    ["id", OID.uuidArray],
    ["status", OID.textArray],
    ["failure_reason", OID.textArray],
    ["updated_at", OID.timestamptzArray],
    ["completed_at", OID.timestamptzArray],
    ["protocol_metadata", OID.jsonbArray]
  ],
  (rows) => `UPDATE transfers t SET status = r.status, failure_reason = r.failure_reason, updated_at = r.updated_at,
    completed_at = r.completed_at, protocol_metadata = r.protocol_metadata
  FROM ${rows}
  WHERE t.id = r.id`
)

/** What a move to another state brings beside the state. */
export interface Move {
  readonly at: Date
  readonly failure_reason?: Transfer["failure_reason"]
  readonly rail_reference?: string
}

/** The settlement in its next state, which is the next version of it. */
export const moved = (
  settlement: Settlement,
  state: SettlementState,
  { at, failure_reason = null, rail_reference }: Move
): Settlement => ({
  ...settlement,
  state,
  version: settlement.version + 1n,
  status: transferStatusOf(state),
  failure_reason,
  updated_at: at,
  completed_at: state === "completed" ? at : null,
  protocol_metadata:
    rail_reference === undefined ? settlement.protocol_metadata : { ...settlement.protocol_metadata, rail_reference }
})

/** Both rows of a settlement that moved, to be written in the transaction of its fence. */
export const writeMoved = (
  settlement: Settlement,
  { at, rail_reference }: Move,
  submission: { readonly submitted_at: Date; readonly give_up_at: Date } | undefined = undefined
): ReadonlyArray<CompanionRow> => [
  moveSettlement.of({
    transfer_id: settlement.id,
    version: settlement.version,
    state: settlement.state,
    submitted_at: submission?.submitted_at ?? null,
    give_up_at: submission?.give_up_at ?? null,
    rail_reference: rail_reference ?? null,
    concluded_at: settlement.status === "processing" ? null : at
  }),
  moveTransfer.of(settlement)
]

/** What is due first when so many are, and the notes that whoever asks the rail leaves. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns =
    sql.literal(`${transferColumns}, s.tenant_id, s.version, s.state, s.attempts, s.unanswered, s.due_at, s.give_up_at,
    f.network AS from_network, f.address AS from_address, d.network AS to_network, d.address AS to_address`)
  const joined = sql.literal(`JOIN transfers t ON t.id = s.transfer_id
    JOIN wallets f ON f.id = t.from_wallet_id JOIN wallets d ON d.id = t.to_wallet_id`)
  const Id = Schema.toType(TransferId)

  const byId = SqlSchema.findOneOption({
    Request: Id,
    Result: Settlement,
    execute: (id) => sql`SELECT ${columns} FROM settlements s ${joined} WHERE s.transfer_id = ${id}`
  })

  const take = SqlSchema.findAll({
    Request: Schema.Struct({ now: Schema.Date, until: Schema.Date, limit: Schema.Int }),
    Result: EachRow.Raw,
    execute: ({ limit, now, until }) =>
      sql`WITH due AS (
          SELECT transfer_id FROM settlements
          WHERE state IN ('pending', 'submitting', 'submitted', 'unknown') AND due_at <= ${now}
          ORDER BY due_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
        ), s AS (
          UPDATE settlements o SET attempts = o.attempts + 1, due_at = ${until} FROM due
          WHERE o.transfer_id = due.transfer_id RETURNING o.*
        )
        SELECT ${columns} FROM s ${joined}`
  })
  const read = EachRow.reader("a settlement", Settlement)
  /**
   * Makes what is due ours until the lease ends. The due time moves, so what a dead process held comes back by itself, and what
   * cannot be read lets the others go first.
   */
  const takeDue = Effect.fnUntraced(function* (limit: number, lease: Duration.Duration) {
    const now = yield* DateTime.now
    const until = DateTime.toDate(DateTime.addDuration(now, lease))
    return (yield* read(yield* take({ now: DateTime.toDate(now), until, limit }))).rows
  }, Effect.orDie)

  /** Makes due what nobody puts off for so long: the time has been set back since. When it is first asked about is another matter. */
  const bringForward = Effect.fnUntraced(function* (longest: Duration.Duration) {
    const now = yield* DateTime.now
    yield* sql`UPDATE settlements SET due_at = ${DateTime.toDate(now)}
      WHERE state IN ('pending', 'submitting', 'submitted', 'unknown') AND attempts > 0
        AND due_at > ${DateTime.toDate(DateTime.addDuration(now, longest))}`
  }, Effect.orDie)

  const keep = SqlSchema.findOneOption({
    Request: Schema.Struct({ id: Id, attempts: Schema.Int, until: Schema.Date }),
    Result: Schema.Struct({ id: Id }),
    execute: ({ attempts, id, until }) =>
      sql`UPDATE settlements SET due_at = ${until} WHERE transfer_id = ${id} AND attempts = ${attempts}
        RETURNING transfer_id AS id`
  })
  /** Makes ours for another lease what nobody has taken since we did; whether it is. */
  const keepLease = Effect.fnUntraced(function* ({ attempts, id }: Settlement, lease: Duration.Duration) {
    const until = DateTime.toDate(DateTime.addDuration(yield* DateTime.now, lease))
    return Option.isSome(yield* keep({ id, attempts, until }))
  }, Effect.orDie)

  const firstDue = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ due_at: Schema.NullOr(Schema.Date) }),
    execute: () =>
      sql`SELECT min(due_at) AS due_at FROM settlements WHERE state IN ('pending', 'submitting', 'submitted', 'unknown')`
  })

  /** Notes what was learned, unless somebody has asked again since. Money and the transfer's status stay as they are. */
  const note = (settlement: Settlement, learned: Learned) =>
    Effect.orDie(
      Effect.asVoid(sql`UPDATE settlements SET state = ${learned.state}, unanswered = ${learned.unanswered},
          due_at = ${learned.due_at}, last_error = ${learned.last_error}
        WHERE transfer_id = ${settlement.id} AND attempts = ${settlement.attempts} AND state = ${settlement.state}`)
    )

  const unresolved = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Unresolved,
    execute: () => sql`SELECT t.id, t.amount, t.currency, s.submitted_at, s.last_error
      FROM settlements s JOIN transfers t ON t.id = s.transfer_id WHERE s.state = 'unresolved'
      ORDER BY s.transfer_id LIMIT 200`
  })

  const resumed = SqlSchema.findOneOption({
    Request: Schema.Struct({ id: Id, now: Schema.Date, give_up_at: Schema.Date }),
    Result: Schema.Struct({ id: Id }),
    execute: ({ give_up_at, id, now }) =>
      sql`UPDATE settlements SET state = 'unknown', unanswered = 0, due_at = ${now}, give_up_at = ${give_up_at}
        WHERE transfer_id = ${id} AND state = 'unresolved' RETURNING transfer_id AS id`
  })
  /** Puts what was left to the operator back among what is asked about. */
  const resume = Effect.fnUntraced(function* (id: TransferId, patience: Duration.Duration) {
    const now = yield* DateTime.now
    const give_up_at = DateTime.toDate(DateTime.addDuration(now, patience))
    return Option.isSome(yield* resumed({ id, now: DateTime.toDate(now), give_up_at }))
  }, Effect.orDie)

  return {
    find: (id: TransferId): Effect.Effect<Option.Option<Settlement>> => Effect.orDie(byId(id)),
    takeDue,
    bringForward,
    keepLease,
    firstDue: Effect.map(Effect.orDie(firstDue()), ({ due_at }) => due_at),
    note,
    unresolved: Effect.orDie(unresolved()),
    resume
  }
})

/** A settlement that was left to the operator. */
const Unresolved = Schema.toType(
  Schema.Struct({
    id: TransferId,
    amount: Micros,
    currency: Currency,
    submitted_at: Schema.Date,
    last_error: Schema.NullOr(Schema.String)
  })
)
export type Unresolved = typeof Unresolved.Type

/** What a question to the rail brought, when it did not end the settlement. */
export interface Learned {
  readonly state: SettlementState
  readonly unanswered: number
  readonly due_at: Date
  readonly last_error: string | null
}
