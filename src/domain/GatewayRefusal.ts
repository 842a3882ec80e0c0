import { Schema } from "effect"

export class EndpointPaused extends Schema.TaggedError<EndpointPaused>()(
  "ENDPOINT_PAUSED",
  { endpoint_id: Schema.String, retry_after: Schema.Int },
  { httpApiStatus: 503, title: "The endpoint is paused by its owner" }
) {}

/** The endpoint exists, and there is nothing behind it to pay for. */
export class OriginNotConfigured extends Schema.TaggedError<OriginNotConfigured>()(
  "ORIGIN_NOT_CONFIGURED",
  { endpoint_id: Schema.String },
  { httpApiStatus: 503, title: "The endpoint has no origin" }
) {}

/** Two readers could see two different paths in the request target. */
export class AmbiguousPath extends Schema.TaggedError<AmbiguousPath>()(
  "AMBIGUOUS_PATH",
  {},
  { httpApiStatus: 400, title: "The path is not written plainly" }
) {}

export class UpgradeNotSupported extends Schema.TaggedError<UpgradeNotSupported>()(
  "UPGRADE_NOT_SUPPORTED",
  {},
  { httpApiStatus: 426, title: "The gateway speaks plain HTTP/1.1" }
) {}

/** What is wrong with an origin's answer. */
export const BadAnswerReason = Schema.Literals([
  "malformed_response",
  "headers_too_large",
  "unexpected_informational",
  "unsupported_transfer_coding",
  "proxy_authentication_required",
  "invalid_settlement_override"
])
export type BadAnswerReason = typeof BadAnswerReason.Type

const called = { payment_id: Schema.String, failure: Schema.String }

/** No connection, or one that broke before the origin had answered. The payer pays nothing. */
export class OriginUnreachable extends Schema.TaggedError<OriginUnreachable>()("ORIGIN_UNREACHABLE", called, {
  httpApiStatus: 502,
  title: "The origin could not be reached, or broke off"
}) {}

/** The origin answered with something that cannot be passed on. The payer pays nothing. */
export class OriginBadAnswer extends Schema.TaggedError<OriginBadAnswer>()(
  "ORIGIN_BAD_ANSWER",
  { ...called, reason: BadAnswerReason },
  { httpApiStatus: 502, title: "The origin's answer cannot be passed on" }
) {}

/** The origin took longer than the endpoint allows. The payer pays nothing. */
export class OriginTimeout extends Schema.TaggedError<OriginTimeout>()("ORIGIN_TIMEOUT", called, {
  httpApiStatus: 504,
  title: "The origin did not answer in time"
}) {}

/** The header of a payment says nothing that any protocol here means. */
export class PaymentMalformed extends Schema.TaggedError<PaymentMalformed>()(
  "PAYMENT_MALFORMED",
  { reason: Schema.String },
  { httpApiStatus: 400, title: "The payment cannot be read" }
) {}
