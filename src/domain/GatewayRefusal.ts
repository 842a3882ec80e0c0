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

const called = { payment_id: Schema.String, failure: Schema.String }

/** No connection, or one that broke before the origin had answered. The payer pays nothing. */
export class OriginUnreachable extends Schema.TaggedError<OriginUnreachable>()("ORIGIN_UNREACHABLE", called, {
  httpApiStatus: 502,
  title: "The origin could not be reached"
}) {}

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
