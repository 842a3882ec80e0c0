import { Schema } from "effect"
import { IdempotencyKey } from "#domain/Text.ts"

/** Headers of every operation that is done once under a key; spread them into an endpoint's `headers`. */
export const idempotencyHeaders = {
  "idempotency-key": Schema.optionalKey(IdempotencyKey),
  "x-idempotency-key": Schema.optionalKey(IdempotencyKey)
}

/** The same in words, of an operation that makes something. */
export const createdOnce =
  "With an idempotency key, in the body as `idempotency_key` or as header, it is made once in 24 hours: a repetition answers what the " +
  "first request answered, with `Idempotency-Replayed: true`, and the same key with other parameters is 409 `IDEMPOTENCY_KEY_REUSED`."

/** The same in words, of an operation that changes something. */
export const changedOnce =
  "With an idempotency key, in the body as `idempotency_key` or as header, a repetition within 24 hours answers what the first request " +
  "answered, with `Idempotency-Replayed: true`, and the same key with other parameters is 409 `IDEMPOTENCY_KEY_REUSED`."

/** The same in words, of an operation that is charged for and looks at a site before it answers. */
export const chargedOnce =
  "With an idempotency key, in the body as `idempotency_key` or as header, it is charged once in 24 hours: a repetition answers the record " +
  "of the first request as it is now, with `Idempotency-Replayed: true`, and waits for it while it is being made, after five minutes " +
  "with 503 `SCANNER_UNAVAILABLE` and `Retry-After`. The same key with other parameters is 409 `IDEMPOTENCY_KEY_REUSED`. A request that " +
  "was refused, or came to nothing and had its credits returned, leaves the key free."

/** The body of an operation that takes nothing but a key; it may be left out. */
export const keyAlone = [Schema.Struct({ idempotency_key: Schema.optionalKey(IdempotencyKey) }), Schema.Null] as const
