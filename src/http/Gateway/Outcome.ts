import { DateTime } from "effect"
import { RateLimitExceeded, RequestTimeout } from "#api/Refusals.ts"
import { OriginBadAnswer, OriginTimeout, OriginUnreachable } from "#domain/GatewayRefusal.ts"
import { toTypeId } from "#domain/Ids.ts"
import { formatDecimal } from "#domain/Money.ts"
import { OriginForbiddenAddress } from "#domain/OriginUrl.ts"
import { type PaymentRow, transactionOf } from "#domain/Payment.ts"
import type { PaymentFailure } from "#domain/PaymentFailure.ts"
import { receiptHeaders } from "#domain/protocol/Receipt.ts"
import { InvalidRequest, ServiceUnavailable } from "#domain/Refusal.ts"
import type { Charge } from "#services/Payments.ts"
import { badAnswerReason } from "#services/PublicHttp/Failure.ts"
import type { ForwardFailure } from "#services/PublicHttp/Forward.ts"

/** The payer as the payer calls itself. */
export const payerOf = ({ payer_address, payer_id }: PaymentRow): string => payer_address ?? toTypeId("wal", payer_id)

/**
 * The header fields that say what became of the money; without a charge while the answer already streams. `now` in milliseconds; the id
 * of the challenge that a caller of MPP answers; the status of the answer that they go with.
 */
export const receipt = (
  payment: PaymentRow,
  charge: Charge | undefined,
  { challenge, now, status }: { readonly now: number; readonly challenge: string | undefined; readonly status: number }
): Array<string> => {
  const id = toTypeId("pay", payment.id)
  const charged = charge?.charged
  const headers = receiptHeaders({
    transaction: charge?.transaction ?? transactionOf(payment) ?? id,
    payer: payerOf(payment),
    network: payment.network,
    charged,
    protocol: payment.protocol,
    at: DateTime.makeUnsafe(now),
    challenge,
    status
  })
  const receipt = [...headers, "X-Payment-Id", id]
  if (charged !== undefined) receipt.push("X-Payment-Amount", formatDecimal(charged))
  return receipt
}

/** What goes with an origin's answer that is not charged. */
export const nothingTaken: ReadonlyArray<string> = ["X-Payment-Amount", "0.00"]

export const failureCodes: Record<ForwardFailure, PaymentFailure> = {
  ForbiddenAddress: "origin_forbidden_address",
  Unreachable: "origin_unreachable",
  Timeout: "origin_timeout",
  TooLarge: "origin_bad_answer",
  BadResponse: "origin_bad_answer",
  BadRequest: "request_not_forwardable",
  CallerGone: "caller_gone",
  CallerSlow: "caller_slow",
  Crowded: "endpoint_busy",
  PayerCrowded: "payer_busy"
}

/** How a forwarded call broke. */
export interface Break {
  readonly failure: ForwardFailure
  readonly cause: Error | undefined
}

/** What the caller is told when the origin did not answer it; `callsPerPayer` is how many calls of one payer may be under way. */
export const originRefusal = (
  payment: PaymentRow,
  { cause, failure }: Break,
  { callsPerPayer }: { readonly callsPerPayer: number }
) => {
  const details = { payment_id: toTypeId("pay", payment.id), failure: failureCodes[failure] }
  switch (failure) {
    case "Timeout":
      return new OriginTimeout(details)
    case "CallerSlow":
      return new RequestTimeout()
    case "Crowded":
      return new ServiceUnavailable({ retry_after: 1 })
    case "PayerCrowded":
      return new RateLimitExceeded({ limit: callsPerPayer, retry_after: 1 })
    case "ForbiddenAddress":
      return new OriginForbiddenAddress({ reason: "AddressNotPublic" })
    case "BadRequest":
      return new InvalidRequest({ errors: [{ path: "", message: "the request cannot be forwarded as it is" }] })
    case "BadResponse":
    case "TooLarge":
      return new OriginBadAnswer({ ...details, reason: badAnswerReason(cause) })
    default:
      return new OriginUnreachable(details)
  }
}
