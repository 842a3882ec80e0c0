import { Schema } from "effect"
import { IdempotencyKey } from "#domain/Text.ts"

/** Headers of every operation that moves money; spread them into an endpoint's `headers`. */
export const idempotencyHeaders = {
  "idempotency-key": Schema.optionalKey(IdempotencyKey),
  "x-idempotency-key": Schema.optionalKey(IdempotencyKey)
}
