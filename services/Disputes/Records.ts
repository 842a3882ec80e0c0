import { Effect, Schema, Struct } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Dispute, disputeOnWire, DisputeReason } from "#domain/Dispute.ts"
import { DisputeFilter } from "#domain/DisputeOrder.ts"
import type { EventDraft } from "#domain/Event.ts"
import { DisputeId, TenantId, TransferId } from "#domain/Ids.ts"
import { companion } from "../Ledger/Companion.ts"

/** A dispute with what only we need: its version, and what refunds of its transfer were for when it was filed, however they ended. */
export const DisputeRow = Schema.toType(
  Schema.Struct({
    ...Dispute.fields,
    tenant_id: TenantId,
    version: Schema.BigInt,
    promised_before: Schema.BigInt
  })
)
export type DisputeRow = typeof DisputeRow.Type

/** The dispute as callers know it. */
export const shown = (row: DisputeRow): Dispute => Struct.omit(row, ["promised_before", "tenant_id", "version"])

const disputeColumns = `d.id, d.tenant_id, d.transfer_id, d.version, d.status, d.reason, d.description,
  d.amount_disputed, d.currency, d.filed_by, d.filer_account_id, d.respondent_account_id, d.requested_resolution,
  d.evidence, d.response, d.counter_evidence, d.escalation_reason, d.response_window_ends_at, d.resolution, d.refund_id,
  d.notes, d.created_at, d.updated_at, d.resolved_at, d.promised_before`

const columns = disputeColumns.replaceAll("d.", "")

// `command_id` is a column that wants something and that nobody reads.
const write = companion<object>(
  `INSERT INTO disputes (${columns}, command_id, due_at)
  SELECT ${columns}, id, CASE status WHEN 'open' THEN response_window_ends_at END
  FROM jsonb_to_recordset($1::jsonb) AS r (id uuid, tenant_id uuid, transfer_id uuid, version bigint, status text,
    reason text, description text, amount_disputed bigint, currency text, filed_by jsonb, filer_account_id uuid,
    respondent_account_id uuid, requested_resolution text, evidence jsonb, response text, counter_evidence jsonb,
    escalation_reason text, response_window_ends_at timestamptz, resolution text, refund_id uuid, notes text,
    created_at timestamptz, updated_at timestamptz, resolved_at timestamptz, promised_before bigint)
  ON CONFLICT (id) DO UPDATE SET version = EXCLUDED.version, status = EXCLUDED.status, evidence = EXCLUDED.evidence,
    response = EXCLUDED.response, counter_evidence = EXCLUDED.counter_evidence, escalation_reason = EXCLUDED.escalation_reason,
    due_at = EXCLUDED.due_at, resolution = EXCLUDED.resolution, refund_id = EXCLUDED.refund_id, notes = EXCLUDED.notes,
    updated_at = EXCLUDED.updated_at, resolved_at = EXCLUDED.resolved_at`
)

/** Writes a dispute as it is now. */
export const writeDispute = (row: DisputeRow) =>
  write.of({
    ...row,
    amount_disputed: String(row.amount_disputed),
    version: String(row.version),
    promised_before: String(row.promised_before)
  })

/** The fact that something happened to a dispute, with the dispute as it is then. */
export const disputeEvent = (happened: "opened" | "updated" | "resolved", row: DisputeRow): EventDraft => ({
  tenant_id: row.tenant_id,
  type: `dispute.${happened}`,
  data: { dispute: disputeOnWire(shown(row)) }
})

const ById = Schema.toType(Schema.Struct({ tenant_id: TenantId, id: DisputeId }))
const Search = Schema.toType(
  Schema.Struct({
    ...DisputeFilter,
    tenant_id: TenantId,
    soon: Schema.Date,
    limit: Schema.Int,
    offset: Schema.Int
  })
)
type Search = typeof Search.Type

/** Reads disputes. */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const byId = SqlSchema.findOneOption({
    Request: ById,
    Result: DisputeRow,
    execute: ({ id, tenant_id }) =>
      sql`SELECT ${sql.literal(disputeColumns)} FROM disputes d WHERE d.id = ${id} AND d.tenant_id = ${tenant_id}`
  })
  const ofTransfer = SqlSchema.findOne({
    Request: Schema.toType(TransferId),
    Result: Schema.Struct({ disputes: Schema.BigInt, disputed: Schema.Boolean, decided: Schema.Array(DisputeReason) }),
    execute: (id) =>
      sql`SELECT count(*)::bigint AS disputes, coalesce(bool_or(status <> 'resolved'), false) AS disputed,
          coalesce(array_agg(DISTINCT reason) FILTER (WHERE resolution = 'no_refund' AND response IS NOT NULL), '{}') AS decided
        FROM disputes WHERE transfer_id = ${id}`
  })

  const matching = (search: Search) =>
    sql.and([
      sql`d.tenant_id = ${search.tenant_id}`,
      ...(search.status === undefined ? [] : [sql`d.status = ${search.status}`]),
      ...(search.transfer_id === undefined ? [] : [sql`d.transfer_id = ${search.transfer_id}`]),
      ...(search.due_soon === "true"
        ? [sql`d.status = 'open' AND d.response_window_ends_at < ${search.soon}::timestamptz`]
        : [])
    ])
  const search = SqlSchema.findAll({
    Request: Search,
    Result: DisputeRow,
    execute: (request) =>
      // What comes before the page is passed by in an index; rows are read of the page only. Planned for what it asks.
      sql`WITH page AS MATERIALIZED (
          SELECT d.id FROM disputes d WHERE ${matching(request)} ORDER BY d.id DESC LIMIT ${request.limit} OFFSET ${request.offset}
        )
        SELECT ${sql.literal(disputeColumns)} FROM disputes d WHERE d.id IN (SELECT id FROM page) ORDER BY d.id DESC`
        .unprepared
  })
  const count = SqlSchema.findOne({
    Request: Search,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (request) => sql`SELECT count(*)::int AS total FROM disputes d WHERE ${matching(request)}`.unprepared
  })
  const list = Effect.fnUntraced(function* (request: Search) {
    return { disputes: (yield* search(request)).map(shown), total: (yield* count(request)).total }
  }, Effect.orDie)

  const due = SqlSchema.findAll({
    Request: Schema.Struct({ now: Schema.Date, until: Schema.Date, limit: Schema.Int }),
    Result: ById,
    execute: ({ limit, now, until }) =>
      sql`UPDATE disputes SET due_at = ${until} WHERE id = ANY(ARRAY(
          SELECT id FROM disputes WHERE status = 'open' AND due_at <= ${now}
          ORDER BY due_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
        )) RETURNING id, tenant_id`
  })

  return {
    find: (tenant_id: TenantId, id: DisputeId) => Effect.orDie(byId({ tenant_id, id })),
    /** How many disputes a transfer ever had, whether one of them is not resolved, and for what reasons the payer has lost one. */
    ofTransfer: (id: TransferId) => Effect.orDie(ofTransfer(id)),
    list,
    /** Takes open disputes whose time to be answered is over; they come again at `until`. */
    takeDue: (now: Date, until: Date, limit: number) => Effect.orDie(due({ now, until, limit }))
  }
})
