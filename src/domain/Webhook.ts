import { DateTime, Result, Schema } from "effect"
import { hostKind } from "./Address.ts"
import { EventType } from "./Event.ts"
import { EndpointId, WebhookId } from "./Ids.ts"
import { Bound, Moment } from "./Instant.ts"
import { isListed, maxOriginUrlLength, type OriginRefusal, type OriginRules, parseOriginUrl } from "./OriginUrl.ts"
import { StateTransitionInvalid } from "./Refusal.ts"
import { IdempotencyKey, text } from "./Text.ts"

export const WebhookStatus = Schema.Literals(["active", "paused", "disabled"])
export type WebhookStatus = typeof WebhookStatus.Type

/** Why nothing is sent: somebody asked for it, nothing arrived for too long, or the receiver answered that it is gone (410). */
export const StatusReason = Schema.Literals(["requested", "failing", "gone"])
export type StatusReason = typeof StatusReason.Type

/** A type as the families that it belongs to: `transfer.completed` is of `transfer.*`, and everything of `*`. */
const familiesOf = (type: EventType): ReadonlyArray<string> => {
  const parts = type.split(".")
  return parts.map((_, length) => [...parts.slice(0, length), "*"].join("."))
}

/** Everything that a subscription to this type may say to have it. */
export const patternsOf = (type: EventType): ReadonlyArray<string> => [type, ...familiesOf(type)]

/** What a subscription may ask for: a type, a family such as `transfer.*`, or `*`. */
export const eventPatterns: ReadonlySet<string> = new Set(EventType.literals.flatMap(patternsOf))

/** How many types and families one subscription names at most. */
export const maxEvents = 100

const shown = (given: string) => JSON.stringify(given.slice(0, 100))

const familyOf = (type: string): string => type.split(".", 1)[0] ?? ""
/** The types of each family, as they are told; at hand, because one body may have thousands of words that are none. */
const families = new Map(
  [...new Set(EventType.literals.map(familyOf))].map((family) => [
    family,
    [...EventType.literals.filter((type) => familyOf(type) === family), `${family}.*`].join(", ")
  ])
)
const allFamilies = [...[...families.keys()].map((family) => `${family}.*`), "*"].join(", ")

/** What somebody may have meant who wrote that: the types of its family, or all families where it is of none. */
const meant = (given: string): string => families.get(familyOf(given)) ?? allFamilies

const EventPattern = Schema.String.check(
  Schema.makeFilter<string>(
    (given) => eventPatterns.has(given) || `${shown(given)} is no type of event: there are ${meant(given)}`
  )
).annotate({ identifier: "EventPattern" })

const EventPatterns = Schema.Array(EventPattern).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(maxEvents),
  Schema.makeFilter<ReadonlyArray<string>>(
    (events) => {
      const seen = new Set<string>()
      const twice = events.find((one) => seen.size === seen.add(one).size)
      return twice === undefined || `${shown(twice)} is named twice`
    },
    { toJsonSchema: () => ({ uniqueItems: true }) }
  )
)
const Url = Schema.String.annotate({
  description: "Where events are sent: an absolute https URL of at most 2,048 characters"
})
const Description = Schema.NullOr(text(1000))
const moment = Schema.NullOr(Moment)

/** A subscription to events as callers see it; `Schema.toType` of it is its row. */
export const Webhook = Schema.Struct({
  id: WebhookId,
  url: Schema.String,
  events: Schema.Array(Schema.String),
  description: Schema.NullOr(Schema.String),
  endpoint_id: Schema.NullOr(EndpointId).annotate({
    description:
      "The endpoint whose webhookUrl this is: only what happens to its payments is sent, and the endpoint says where to"
  }),
  status: WebhookStatus,
  status_reason: Schema.NullOr(StatusReason),
  /** How many attempts failed since one succeeded, and since when. */
  failures: Schema.Int,
  failing_since: moment,
  created_at: Moment,
  updated_at: Moment
}).annotate({ identifier: "Webhook" })
export type Webhook = typeof Webhook.Type

const encode = Schema.encodeSync(Webhook)
/** The subscription in its wire form, as events about it carry it. */
export const webhookOnWire = (webhook: Webhook): typeof Webhook.Encoded => encode(webhook)

/** What makes and checks signatures: `whsec_` and the base64 of 24 bytes. */
export const SigningSecret = Schema.String.annotate({
  description: "Signs every delivery. It is shown in this answer and never again"
})

/** The subscription with its new secret. */
export const WebhookWithSecret = Schema.Struct({ ...Webhook.fields, secret: SigningSecret }).annotate({
  identifier: "WebhookWithSecret"
})
export type WebhookWithSecret = typeof WebhookWithSecret.Type

export const CreateWebhook = Schema.Struct({
  url: Url,
  events: EventPatterns,
  description: Schema.optionalKey(Description)
})
export type CreateWebhook = typeof CreateWebhook.Type

export const ChangeWebhook = Schema.Struct({
  url: Schema.optionalKey(Url),
  events: Schema.optionalKey(EventPatterns),
  description: Schema.optionalKey(Description),
  status: Schema.optionalKey(Schema.Literals(["active", "paused"]))
})
export type ChangeWebhook = typeof ChangeWebhook.Type

/** How long the secret that was also signs when nothing is said, and at most, in seconds. */
export const defaultOverlap = 86_400
const maxOverlap = 604_800

export const RotateWebhookSecret = Schema.Struct({
  overlap_seconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxOverlap })).annotate({
      description: "For how long the secret that was signs as well"
    })
  )
})

export const TestWebhook = Schema.Struct({ type: Schema.optionalKey(EventType) })

/** Which past events are sent again: those committed from `since` on and before `until`, which is now when left out. */
export const ReplayDeliveries = Schema.Struct({
  since: Bound,
  until: Schema.optionalKey(Bound),
  types: Schema.optionalKey(EventPatterns),
  only_failed: Schema.optionalKey(Schema.Boolean),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
})
export type ReplayDeliveries = typeof ReplayDeliveries.Type

/** How many subscriptions a tenant may have. */
export const maxWebhooks = 1000

export class TooManyWebhooks extends Schema.TaggedError<TooManyWebhooks>()(
  "TOO_MANY_WEBHOOKS",
  { limit: Schema.Int },
  { httpApiStatus: 422, title: "The tenant has as many webhooks as it may have" }
) {}

/** What the subscription of an endpoint asks for. */
export const eventsOfEndpoint: ReadonlyArray<string> = ["x402.payment.*"]

export class WebhookOfEndpoint extends Schema.TaggedError<WebhookOfEndpoint>()(
  "WEBHOOK_OF_ENDPOINT",
  { endpoint_id: Schema.String },
  { httpApiStatus: 409, title: "The webhook is the endpoint's webhookUrl, which is changed there" }
) {}

/** An endpoint's subscription goes where the endpoint says, for as long as it says so. */
export const refuseOfEndpoint = ({ endpoint_id }: Webhook): Result.Result<void, WebhookOfEndpoint> =>
  endpoint_id === null ? Result.void : Result.fail(new WebhookOfEndpoint({ endpoint_id }))

/**
 * The address that events may be sent to, as it is kept. The rules are those of origins; besides, only what is on this machine or
 * listed by the deployment may do without TLS and its port.
 */
export const receiverUrl = (given: string, rules: OriginRules): Result.Result<string, OriginRefusal> =>
  Result.flatMap(parseOriginUrl(given, rules), ({ hostname, href, port }) => {
    if (href.length > maxOriginUrlLength) return Result.fail("TooLong")
    if (isListed(hostname, port, rules) || hostKind(hostname) === "loopback") return Result.succeed(href)
    if (!href.startsWith("https:")) return Result.fail("SchemeNotAllowed")
    return port === 443 ? Result.succeed(href) : Result.fail("PortNotAllowed")
  })

/**
 * The subscription after a change, if its status allows it. Whoever activates it starts with a clean slate, and so does another
 * receiver, which has not failed yet.
 */
export const changed = (
  webhook: Webhook,
  wanted: ChangeWebhook,
  at: DateTime.Utc
): Result.Result<Webhook, StateTransitionInvalid> => {
  const { status: from } = webhook
  const { description = webhook.description, events = webhook.events, status: to = from, url = webhook.url } = wanted
  const clean = { failures: 0, failing_since: null }
  const streak = url === webhook.url ? {} : clean
  const next: Webhook = { ...webhook, ...streak, description, events, url, updated_at: DateTime.toDate(at) }
  if (to === from) return Result.succeed(next)
  if (to === "active") return Result.succeed({ ...next, ...clean, status: to, status_reason: null })
  return from === "active" && to === "paused"
    ? Result.succeed({ ...next, status: to, status_reason: "requested" })
    : Result.fail(new StateTransitionInvalid({ resource: "webhook", from, to }))
}
