import { DateTime, Duration, Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import {
  stateAfter,
  type ChainEvent,
  ChainSettlement,
  eventOf,
  finalStates,
  keepAuthorization,
  openStates,
  type Outcome,
  retryAfter
} from "#domain/ChainSettlement.ts"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import * as EachRow from "../Database/EachRow.ts"
import { companion } from "../Ledger/Companion.ts"
import type { ChainPolicy } from "./Policy.ts"

/** Money to take from a payer on a chain. The caller chooses the id: one id is one settlement. */
export interface ChainOrder {
  readonly id: string
  /** Whose outcome is to be booked; none when nobody waits for it. */
  readonly payment_id: string | undefined
  readonly authorization: Authorization
  /** Micro-units, above zero. */
  readonly amount: bigint
  /** Since when money may have moved for it, where that is not since it was ordered: its authorisation may have been seen before. */
  readonly since?: Date | undefined
}

/** Marks outcomes as booked, in the transaction that books them. */
export const bookChainSettlement = companion<{ readonly id: string; readonly booked_at: string }>(
  `UPDATE chain_settlements c SET booked_at = r.booked_at
  FROM jsonb_to_recordset($1::jsonb) AS r (id uuid, booked_at timestamptz)
  WHERE c.id = r.id AND c.booked_at IS NULL`
)

const columns = `id, payment_id, "authorization", amount, state, transaction, transfer_log, reason, attempts, due_at, give_up_at,
  booked_at, created_at`

/** Of a settlement that the chain says nothing about, the operator hears with every so many questions: some ten minutes of them. */
const toldEvery = 10

/** The rows of settlements. Every change of state goes through the table of transitions, under the row's lock. */
export const make = Effect.fnUntraced(function* (policy: ChainPolicy) {
  const sql = yield* SqlClient.SqlClient
  const pauses = {
    first: Duration.toMillis(policy.firstRetry),
    longest: Duration.toMillis(policy.longestRetry)
  }
  const lockedById = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: ChainSettlement,
    execute: (id) => sql`SELECT ${sql.literal(columns)} FROM chain_settlements WHERE id = ${id} FOR NO KEY UPDATE`
  })
  const byId = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: ChainSettlement,
    execute: (id) => sql`SELECT ${sql.literal(columns)} FROM chain_settlements WHERE id = ${id}`
  })

  const write = (row: ChainSettlement, state: string, due_at: Date | null) =>
    sql`UPDATE chain_settlements SET state = ${state}, transaction = ${row.transaction}, reason = ${row.reason},
        transfer_log = ${row.transfer_log}, attempts = ${row.attempts}, due_at = ${due_at},
        concluded_at = CASE WHEN ${state} IN ('confirmed', 'refused') THEN ${due_at}::timestamptz END
      WHERE id = ${row.id}`

  /** Keeps the order, once; false when its authorisation is being settled under another id, or was. */
  const insert = Effect.fnUntraced(function* (order: ChainOrder) {
    const { amount, authorization, id, payment_id } = order
    const now = yield* DateTime.now
    const at = DateTime.toDate(now)
    const until = Math.max(authorization.validUntil.getTime(), at.getTime()) + Duration.toMillis(policy.patience)
    // The payer says how long an authorisation is valid, and may say for ever.
    const giveUpAt = DateTime.toDate(
      DateTime.makeUnsafe(Math.min(until, at.getTime() + Duration.toMillis(policy.longestLife)))
    )
    yield* sql`INSERT INTO chain_settlements (id, payment_id, "authorization", network, asset, payer, nonce, amount,
        state, due_at, give_up_at, created_at)
      VALUES (${id}, ${payment_id ?? null}, ${encode(keepAuthorization(authorization))}, ${authorization.network},
        ${authorization.asset}, ${authorization.payer}, ${authorization.nonce}, ${amount}, 'prepared', ${at},
        ${giveUpAt}, ${order.since ?? at})
      ON CONFLICT DO NOTHING`
    return yield* byId(id)
  }, Effect.orDie)

  const read = EachRow.reader("a settlement on a chain", ChainSettlement)
  const leaseFrom = (now: DateTime.Utc) => DateTime.toDate(DateTime.addDuration(now, policy.lease))

  const taken = (row: ChainSettlement): ChainSettlement => ({ ...row, attempts: row.attempts + 1 })

  const due = SqlSchema.findAll({
    Request: Schema.Struct({ now: Schema.Date, limit: Schema.Int }),
    Result: EachRow.Raw,
    execute: ({ limit, now }) =>
      sql`SELECT ${sql.literal(columns)} FROM chain_settlements
        WHERE state IN ('prepared', 'submitting', 'pending', 'unknown') AND due_at <= ${now}
        ORDER BY due_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED`
  })

  /** Makes a row ours until the lease ends. Its due time moves, so what a dead process held comes back by itself. */
  const take = Effect.fnUntraced(function* (row: ChainSettlement, now: DateTime.Utc) {
    const state = stateAfter(row.state, "taken")
    if (state === undefined || row.due_at === null || row.due_at.getTime() > DateTime.toEpochMillis(now)) return []
    const mine = taken({ ...row, state, due_at: leaseFrom(now) })
    yield* write(mine, state, mine.due_at)
    return [mine]
  })

  /** Takes this settlement, if it is open and nobody else has it. */
  const takeOne = Effect.fnUntraced(
    function* (id: string) {
      const row = yield* lockedById(id)
      return Option.isSome(row) ? (yield* take(row.value, yield* DateTime.now))[0] : undefined
    },
    sql.withTransaction,
    Effect.orDie
  )

  /** Takes what is due, oldest first. What cannot be read lets the others go first until a lease would end. */
  const takeDue = Effect.fnUntraced(
    function* (limit: number) {
      const now = yield* DateTime.now
      const { rows, unreadable } = yield* read(yield* due({ now: DateTime.toDate(now), limit }))
      if (unreadable.length > 0)
        yield* sql`UPDATE chain_settlements SET due_at = ${leaseFrom(now)} WHERE id = ANY(${EachRow.idsOf(unreadable)}::uuid[])`
      return (yield* Effect.forEach(rows, (row) => take(row, now))).flat()
    },
    sql.withTransaction,
    Effect.orDie
  )

  /** Makes due what nobody puts off for so long: the time has been set back since. */
  const bringForward = Effect.fnUntraced(function* (longest: Duration.Duration) {
    const now = yield* DateTime.now
    yield* sql`UPDATE chain_settlements SET due_at = ${DateTime.toDate(now)}
      WHERE state IN ('prepared', 'submitting', 'pending', 'unknown')
        AND due_at > ${DateTime.toDate(DateTime.addDuration(now, longest))}`
  }, Effect.orDie)

  const eventAt = (row: ChainSettlement, outcome: Outcome, now: DateTime.Utc): ChainEvent => {
    const event = eventOf(outcome)
    const open = event === "sent" || event === "unanswered"
    return open && row.give_up_at.getTime() <= DateTime.toEpochMillis(now) ? "given_up" : event
  }

  /**
   * Writes down what the rail said to question number `attempt`. That money moved is true whoever learned it; all else counts only
   * while nobody has asked again, because the later question may have moved the money.
   */
  const record = Effect.fnUntraced(
    function* (id: string, attempt: number | undefined, outcome: Outcome) {
      const found = yield* lockedById(id)
      if (Option.isNone(found)) return undefined
      const row = found.value
      const now = yield* DateTime.now
      const event = eventAt(row, outcome, now)
      const state = stateAfter(row.state, event)
      const overtaken = attempt !== undefined && attempt !== row.attempts && event !== "settled"
      if (state === undefined || overtaken) {
        if (finalStates.includes(row.state) && outcome._tag !== "Pending" && eventOf(outcome) !== concluded(row)) {
          yield* Effect.logError("ALERT: a rail contradicts the outcome of a settlement", { id, outcome })
        }
        return row
      }
      if (state === "unresolved") yield* Effect.logError("ALERT: a settlement is left to the operator", { id })
      else if (openStates.includes(state) && row.attempts % toldEvery === 0) {
        const { attempts, transaction } = row
        yield* Effect.logWarning("A settlement on a chain has no outcome yet", { id, transaction, attempts })
      }
      const pause = finalStates.includes(state) ? Duration.zero : Duration.millis(retryAfter(row.attempts, pauses))
      const next: ChainSettlement = {
        ...row,
        state,
        transaction: outcome._tag === "Refused" ? row.transaction : (outcome.transaction ?? row.transaction),
        transfer_log: outcome._tag === "Settled" ? (outcome.log ?? null) : row.transfer_log,
        reason: outcome._tag === "Refused" ? outcome.reason : null,
        due_at: DateTime.toDate(DateTime.addDuration(now, pause))
      }
      yield* write(next, state, next.due_at)
      return next
    },
    sql.withTransaction,
    Effect.orDie
  )

  /** Puts what was left to the operator back among what is asked about. */
  const resume = Effect.fnUntraced(
    function* (id: string) {
      const found = yield* lockedById(id)
      const state = Option.isSome(found) ? stateAfter(found.value.state, "resumed") : undefined
      if (Option.isNone(found) || state === undefined) return false
      const now = yield* DateTime.now
      const give_up_at = DateTime.toDate(DateTime.addDuration(now, policy.patience))
      yield* sql`UPDATE chain_settlements SET give_up_at = ${give_up_at} WHERE id = ${id}`
      yield* write(found.value, state, DateTime.toDate(now))
      return true
    },
    sql.withTransaction,
    Effect.orDie
  )

  const unbooked = SqlSchema.findAll({
    Request: Schema.Struct({ now: Schema.Date, before: Schema.Date, until: Schema.Date, limit: Schema.Int }),
    Result: EachRow.Raw,
    execute: ({ before, limit, now, until }) =>
      sql`WITH waiting AS (
          SELECT id FROM chain_settlements
          WHERE state IN ('confirmed', 'refused') AND payment_id IS NOT NULL AND booked_at IS NULL
            AND due_at <= ${now} AND concluded_at <= ${before}
          ORDER BY due_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
        )
        UPDATE chain_settlements SET due_at = ${until} WHERE id IN (SELECT id FROM waiting)
        RETURNING ${sql.literal(columns)}`
  })
  /** Takes outcomes that nobody booked in time; they come again when the lease ends. */
  const takeUnbooked = Effect.fnUntraced(function* (limit: number) {
    const now = yield* DateTime.now
    const before = DateTime.toDate(DateTime.subtractDuration(now, policy.bookingGrace))
    return (yield* read(yield* unbooked({ now: DateTime.toDate(now), before, until: leaseFrom(now), limit }))).rows
  }, Effect.orDie)

  const unresolved = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ count: Schema.Int }),
    execute: () => sql`SELECT count(*)::int4 AS count FROM chain_settlements WHERE state = 'unresolved'`
  })

  return {
    insert,
    takeOne,
    takeDue,
    // Clocks of processes are a little apart.
    bringForward: bringForward(Duration.sum(Duration.max(policy.lease, policy.longestRetry), Duration.minutes(1))),
    record,
    resume,
    takeUnbooked,
    unresolved: Effect.map(Effect.orDie(unresolved()), ({ count }) => count),
    find: (id: string) => Effect.orDie(byId(id)),
    isOpen: (row: ChainSettlement) => openStates.includes(row.state)
  }
})

const concluded = (row: ChainSettlement): ChainEvent => (row.state === "confirmed" ? "settled" : "refused")

const encode = Schema.encodeSync(Schema.fromJsonString(Schema.Unknown))
