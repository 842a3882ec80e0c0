import { Schema } from "effect"

/** The thing does not exist, or belongs to somebody else: the two are told apart by nobody. */
export class NotFound extends Schema.TaggedError<NotFound>()(
  "NOT_FOUND",
  { resource: Schema.String, id: Schema.String },
  { httpApiStatus: 404, title: "There is no such thing here" }
) {}

/** The request is well formed, and its parts contradict each other or the thing they name. */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()(
  "INVALID_REQUEST",
  { errors: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String })) },
  { httpApiStatus: 400, title: "The request could not be read" }
) {}

/** The caller is known and may not do this. */
export class Forbidden extends Schema.TaggedError<Forbidden>()(
  "FORBIDDEN",
  { reason: Schema.String },
  { httpApiStatus: 403, title: "This credential may not do that" }
) {}

/** The thing is in a state that the operation does not start from. */
export class StateTransitionInvalid extends Schema.TaggedError<StateTransitionInvalid>()(
  "STATE_TRANSITION_INVALID",
  { resource: Schema.String, from: Schema.String, to: Schema.String },
  { httpApiStatus: 409, title: "The state does not allow this" }
) {}

/** Something we stand on does not answer. The outcome may be unknown: the same call with the same idempotency key is safe. */
export class ServiceUnavailable extends Schema.TaggedError<ServiceUnavailable>()(
  "SERVICE_UNAVAILABLE",
  { retry_after: Schema.Int },
  { httpApiStatus: 503, title: "Try again shortly" }
) {
  /** The same with its reason, which is for the log: callers are not told. */
  static because(why: string, retry_after = 1): ServiceUnavailable {
    return Object.assign(new ServiceUnavailable({ retry_after }), { cause: why })
  }
}
