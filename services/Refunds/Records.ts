import { Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { EventDraft } from "#domain/Event.ts"
import { type AccountId, RefundId, TenantId, TransferId } from "#domain/Ids.ts"
import { Refund, type Refundable, RefundFilter, refundOnWire } from "#domain/Refund.ts"
import { Transfer } from "#domain/Transfer.ts"
import { OID } from "../Database/Pipeline.ts"
import { columnar } from "../Ledger/Companion.ts"
import { idRange } from "../Transfers/Listing.ts"
import * as Logged from "../Transfers/Logged.ts"
import { transferColumns } from "../Transfers/Records.ts"

const RefundRow = Schema.toType(Refund)

const refundColumns = `r.id, r.transfer_id, r.amount, r.currency, r.reason, r.reason_details, r.status, r.failure_reason,
  r.refund_transfer_id, r.dispute_id, r.created_at, r.completed_at`

/** A refund beside what its row needs of the transfer, and when it is tried again. */
type Stored = Refund & {
  readonly tenant_id: TenantId
  readonly payer_account_id: AccountId | null
  readonly receiver_account_id: AccountId | null
  readonly due_at: Date | null
}

const columns = [
  ["id", OID.uuidArray],
  ["tenant_id", OID.uuidArray],
  ["transfer_id", OID.uuidArray],
  ["payer_account_id", OID.uuidArray],
  ["receiver_account_id", OID.uuidArray],
  ["amount", OID.int8Array],
  ["currency", OID.textArray],
  ["reason", OID.textArray],
  ["reason_details", OID.textArray],
  ["status", OID.textArray],
  ["failure_reason", OID.textArray],
  ["refund_transfer_id", OID.uuidArray],
  ["dispute_id", OID.uuidArray],
  ["due_at", OID.timestamptzArray],
  ["created_at", OID.timestamptzArray],
  ["completed_at", OID.timestamptzArray]
] as const

const write = columnar<Stored>(
  columns,
  (rows, names) => `INSERT INTO refunds (${names}) SELECT * FROM ${rows}
  ON CONFLICT (id) DO UPDATE SET status = EXCLUDED.status, failure_reason = EXCLUDED.failure_reason,
    refund_transfer_id = EXCLUDED.refund_transfer_id, due_at = EXCLUDED.due_at, completed_at = EXCLUDED.completed_at`
)

/** Writes a refund as it is now. */
export const writeRefund = (tenant_id: TenantId, transfer: Transfer, refund: Refund, due_at: Date | null) =>
  write.of({
    ...refund,
    tenant_id,
    payer_account_id: transfer.from_account_id,
    receiver_account_id: transfer.to_account_id,
    due_at
  })

const update = columnar<Pick<Transfer, "id" | "refunded_amount" | "updated_at"> & { readonly version: bigint }>(
  [
    ["id", OID.uuidArray],
    ["refunded_amount", OID.int8Array],
    ["updated_at", OID.timestamptzArray],
    ["version", OID.int8Array]
  ],
  (
    rows
  ) => `UPDATE transfers t SET refunded_amount = r.refunded_amount, updated_at = r.updated_at, refunds_version = r.version
  FROM ${rows} WHERE t.id = r.id`
)

/** Writes what of a transfer was refunded, and how often that changed. */
export const updateTransfer = ({ id, refunded_amount, updated_at }: Transfer, version: bigint) =>
  update.of({ id, refunded_amount, updated_at, version })

/** The fact that something happened to a refund, with the refund as it is then. */
export const refundEvent = (
  tenant_id: TenantId,
  happened: "created" | "completed" | "failed",
  refund: Refund
): EventDraft => ({ tenant_id, type: `refund.${happened}`, data: { refund: refundOnWire(refund) } })

const OfTenant = Schema.toType(Schema.Struct({ tenant_id: TenantId, id: TransferId }))
const ById = Schema.toType(Schema.Struct({ tenant_id: TenantId, id: RefundId }))
const Due = Schema.toType(Schema.Struct({ tenant_id: TenantId, id: RefundId, transfer_id: TransferId }))
/** A pending refund whose time has come, and the transfer it is of. */
export type DueRefund = typeof Due.Type

/** A transfer as far as refunds go; `promised` is what all refunds of it were for, however they ended, so that it only grows. */
type Found = Refundable & { readonly promised: bigint }

const Search = Schema.toType(
  Schema.Struct({
    ...RefundFilter,
    tenant_id: TenantId,
    below: Schema.String,
    above: Schema.String,
    limit: Schema.Int
  })
)
type Search = typeof Search.Type

/** Reads refunds, and transfers as far as refunds go. */
export const make = Effect.map(Effect.all([SqlClient.SqlClient, Logged.reader]), ([sql, readLog]) => {
  const ofTransfer = SqlSchema.findOneOption({
    Request: OfTenant,
    Result: Schema.toType(
      Schema.Struct({
        ...Transfer.fields,
        reserved: Schema.BigInt,
        promised: Schema.BigInt,
        refunds_version: Schema.BigInt
      })
    ),
    // One statement, so that all of it is of one moment.
    execute: ({ id, tenant_id }) =>
      sql`SELECT ${sql.literal(transferColumns)}, t.refunds_version, f.reserved, f.promised
        FROM transfers t CROSS JOIN LATERAL (
          SELECT coalesce(sum(r.amount), 0)::bigint AS promised,
            coalesce(sum(r.amount) FILTER (WHERE r.status = 'pending'), 0)::bigint AS reserved
          FROM refunds r WHERE r.transfer_id = t.id
        ) f WHERE t.id = ${id} AND t.tenant_id = ${tenant_id}`
  })
  const byId = SqlSchema.findOneOption({
    Request: ById,
    Result: RefundRow,
    execute: ({ id, tenant_id }) =>
      sql`SELECT ${sql.literal(refundColumns)} FROM refunds r WHERE r.id = ${id} AND r.tenant_id = ${tenant_id}`
  })

  const matching = (search: Search) =>
    sql.and([
      sql`r.tenant_id = ${search.tenant_id}`,
      sql`r.id < ${search.below}`,
      sql`r.id > ${search.above}`,
      ...(search.status === undefined ? [] : [sql`r.status = ${search.status}`]),
      ...(search.transfer_id === undefined ? [] : [sql`r.transfer_id = ${search.transfer_id}`]),
      ...(search.created_after === undefined ? [] : [sql`r.created_at >= ${search.created_after}::timestamptz`]),
      ...(search.created_before === undefined ? [] : [sql`r.created_at < ${search.created_before}::timestamptz`])
    ])
  // Each side of an account has an index of its own to read from the end.
  const ofSide = (search: Search, side: "payer_account_id" | "receiver_account_id") =>
    sql`(SELECT r.* FROM refunds r WHERE ${sql(side)} = ${search.account_id ?? null} AND ${matching(search)}
      ORDER BY r.id DESC LIMIT ${search.limit})`
  const found = (request: Search) =>
    request.account_id === undefined
      ? sql`SELECT ${sql.literal(refundColumns)} FROM refunds r WHERE ${matching(request)}
          ORDER BY r.id DESC LIMIT ${request.limit}`
      : sql`SELECT ${sql.literal(refundColumns)} FROM (
          ${ofSide(request, "payer_account_id")} UNION ${ofSide(request, "receiver_account_id")}
        ) r ORDER BY r.id DESC LIMIT ${request.limit}`
  const search = SqlSchema.findAll({
    Request: Search,
    Result: RefundRow,
    // Planned for what it asks: a plan for any value reads everybody's refunds to find those of a tenant with few.
    execute: (request) => found(request).unprepared
  })

  const due = SqlSchema.findAll({
    Request: Schema.Struct({ now: Schema.Date, until: Schema.Date, limit: Schema.Int }),
    Result: Due,
    execute: ({ limit, now, until }) =>
      sql`UPDATE refunds SET due_at = ${until} WHERE id = ANY(ARRAY(
          SELECT id FROM refunds WHERE status = 'pending' AND due_at <= ${now}
          ORDER BY due_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
        )) RETURNING id, tenant_id, transfer_id`
  })
  const postpone = ({ id }: Refund, due_at: Date) =>
    Effect.orDie(sql`UPDATE refunds SET due_at = ${due_at} WHERE id = ${id} AND status = 'pending'`)

  const refundable = Effect.fnUntraced(function* (tenant_id: TenantId, id: TransferId) {
    const ordered = yield* Effect.orDie(ofTransfer({ tenant_id, id }))
    if (Option.isSome(ordered)) {
      const { promised, refunds_version: version, reserved, ...transfer } = ordered.value
      return Option.some<Found>({ transfer, reserved, promised, version })
    }
    const logged = yield* readLog(tenant_id, id)
    return Option.map(logged, (transfer): Found => ({ transfer, reserved: 0n, promised: 0n, version: 0n }))
  })

  return {
    /** The transfer of the tenant, with everything that decides about refunds of it; also one that nobody ordered. */
    refundable,
    find: (tenant_id: TenantId, id: RefundId) => Effect.orDie(byId({ tenant_id, id })),
    /** From before `before`. */
    list: ({ before, ...request }: Omit<Search, "below" | "above"> & { readonly before?: RefundId | undefined }) =>
      Effect.orDie(search({ ...request, ...idRange(request, before) })),
    /** Takes pending refunds whose time has come; they come again at `until`. */
    takeDue: (now: Date, until: Date, limit: number) => Effect.orDie(due({ now, until, limit })),
    postpone
  }
})
