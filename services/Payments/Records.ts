import type { EventDraft } from "#domain/Event.ts"
import { toTypeId } from "#domain/Ids.ts"
import { formatDecimal } from "#domain/Money.ts"
import type { PaymentRow } from "#domain/Payment.ts"
import type { Posted } from "#domain/Command.ts"
import type { Price } from "#domain/Price.ts"
import { companion } from "../Ledger/Companion.ts"

/** Writes a payment when its money is reserved. Paying the same request again changes nothing. */
export const insertPayment = companion<{
  readonly id: string
  readonly tenant_id: string
  readonly endpoint_id: string
  readonly payer_tenant_id: string
  readonly payer_wallet_id: string
  readonly payee_wallet_id: string
  readonly method: string
  readonly currency: string
  readonly network: string
  readonly price: { readonly base: string; readonly tiers: ReadonlyArray<{ threshold: number; amount: string }> }
  readonly amount: string
  readonly hold_id: string | null
  readonly proof_expires_at: string
  readonly created_at: string
}>(`INSERT INTO payments (id, tenant_id, endpoint_id, payer_tenant_id, payer_wallet_id, payee_wallet_id, method, currency,
    network, price, amount, state, hold_id, attempt, proof_expires_at, created_at)
  SELECT id, tenant_id, endpoint_id, payer_tenant_id, payer_wallet_id, payee_wallet_id, method, currency, network, price,
    amount, 'authorized', hold_id, 1, proof_expires_at, created_at
  FROM jsonb_to_recordset($1::jsonb) AS r (id uuid, tenant_id uuid, endpoint_id uuid, payer_tenant_id uuid,
    payer_wallet_id uuid, payee_wallet_id uuid, method text, currency text, network text, price jsonb, amount bigint,
    hold_id uuid, proof_expires_at timestamptz, created_at timestamptz)
  ON CONFLICT (id) DO NOTHING`)

/** Takes a released payment for another attempt; commits with the new hold, whose id only one attempt can have. */
export const retakePayment = companion<{
  readonly id: string
  readonly hold_id: string
  readonly attempt: number
  readonly lease_until: string
  readonly request_fingerprint: string
}>(`UPDATE payments p SET state = 'in_flight', hold_id = r.hold_id, attempt = r.attempt, lease_until = r.lease_until,
    request_fingerprint = r.request_fingerprint, origin_status = NULL, failure = NULL
  FROM jsonb_to_recordset($1::jsonb) AS r (id uuid, hold_id uuid, attempt smallint, lease_until timestamptz,
    request_fingerprint text)
  WHERE p.id = r.id`)

/** Commits with the capture: whether the money moved is the ledger's word, and the row follows. */
export const capturePayment = companion<{
  readonly id: string
  readonly charged: string
  readonly origin_status: number
  readonly completed_at: string
}>(`UPDATE payments p SET state = 'captured', charged = r.charged, origin_status = r.origin_status, failure = NULL,
    completed_at = r.completed_at
  FROM jsonb_to_recordset($1::jsonb) AS r (id uuid, charged bigint, origin_status smallint, completed_at timestamptz)
  WHERE p.id = r.id`)

/** Commits with the release of this attempt's hold; a later attempt is left alone. */
export const releasePayment = companion<{
  readonly id: string
  readonly attempt: number
  readonly origin_status: number | null
  readonly failure: string
}>(`UPDATE payments p SET state = 'released', lease_until = NULL, origin_status = r.origin_status, failure = r.failure
  FROM jsonb_to_recordset($1::jsonb) AS r (id uuid, attempt smallint, origin_status smallint, failure text)
  WHERE p.id = r.id AND p.attempt = r.attempt AND p.state = 'in_flight'`)

/** Keeps a small answer together with its charge, until its delivery is seen. */
export const insertAnswer = companion<{
  readonly payment_id: string
  readonly status: number
  readonly headers: ReadonlyArray<string>
  readonly body: string
  readonly expires_at: string
}>(`INSERT INTO payment_answers (payment_id, status, headers, body, expires_at)
  SELECT payment_id, status, headers, decode(body, 'base64'), expires_at
  FROM jsonb_to_recordset($1::jsonb) AS r (payment_id uuid, status smallint, headers jsonb, body text,
    expires_at timestamptz)
  ON CONFLICT (payment_id) DO NOTHING`)

export const storedPrice = (price: Price) => ({
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
    readonly failure: string | null
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
      payer_wallet_id: toTypeId("wal", payment.payer_wallet_id),
      payee_wallet_id: toTypeId("wal", payment.payee_wallet_id),
      amount: formatDecimal(payment.amount),
      charged: outcome.charged === null ? null : formatDecimal(outcome.charged),
      currency: payment.currency,
      network: payment.network,
      method: payment.method,
      origin_status: outcome.origin_status,
      failure: outcome.failure,
      created_at: payment.created_at.toISOString(),
      completed_at: outcome.completed_at?.toISOString() ?? null
    }
  }
})
