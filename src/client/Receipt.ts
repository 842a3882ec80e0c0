import { networkName } from "./Asset.ts"
import { readHeader, textOr } from "./Encoding.ts"
import { formatDecimal, parseDecimal, parseMicros } from "./Micros.ts"

/** What was taken for an answer. */
export interface Receipt {
  /** `pay_…`; undefined when the server is not a Turnpike. */
  readonly paymentId: string | undefined
  /** Decimal; undefined while the answer streams and the price is not settled yet. */
  readonly amount: string | undefined
  readonly transaction: string
  readonly network: string
  readonly payer: string | undefined
}

/** The receipt that an answer carries; undefined when nothing was taken for it. */
export const receiptOf = (response: Response): Receipt | undefined => {
  const { headers } = response
  const settled = readHeader(headers.get("payment-response") ?? headers.get("x-payment-response"))
  if (settled?.["success"] !== true) return undefined
  const micros = parseDecimal(headers.get("x-payment-amount")) ?? parseMicros(settled["amount"])
  return {
    paymentId: headers.get("x-payment-id") ?? undefined,
    amount: micros === undefined ? undefined : formatDecimal(micros),
    transaction: textOr(settled["transaction"], ""),
    network: networkName(textOr(settled["network"], "")),
    payer: textOr(settled["payer"], undefined)
  }
}
