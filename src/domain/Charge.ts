import type { Step } from "./Command.ts"
import { cappedAt } from "./EndpointPrice.ts"
import { systemAccount } from "./LedgerAccount.ts"
import type { PaymentRow } from "./Payment.ts"

type Charged = Pick<PaymentRow, "currency" | "endpoint_id" | "hold_id" | "payee_wallet_id" | "payer_id" | "price">

const tallyOf = (payment: Pick<Charged, "endpoint_id" | "payer_id">) => ({
  scope: payment.endpoint_id,
  subject: payment.payer_id
})

/** Our share of what a receiver is paid. */
const fee = ({ currency, payee_wallet_id }: Charged, basisPoints: number): ReadonlyArray<Step> =>
  basisPoints === 0
    ? []
    : [
        {
          kind: "fee",
          debit: payee_wallet_id,
          credit: systemAccount("fees", currency),
          currency,
          basis_points: basisPoints,
          code: "fee"
        }
      ]

/**
 * What a charge moves in our own books: what was held at the price of the call, and our share. `reported` (micro-units) is what the
 * origin says of the price, and counts up to this payer's own. A call that costs nothing is counted only.
 */
export const captureSteps = (
  payment: Charged,
  reported: bigint | undefined,
  feeBasisPoints: number
): ReadonlyArray<Step> => {
  const { currency, hold_id, payee_wallet_id, payer_id } = payment
  const between = { debit: payer_id, credit: payee_wallet_id, currency, tally: tallyOf(payment), code: "payment" }
  if (hold_id === null) return [{ ...between, kind: "count" }]
  const price = reported === undefined ? payment.price : cappedAt(payment.price, reported)
  return [{ ...between, kind: "capture", hold: hold_id, price }, ...fee(payment, feeBasisPoints)]
}

/** The same where a chain has moved the money, of which `amount` (micro-units) has arrived: a deposit for the receiver. */
export const depositSteps = (payment: Charged, amount: bigint, feeBasisPoints: number): ReadonlyArray<Step> => {
  const { currency, payee_wallet_id } = payment
  const between = {
    debit: systemAccount("issuance", currency),
    credit: payee_wallet_id,
    currency,
    tally: tallyOf(payment),
    code: "payment"
  }
  return amount === 0n
    ? [{ ...between, kind: "count" }]
    : [{ ...between, kind: "transfer", amount }, ...fee(payment, feeBasisPoints)]
}
