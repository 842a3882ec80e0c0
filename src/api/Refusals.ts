import { Schema } from "effect"

/** What the HTTP edge itself refuses, before or around any operation. */
export class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()(
  "METHOD_NOT_ALLOWED",
  { method: Schema.String, allow: Schema.Array(Schema.String) },
  { httpApiStatus: 405, title: "This path does not take that method" }
) {}

export class BodyTooLarge extends Schema.TaggedError<BodyTooLarge>()(
  "BODY_TOO_LARGE",
  { limit_bytes: Schema.Int },
  { httpApiStatus: 413, title: "The request body is too large" }
) {}

export class UnsupportedMediaType extends Schema.TaggedError<UnsupportedMediaType>()(
  "UNSUPPORTED_MEDIA_TYPE",
  { header: Schema.String, accepted: Schema.String },
  { httpApiStatus: 415, title: "Send the body as plain UTF-8 JSON" }
) {}

export class RequestTimeout extends Schema.TaggedError<RequestTimeout>()(
  "REQUEST_TIMEOUT",
  {},
  { httpApiStatus: 408, title: "The request did not arrive in time" }
) {}

export class HeadersTooLarge extends Schema.TaggedError<HeadersTooLarge>()(
  "HEADERS_TOO_LARGE",
  { limit_bytes: Schema.Int },
  { httpApiStatus: 431, title: "The request line and headers are too large" }
) {}

export class RateLimitExceeded extends Schema.TaggedError<RateLimitExceeded>()(
  "RATE_LIMIT_EXCEEDED",
  { limit: Schema.Int, retry_after: Schema.Int },
  { httpApiStatus: 429, title: "Too many requests" }
) {}

/** What a 402 is called among what the payment protocols say in it. It is written where they are, so nobody makes one. */
export class PaymentRequired extends Schema.TaggedError<PaymentRequired>()(
  "PAYMENT_REQUIRED",
  {},
  { httpApiStatus: 402, title: "The call costs money: pay as the answer says, and make it again" }
) {}

/** The header and the body of one request name different idempotency keys. */
export class IdempotencyKeysDiffer extends Schema.TaggedError<IdempotencyKeysDiffer>()(
  "IDEMPOTENCY_KEYS_DIFFER",
  {},
  { httpApiStatus: 422, title: "The request names more than one idempotency key" }
) {}

export class InternalError extends Schema.TaggedError<InternalError>()(
  "INTERNAL_ERROR",
  {},
  { httpApiStatus: 500, title: "Something went wrong on our side; the request id finds it in our logs" }
) {}

const amountFields = { param: Schema.String, message: Schema.String }

export class InvalidAmount extends Schema.TaggedError<InvalidAmount>()("INVALID_AMOUNT", amountFields, {
  httpApiStatus: 422,
  title: "The amount is not a plain decimal"
}) {}

export class AmountTooSmall extends Schema.TaggedError<AmountTooSmall>()("AMOUNT_TOO_SMALL", amountFields, {
  httpApiStatus: 422,
  title: "The amount is too small"
}) {}

export class UnholdableAmount extends Schema.TaggedError<UnholdableAmount>()("AMOUNT_TOO_LARGE", amountFields, {
  httpApiStatus: 422,
  title: "The amount is larger than the ledger can hold"
}) {}
