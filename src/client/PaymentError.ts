/**
 * Why `payingFetch` did not pay, or paid and has no answer.
 *
 * Before anything was paid: `INVALID_CHALLENGE` the 402 cannot be understood; `NO_PAYABLE_OFFER` nothing it asks for is known
 * or allowed; `FOREIGN_PAY_URL` it names another place to pay at; `REDIRECTED` another address than the one called asks for
 * money; `BODY_NOT_REPLAYABLE` the request cannot be sent twice; `ABOVE_MAX_PER_CALL`, `ABOVE_MAX_PER_DAY`; `NOT_APPROVED`;
 * `PRICE_CHANGED` a new price came while the old one was being paid; `PAY_REFUSED` the wallet or the signer said no, or what would
 * be paid is not what the 402 showed.
 *
 * After the proof was sent: `PAYMENT_NOT_ACCEPTED` the server asked for money again, and was not paid again;
 * `OUTCOME_UNKNOWN` no answer came, however often the same proof was shown; `PAID_REDIRECT` the answer is a redirect, which browsers
 * do not let anybody read.
 */
export type PaymentErrorCode =
  | "INVALID_CHALLENGE"
  | "NO_PAYABLE_OFFER"
  | "FOREIGN_PAY_URL"
  | "REDIRECTED"
  | "BODY_NOT_REPLAYABLE"
  | "ABOVE_MAX_PER_CALL"
  | "ABOVE_MAX_PER_DAY"
  | "NOT_APPROVED"
  | "PRICE_CHANGED"
  | "PAY_REFUSED"
  | "PAYMENT_NOT_ACCEPTED"
  | "OUTCOME_UNKNOWN"
  | "PAID_REDIRECT"

const afterPaying: ReadonlyArray<PaymentErrorCode> = ["PAYMENT_NOT_ACCEPTED", "OUTCOME_UNKNOWN", "PAID_REDIRECT"]

// @effect-diagnostics-next-line extendsNativeError:off
export class PaymentError extends Error {
  override readonly name = "PaymentError"
  declare readonly code: PaymentErrorCode
  /** Whether a proof of payment had left: money may have moved then, and never has otherwise. */
  declare readonly paid: boolean
  declare readonly details: { readonly [name: string]: unknown }

  constructor(
    code: PaymentErrorCode,
    message: string,
    about: { readonly details?: { readonly [name: string]: unknown }; readonly cause?: unknown } = {}
  ) {
    super(message, about)
    this.code = code
    this.paid = afterPaying.includes(code)
    this.details = about.details ?? {}
  }
}
