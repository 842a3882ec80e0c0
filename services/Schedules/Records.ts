import { DateTime, Effect, type Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { EventDraft } from "#domain/Event.ts"
import { AccountId, highestUuid, type ScheduleId, TenantId, type TransferId, WalletId } from "#domain/Ids.ts"
import { type Advanced, dueAt, Schedule, ScheduleStatus, scheduleOnWire } from "#domain/Schedule.ts"
import type { Transfer } from "#domain/Transfer.ts"
import * as EachRow from "../Database/EachRow.ts"
import { OID } from "../Database/Pipeline.ts"
import { columnar } from "../Ledger/Companion.ts"
import { transferColumns, TransferRow } from "../Transfers/Records.ts"

const ScheduleRow = Schema.toType(Schedule)
const read = EachRow.reader("a scheduled transfer", ScheduleRow)

const terms = [
  ["id", OID.uuidArray],
  ["tenant_id", OID.uuidArray],
  ["type", OID.textArray],
  ["amount", OID.int8Array],
  ["currency", OID.textArray],
  ["from_wallet_id", OID.uuidArray],
  ["to_wallet_id", OID.uuidArray],
  ["from_account_id", OID.uuidArray],
  ["to_account_id", OID.uuidArray],
  ["memo", OID.textArray],
  ["scheduled_at", OID.timestamptzArray],
  ["frequency", OID.textArray],
  ["cron_expression", OID.textArray],
  ["interval", OID.int4Array],
  ["day_of_month", OID.int4Array],
  ["day_of_week", OID.int4Array],
  ["time", OID.textArray],
  ["timezone", OID.textArray],
  ["start_at", OID.timestamptzArray],
  ["end_at", OID.timestamptzArray],
  ["max_occurrences", OID.int4Array],
  ["retry_enabled", OID.boolArray],
  ["max_retry_attempts", OID.int4Array],
  ["retry_window_days", OID.int4Array],
  ["initiated_by_type", OID.textArray],
  ["initiated_by_id", OID.textArray],
  ["created_at", OID.timestamptzArray]
] as const

const progress = [
  ["status", OID.textArray],
  ["next_execution_at", OID.timestamptzArray],
  ["last_execution_at", OID.timestamptzArray],
  ["executions_completed", OID.int4Array],
  ["last_transfer_id", OID.uuidArray],
  ["failure_reason", OID.textArray],
  ["attempts", OID.int4Array],
  ["version", OID.int8Array],
  ["occurrence_at", OID.timestamptzArray],
  ["occurrences", OID.int4Array],
  ["first_attempt_at", OID.timestamptzArray],
  ["due_at", OID.timestamptzArray],
  ["updated_at", OID.timestamptzArray]
] as const

type Stored = Omit<Schedule, "initiated_by"> & {
  readonly initiated_by_type: string
  readonly initiated_by_id: string
  readonly due_at: Date | null
}

const stored = (schedule: Schedule): Stored => ({
  ...schedule,
  initiated_by_type: schedule.initiated_by.type,
  initiated_by_id: schedule.initiated_by.id,
  due_at: dueAt(schedule)
})

const all = [...terms, ...progress]
const insert = columnar<Stored>(
  all,
  (rows, names) => `INSERT INTO scheduled_transfers (${names}) SELECT * FROM ${rows} ON CONFLICT DO NOTHING`
)

/** Writes a new schedule. */
export const insertSchedule = (schedule: Schedule) => insert.of(stored(schedule))

const update = columnar<Stored>(
  [["id", OID.uuidArray], ...progress],
  (rows) => `UPDATE scheduled_transfers s SET ${progress.map(([name]) => `${name} = r.${name}`).join(", ")}
  FROM ${rows} WHERE s.id = r.id`
)

/** Writes how far a schedule has come, and the end of whatever lease there was. */
export const updateSchedule = (schedule: Schedule) => update.of(stored(schedule))

/** Notes which transfer was which attempt at which occurrence. */
export const insertExecution = columnar<{
  readonly transfer_id: TransferId
  readonly schedule_id: ScheduleId
  readonly occurrence: number
  readonly attempt: number
}>(
  [
    ["transfer_id", OID.uuidArray],
    ["schedule_id", OID.uuidArray],
    ["occurrence", OID.int4Array],
    ["attempt", OID.int4Array]
  ],
  (rows, names) => `INSERT INTO scheduled_executions (${names}) SELECT * FROM ${rows} ON CONFLICT DO NOTHING`
)

/** The facts of what happened to a schedule, with the schedule as it is then. */
export const scheduleEvents = ({ happened, schedule }: Advanced): ReadonlyArray<EventDraft> => {
  if (happened.length === 0) return []
  const data = { scheduled_transfer: scheduleOnWire(schedule) }
  return happened.map((type) => ({ tenant_id: schedule.tenant_id, type, data }))
}

/** What narrows a list of schedules; every field given must match. */
export interface ScheduleFilter {
  readonly status?: ScheduleStatus
  readonly from_wallet_id?: WalletId
  readonly account_id?: AccountId
}

const columns = all
  .filter(([name]) => name !== "due_at" && !name.startsWith("initiated_by"))
  .map(([name]) => `s.${name}`)
  .concat("jsonb_build_object('type', s.initiated_by_type, 'id', s.initiated_by_id) AS initiated_by")
  .join(", ")

const Search = Schema.toType(
  Schema.Struct({
    tenant_id: TenantId,
    status: Schema.optionalKey(ScheduleStatus),
    from_wallet_id: Schema.optionalKey(WalletId),
    account_id: Schema.optionalKey(AccountId),
    limit: Schema.Int,
    offset: Schema.Int
  })
)
type Search = typeof Search.Type

/** Reads schedules, and leases those that are due. */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const schedules = sql`SELECT ${sql.literal(columns)} FROM scheduled_transfers s`

  const byId = SqlSchema.findOneOption({
    Request: Schema.Struct({ tenant_id: Schema.String, id: Schema.String }),
    Result: ScheduleRow,
    execute: ({ id, tenant_id }) => sql`${schedules} WHERE s.id = ${id} AND s.tenant_id = ${tenant_id}`
  })

  const matching = ({ account_id, from_wallet_id, status, tenant_id }: Search) =>
    sql.and([
      sql`s.tenant_id = ${tenant_id}`,
      ...(status === undefined ? [] : [sql`s.status = ${status}`]),
      ...(from_wallet_id === undefined ? [] : [sql`s.from_wallet_id = ${from_wallet_id}`]),
      ...(account_id === undefined ? [] : [sql`${account_id} IN (s.from_account_id, s.to_account_id)`])
    ])
  const search = SqlSchema.findAll({
    Request: Search,
    Result: ScheduleRow,
    // What comes before the page is passed by in an index; rows are read of the page only. Planned for what it asks: a plan for any
    // value reads all that a large tenant has to find the few of one account or wallet.
    execute: (request) =>
      sql`WITH page AS MATERIALIZED (
          SELECT s.id FROM scheduled_transfers s WHERE ${matching(request)} ORDER BY s.id DESC
          LIMIT ${request.limit} OFFSET ${request.offset}
        ) ${schedules} WHERE s.id IN (SELECT id FROM page) ORDER BY s.id DESC`.unprepared
  })
  const count = SqlSchema.findOne({
    Request: Search,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (request) =>
      sql`SELECT count(*)::int AS total FROM scheduled_transfers s WHERE ${matching(request)}`.unprepared
  })

  const executions = SqlSchema.findAll({
    Request: Schema.Struct({ id: Schema.String, before: Schema.String, limit: Schema.Int }),
    Result: TransferRow,
    execute: ({ before, id, limit }) =>
      sql`SELECT ${sql.literal(transferColumns)} FROM scheduled_executions e JOIN transfers t ON t.id = e.transfer_id
        WHERE e.schedule_id = ${id} AND e.transfer_id < ${before} ORDER BY e.transfer_id DESC LIMIT ${limit}`
  })

  const take = SqlSchema.findAll({
    Request: Schema.Struct({ now: Schema.Date, until: Schema.Date }),
    Result: EachRow.Raw,
    execute: ({ now, until }) =>
      sql`WITH due AS (
          SELECT id FROM scheduled_transfers WHERE due_at <= ${now} ORDER BY due_at LIMIT ${sql.literal(String(batch))}
          FOR NO KEY UPDATE SKIP LOCKED
        )
        UPDATE scheduled_transfers s SET due_at = ${until} WHERE s.id IN (SELECT id FROM due)
        RETURNING ${sql.literal(columns)}`
  })

  return {
    find: (tenant_id: TenantId, id: ScheduleId): Effect.Effect<Option.Option<Schedule>> =>
      Effect.orDie(byId({ tenant_id, id })),
    list: Effect.fnUntraced(function* (request: Search) {
      return { schedules: yield* search(request), total: (yield* count(request)).total }
    }, Effect.orDie),
    /** Newest first, from before `before`. */
    executions: (
      id: ScheduleId,
      range: { readonly limit: number; readonly before?: TransferId | undefined }
    ): Effect.Effect<ReadonlyArray<Transfer>> =>
      Effect.orDie(executions({ id, limit: range.limit, before: range.before ?? highestUuid })),
    /**
     * Takes at most `batch` schedules that are due, longest first; nobody else gets them before the lease is over. Those that
     * cannot be read are reported and left out.
     */
    takeDue: Effect.gen(function* () {
      const now = yield* DateTime.now
      const until = DateTime.toDate(DateTime.addDuration(now, lease))
      const taken = yield* Effect.orDie(take({ now: DateTime.toDate(now), until }))
      const { rows: due } = yield* read(taken)
      return { due, isAll: taken.length < batch }
    })
  }
})

/** How many schedules are taken, and posted together, at a time; the plan of the statement knows it. */
export const batch = 250

/** Longer than a command may wait for the ledger. */
const lease = "30 seconds"
