import type { EventDraft } from "#domain/Event.ts"
import { toTypeId } from "#domain/Ids.ts"
import { formatDecimal } from "#domain/Money.ts"
import type { PaymentRow } from "#domain/Payment.ts"
import type { PaymentFailure } from "#domain/PaymentFailure.ts"
import type { Posted } from "#domain/Command.ts"
import type { Price } from "#domain/Price.ts"
import { OID } from "../Database/Pipeline.ts"
import { columnar, companion } from "../Ledger/Companion.ts"

/** A payment as it begins: to be used later, or by the call that brought it. */
export type NewPayment = Omit<
  PaymentRow,
  "charged" | "attempt" | "origin_status" | "origin_ms" | "transaction" | "failure" | "delivered_at" | "completed_at"
>

/** The row of a new payment, as its statement takes it. */
export const storedPayment = (payment: NewPayment) => ({ ...payment, price: storedPrice(payment.price) })
type StoredPayment = ReturnType<typeof storedPayment>

const newColumns = [
  ["id", OID.uuidArray],
  ["tenant_id", OID.uuidArray],
  ["endpoint_id", OID.uuidArray],
  ["protocol", OID.textArray],
  ["rail", OID.textArray],
  ["reservation", OID.uuidArray],
  ["payer_id", OID.uuidArray],
  ["payer_address", OID.textArray],
  ["payee_wallet_id", OID.uuidArray],
  ["method", OID.textArray],
  ["currency", OID.textArray],
  ["network", OID.textArray],
  ["price", OID.jsonArray],
  ["amount", OID.int8Array],
  ["state", OID.textArray],
  ["hold_id", OID.uuidArray],
  ["lease_until", OID.timestamptzArray],
  ["proof_expires_at", OID.timestamptzArray],
  ["request_fingerprint", OID.textArray],
  ["created_at", OID.timestamptzArray],
  ["scheme", OID.textArray]
] as const satisfies ReadonlyArray<readonly [keyof NewPayment, number]>

/** Writes a payment when its money is reserved. Paying the same request again changes nothing. */
export const insertPayment = columnar<StoredPayment>(
  newColumns,
  (rows, names) => `INSERT INTO payments (${names}, attempt) SELECT r.*, 1 FROM ${rows} ON CONFLICT DO NOTHING`
)

/** The same payment as it will be read. */
export const begun = (payment: NewPayment): PaymentRow => ({
  ...payment,
  charged: null,
  attempt: 1,
  origin_status: null,
  origin_ms: null,
  transaction: null,
  failure: null,
  delivered_at: null,
  completed_at: null
})

/**
 * Takes a released payment for another attempt; commits with the new hold, whose id only one attempt can have. One that was found to
 * have expired while the hold was made has not ended after all.
 */
export const retakePayment = companion<{
  readonly id: string
  readonly hold_id: string
  readonly attempt: number
  readonly lease_until: string
  readonly request_fingerprint: string
}>(`UPDATE payments p SET state = 'in_flight', hold_id = r.hold_id, attempt = r.attempt, lease_until = r.lease_until,
    request_fingerprint = r.request_fingerprint, origin_status = NULL, origin_ms = NULL, failure = NULL, completed_at = NULL
  FROM jsonb_to_recordset($1::jsonb) AS r (id uuid, hold_id uuid, attempt smallint, lease_until timestamptz,
    request_fingerprint text)
  WHERE p.id = r.id`)

/** Commits with the capture: whether the money moved is the ledger's word, and the row follows. */
export const capturePayment = columnar<{
  readonly id: string
  readonly charged: bigint
  readonly origin_status: number
  readonly origin_ms: number | null
  readonly transaction: string | null
  readonly completed_at: Date
}>(
  [
    ["id", OID.uuidArray],
    ["charged", OID.int8Array],
    ["origin_status", OID.int2Array],
    ["origin_ms", OID.int4Array],
    ["transaction", OID.textArray],
    ["completed_at", OID.timestamptzArray]
  ],
  (
    rows
  ) => `UPDATE payments p SET state = 'captured', charged = r.charged, origin_status = r.origin_status, origin_ms = r.origin_ms,
    transaction = r.transaction, failure = NULL, completed_at = r.completed_at
  FROM ${rows}
  WHERE p.id = r.id`
)

/**
 * Commits with the release of this attempt's hold; a later attempt is left alone. One whose call went back without having used it
 * meanwhile, or lost it with the database, has no money reserved any more either.
 */
export const releasePayment = companion<{
  readonly id: string
  readonly attempt: number
  readonly origin_status: number | null
  readonly origin_ms: number | null
  readonly failure: PaymentFailure
}>(`UPDATE payments p SET state = 'released', lease_until = NULL, origin_status = r.origin_status, origin_ms = r.origin_ms,
    failure = r.failure
  FROM jsonb_to_recordset($1::jsonb) AS r (id uuid, attempt smallint, origin_status smallint, origin_ms integer, failure text)
  WHERE p.id = r.id AND p.attempt = r.attempt
    AND CASE p.state WHEN 'in_flight' THEN true WHEN 'authorized' THEN true ELSE false END`)

/** Ends an attempt that the chain refused. A payment that was charged meanwhile stays charged. */
export const refusePayment = companion<{ readonly id: string; readonly attempt: number; readonly failure: string }>(
  `UPDATE payments p SET state = 'released', lease_until = NULL, failure = r.failure
  FROM jsonb_to_recordset($1::jsonb) AS r (id uuid, attempt smallint, failure text)
  WHERE p.id = r.id AND p.attempt = r.attempt AND CASE p.state WHEN 'settling' THEN true ELSE false END`
)

/** Keeps a small answer together with its charge: until its delivery is seen, or while the same payment may ask for it again. */
export const insertAnswer = columnar<{
  readonly payment_id: string
  readonly status: number
  readonly headers: ReadonlyArray<string>
  readonly body: Uint8Array
  readonly expires_at: Date
}>(
  [
    ["payment_id", OID.uuidArray],
    ["status", OID.int2Array],
    ["headers", OID.jsonArray],
    ["body", OID.byteaArray],
    ["expires_at", OID.timestamptzArray]
  ],
  (rows, names) => `INSERT INTO payment_answers (${names}) SELECT * FROM ${rows} ON CONFLICT (payment_id) DO NOTHING`
)

const storedPrice = (price: Price) => ({
  base: String(price.base),
  tiers: price.tiers.map(({ amount, threshold }) => ({ threshold, amount: String(amount) }))
})

/** What a posted capture took. Nothing, when the payer's count made the call free meanwhile. */
export const chargedIn = (posted: Posted): bigint =>
  posted.movements.find((movement) => movement.kind === "capture")?.amount ?? 0n

/** The fact that a payment ended, with its record as it is on the wire. */
export const paymentEvent = (
  type: "x402.payment.completed" | "x402.payment.failed",
  payment: PaymentRow,
  outcome: {
    readonly status: "captured" | "released"
    readonly charged: bigint | null
    readonly origin_status: number | null
    readonly origin_ms: number | null
    readonly transaction: string | null
    readonly failure: PaymentFailure | null
    readonly completed_at: Date | null
  }
): EventDraft => ({
  tenant_id: payment.tenant_id,
  type,
  data: {
    payment: {
      id: toTypeId("pay", payment.id),
      endpoint_id: payment.endpoint_id,
      status: outcome.status,
      protocol: payment.protocol,
      payer_wallet_id: payment.rail === "chain" ? null : toTypeId("wal", payment.payer_id),
      payer_address: payment.payer_address,
      payee_wallet_id: toTypeId("wal", payment.payee_wallet_id),
      amount: formatDecimal(payment.amount),
      charged: outcome.charged === null ? null : formatDecimal(outcome.charged),
      currency: payment.currency,
      network: payment.network,
      method: payment.method,
      origin_status: outcome.origin_status,
      origin_ms: outcome.origin_ms,
      transaction: outcome.transaction,
      failure: outcome.failure,
      created_at: payment.created_at.toISOString(),
      completed_at: outcome.completed_at?.toISOString() ?? null
    }
  }
})

/** The fact that a payment was given back whose money a chain did not give, or was not asked for. */
export const failedOnChain = (payment: PaymentRow, failure: "settlement_refused" | "interrupted"): EventDraft =>
  paymentEvent("x402.payment.failed", payment, {
    status: "released",
    charged: null,
    origin_status: payment.origin_status,
    origin_ms: payment.origin_ms,
    transaction: null,
    failure,
    completed_at: null
  })
