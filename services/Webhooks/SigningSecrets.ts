import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { createCipheriv, createDecipheriv } from "node:crypto"
import type { WebhookId } from "#domain/Ids.ts"
import { Secrets } from "../Secrets.ts"

/** The platform's key that they are sealed with. */
export const sealedWith = "webhooks"

const cipher = "aes-256-gcm"
const nonceBytes = 12
const tagBytes = 16
const secretBytes = 24
const prefix = "whsec_"

/** A new secret. Standard base64 without padding: libraries of both signature families take it. */
export const fresh = (): string => prefix + Buffer.from(SecureRandom.randomBytesUnsafe(secretBytes)).toString("base64")

/**
 * The secrets of subscriptions as they are kept: signing needs them, so they cannot be hashed. They are sealed with a key of the
 * platform, each for its subscription, so that a row that is seen or moved gives nothing away.
 */
export const make = Effect.gen(function* () {
  // Before anybody is in a transaction: one that is undone would take back a key that has sealed by then.
  const key = yield* (yield* Secrets).secret(sealedWith)

  const seal = (id: WebhookId, secret: string): Effect.Effect<Uint8Array> =>
    Effect.sync(() => {
      const nonce = SecureRandom.randomBytesUnsafe(nonceBytes)
      const sealing = createCipheriv(cipher, key, nonce).setAAD(Buffer.from(id))
      const sealed = sealing.update(Buffer.from(secret.slice(prefix.length), "base64"))
      return Buffer.concat([nonce, sealed, sealing.final(), sealing.getAuthTag()])
    })

  const open = (id: WebhookId, sealed: Uint8Array): Effect.Effect<string> =>
    Effect.sync(() => {
      const bytes = Buffer.from(sealed)
      const opening = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
      opening.setAAD(Buffer.from(id)).setAuthTag(bytes.subarray(-tagBytes))
      const secret = Buffer.concat([opening.update(bytes.subarray(nonceBytes, -tagBytes)), opening.final()])
      return prefix + secret.toString("base64")
    })

  return { seal, open }
})
