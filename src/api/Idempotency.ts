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

/** The body of an operation that takes nothing but a key; it may be left out. */
export const keyAlone = [Schema.Struct({ idempotency_key: Schema.optionalKey(IdempotencyKey) }), Schema.Null] as const
