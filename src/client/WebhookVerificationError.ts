/**
 * Why a delivery is not to be believed.
 *
 * `missing_signature` none of the headers is there; `malformed_signature` they cannot be read, or there are too many
 * signatures; `no_match` nobody who knows the secret signed this body; `timestamp_too_old` and `timestamp_in_future` the
 * signature is right, its time is not; `malformed_body` it is signed, and no event; `not_text` the body is what a framework
 * made of it, not what arrived; `body_too_large` the request has more than is read.
 */
export type WebhookVerificationReason =
  | "missing_signature"
  | "malformed_signature"
  | "no_match"
  | "timestamp_too_old"
  | "timestamp_in_future"
  | "malformed_body"
  | "not_text"
  | "body_too_large"

// @effect-diagnostics-next-line extendsNativeError:off
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError"
  readonly reason: WebhookVerificationReason

  constructor(reason: WebhookVerificationReason) {
    super(`Not to be believed: ${reason}`)
    this.reason = reason
  }
}
