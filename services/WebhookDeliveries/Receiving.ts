import { Effect } from "effect"
import { WebhookId } from "#domain/Ids.ts"
import { WebhookStatus } from "#domain/Webhook.ts"
import * as SigningSecrets from "../Webhooks/SigningSecrets.ts"

/** Where attempts of a subscription go, and what signs them. */
export interface Receiver {
  readonly url: string
  readonly origin: string
  readonly path: string
  readonly secrets: ReadonlyArray<string>
}

/** What the row of a subscription says about that. */
export interface Sealed {
  readonly webhook_id: string
  readonly url: string
  readonly secret: Uint8Array
  readonly previous_secret: Uint8Array | null
  readonly previous_until: Date | null
}

const statuses: ReadonlySet<string> = new Set(WebhookStatus.literals)

/** A subscription that another version has put into another state is left alone. */
export const isKnown = (status: string): boolean => statuses.has(status)

/** Opens the secrets of a subscription; dies where that, or its address, makes no sense: it cannot be called then. */
export const make = Effect.map(SigningSecrets.make, (secrets) =>
  Effect.fnUntraced(function* (sealed: Sealed, now: Date) {
    const { previous_secret, previous_until, secret, url, webhook_id } = sealed
    const id = WebhookId.to.make(webhook_id)
    const { origin, pathname, search } = new URL(url)
    const signing = [yield* secrets.open(id, secret)]
    if (previous_secret !== null && previous_until !== null && previous_until > now) {
      signing.push(yield* secrets.open(id, previous_secret))
    }
    return { url, origin, path: pathname + search, secrets: signing } satisfies Receiver
  })
)
