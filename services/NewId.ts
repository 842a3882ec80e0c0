import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"

/** A fresh UUIDv7 under the brand of the given schema: time-ordered, with 74 random bits. */
export const newId = <Id extends string>(schema: { readonly make: (uuid: string) => Id }): Effect.Effect<Id> =>
  Effect.sync(() => schema.make(SecureRandom.uuidV7Unsafe()))

/** The same for inner steps that need no brand. */
export const newUuid = (): string => SecureRandom.uuidV7Unsafe()
