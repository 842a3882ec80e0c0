import { Effect, type Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { type EventDraft, Written } from "#domain/Event.ts"
import { type TenantId, TransferId } from "#domain/Ids.ts"
import type { InsufficientBalance, PostingRefused, Superseded } from "#domain/PostingRefused.ts"
import { type FailureReason, Transfer } from "#domain/Transfer.ts"
import { begunJson, transferJson } from "#domain/TransferJson.ts"
import { OID } from "../Database/Pipeline.ts"
import { columnar } from "../Ledger/Companion.ts"
import type { KnownWallet } from "../Wallets/Known.ts"

export const TransferRow = Schema.toType(Transfer)

/** The columns of a transfer, from `transfers t`. */
export const transferColumns = `t.id, t.type, t.status, t.amount, t.currency, t.from_wallet_id, t.to_wallet_id,
  t.from_account_id, t.to_account_id, t.memo, t.quote_id, t.destination_amount, t.destination_currency, t.fee, t.batch_id,
  t.stream_id, t.scheduled_at, jsonb_build_object('type', t.initiated_by_type, 'id', t.initiated_by_id) AS initiated_by,
  t.protocol, t.protocol_metadata, t.failure_reason, t.refunded_amount, t.created_at, t.updated_at, t.completed_at`

/** What a new transfer must say; everything else has a default. */
export type NewTransfer = Pick<
  Transfer,
  "id" | "type" | "status" | "amount" | "currency" | "initiated_by" | "created_at"
> &
  Partial<Transfer>

// One for all, so that those who are written together are seen to have the same.
const nothing = {}

/** The record of a new transfer. */
export const newTransfer = (transfer: NewTransfer): Transfer => ({
  from_wallet_id: null,
  to_wallet_id: null,
  from_account_id: null,
  to_account_id: null,
  memo: null,
  quote_id: null,
  destination_amount: null,
  destination_currency: null,
  fee: 0n,
  batch_id: null,
  stream_id: null,
  scheduled_at: null,
  protocol: "internal",
  protocol_metadata: nothing,
  failure_reason: null,
  refunded_amount: 0n,
  updated_at: transfer.created_at,
  completed_at: transfer.status === "completed" ? transfer.created_at : null,
  ...transfer
})

/** Both ends of a transfer, as the record names them. */
export const between = (
  from: KnownWallet,
  to: KnownWallet
): Pick<Transfer, "from_wallet_id" | "to_wallet_id" | "from_account_id" | "to_account_id"> => ({
  from_wallet_id: from.id,
  to_wallet_id: to.id,
  from_account_id: from.account_id,
  to_account_id: to.account_id
})

const columns = [
  ["id", OID.uuidArray],
  ["tenant_id", OID.uuidArray],
  ["type", OID.textArray],
  ["status", OID.textArray],
  ["amount", OID.int8Array],
  ["currency", OID.textArray],
  ["from_wallet_id", OID.uuidArray],
  ["to_wallet_id", OID.uuidArray],
  ["from_account_id", OID.uuidArray],
  ["to_account_id", OID.uuidArray],
  ["memo", OID.textArray],
  ["quote_id", OID.uuidArray],
  ["destination_amount", OID.int8Array],
  ["destination_currency", OID.textArray],
  ["fee", OID.int8Array],
  ["batch_id", OID.uuidArray],
  ["batch_index", OID.int2Array],
  ["stream_id", OID.uuidArray],
  ["scheduled_at", OID.timestamptzArray],
  ["initiated_by_type", OID.textArray],
  ["initiated_by_id", OID.textArray],
  ["protocol", OID.textArray],
  ["protocol_metadata", OID.jsonbArray],
  ["failure_reason", OID.textArray],
  ["created_at", OID.timestamptzArray],
  ["completed_at", OID.timestamptzArray]
] as const

type Stored = Omit<Transfer, "initiated_by" | "refunded_amount" | "updated_at"> & {
  readonly tenant_id: TenantId
  readonly batch_index: number | null
  readonly initiated_by_type: string
  readonly initiated_by_id: string
}

const insert = columnar<Stored>(
  columns,
  (rows, names) => `INSERT INTO transfers (${names}, updated_at)
  SELECT r.*, coalesce(r.completed_at, r.created_at) FROM ${rows} ON CONFLICT DO NOTHING`
)

/** Writes a new transfer in the transaction of its movements. */
export const insertTransfer = (tenant_id: TenantId, transfer: Transfer, batch_index: number | null = null) =>
  insert.of({
    ...transfer,
    tenant_id,
    batch_index,
    initiated_by_type: transfer.initiated_by.type,
    initiated_by_id: transfer.initiated_by.id
  })

const eventOf = (tenant_id: TenantId, type: EventDraft["type"], json: string): EventDraft => ({
  tenant_id,
  type,
  data: new Written(`{"transfer":${json}}`)
})

/** The fact that something happened to a transfer, with the transfer as it is then. */
export const transferEvent = (
  tenant_id: TenantId,
  happened: "created" | "completed" | "failed" | "cancelled" | "refunded",
  transfer: Transfer
): EventDraft => eventOf(tenant_id, `transfer.${happened}`, transferJson(transfer))

/** The facts of a transfer that ended as soon as it began. */
export const endedEvents = (tenant_id: TenantId, transfer: Transfer): ReadonlyArray<EventDraft> => [
  eventOf(tenant_id, "transfer.created", begunJson(transfer)),
  transferEvent(tenant_id, transfer.status === "completed" ? "completed" : "failed", transfer)
]

/** What a refusal of the ledger is called on a transfer that failed by it. */
export const failureOf = (refusal: PostingRefused | Superseded): FailureReason => {
  switch (refusal._tag) {
    case "INSUFFICIENT_BALANCE":
      return "insufficient_funds"
    case "WALLET_FROZEN":
      return "wallet_frozen"
    case "AMOUNT_TOO_LARGE":
      return "amount_too_large"
    case "CURRENCY_MISMATCH":
      return "currency_mismatch"
    case "SAME_WALLET":
      return "same_wallet"
    case "NOT_FOUND":
      return "wallet_not_found"
    case "IDEMPOTENCY_KEY_REUSED":
      return "idempotency_key_reused"
    case "HOLD_NOT_OPEN":
    case "SUPERSEDED":
      return "rail_error"
  }
}

/** What is kept with the key of a plain transfer: which one it was, and what it failed by. */
export const keptOf = (transfer_id: TransferId, refused: PostingRefused | undefined) => ({
  transfer_id,
  ...(refused && { failure_reason: failureOf(refused) })
})

/** Whether the payer had too little, which is an outcome of a transfer and not a mistake of the caller. */
export const isInsufficient = (refusal: PostingRefused): refusal is InsufficientBalance =>
  refusal._tag === "INSUFFICIENT_BALANCE"

/** Reads one transfer of a tenant. */
export const reader = Effect.map(SqlClient.SqlClient, (sql) => {
  const byId = SqlSchema.findOneOption({
    Request: Schema.Struct({ tenant_id: Schema.String, id: Schema.toType(TransferId) }),
    Result: TransferRow,
    execute: ({ tenant_id, id }) =>
      sql`SELECT ${sql.literal(transferColumns)} FROM transfers t WHERE t.id = ${id} AND t.tenant_id = ${tenant_id}`
  })
  return (tenant_id: TenantId, id: TransferId): Effect.Effect<Option.Option<Transfer>> =>
    Effect.orDie(byId({ tenant_id, id }))
})
