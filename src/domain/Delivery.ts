import { DateTime, Schema } from "effect"
import { Moment } from "./Instant.ts"
import { EventType } from "./Event.ts"
import { DeliveryId, EventId, WebhookId } from "./Ids.ts"

/** Why something is sent: it happened, somebody tries the receiver, or somebody wants to have it again. */
export const DeliveryCause = Schema.Literals(["event", "test", "replay"])
export type DeliveryCause = typeof DeliveryCause.Type

export const DeliveryStatus = Schema.Literals(["pending", "delivered", "failed"])
export type DeliveryStatus = typeof DeliveryStatus.Type

/**
 * Why an attempt failed: an answer that is not 2xx; no whole answer in time; a name without an address, or that nobody could be asked
 * about; a connection refused, not made or cut; TLS that cannot be trusted; an address that must not be called; an answer that is not
 * HTTP. `lost`: whoever made the attempt did not live to say what came of it. `stopped`: the subscription was paused or disabled before
 * it was made.
 */
export const DeliveryFailure = Schema.Literals([
  "status",
  "timeout",
  "dns",
  "refused",
  "unreachable",
  "reset",
  "tls",
  "forbidden_address",
  "bad_response",
  "lost",
  "stopped"
])
export type DeliveryFailure = typeof DeliveryFailure.Type

/** How many bytes of an answer's body are kept; the rest is not read. */
export const keptResponseBytes = 16_384

const headers = Schema.Record(Schema.String, Schema.String)
const moment = Schema.NullOr(Moment)

/** What was sent. Signatures are left out of what is kept. */
export const DeliveryRequest = Schema.Struct({ url: Schema.String, headers, body: Schema.String })

/** What was answered: the beginning of the body as text, and whether there was more of it. */
export const DeliveryResponse = Schema.Struct({
  status: Schema.Int,
  headers,
  body: Schema.String,
  truncated: Schema.Boolean
})

/** One attempt to deliver an event. The attempts of a chain carry the same event and the same bytes, each under an id of its own. */
export const Delivery = Schema.Struct({
  id: DeliveryId,
  webhook_id: WebhookId,
  event_id: EventId,
  event_type: EventType,
  cause: DeliveryCause,
  attempt: Schema.Int,
  status: DeliveryStatus,
  created_at: Moment,
  /** When the call began; of what was not sent yet null. */
  sent_at: moment,
  duration_ms: Schema.NullOr(Schema.Int),
  request: Schema.NullOr(DeliveryRequest),
  response: Schema.NullOr(DeliveryResponse),
  failure: Schema.NullOr(DeliveryFailure),
  /** When the next attempt is due, or this one if it is a pending repetition. */
  next_retry_at: moment
}).annotate({ identifier: "WebhookDelivery" })
export type Delivery = typeof Delivery.Type

/** What narrows a list of deliveries; every field given must match. */
export interface DeliveryFilter {
  readonly status?: DeliveryStatus | undefined
  readonly event_type?: EventType | undefined
  /** Those made at or after it. */
  readonly since?: Date | undefined
  /** Those made before it. */
  readonly until?: Date | undefined
}

/** Which past events are sent again. */
export interface Replaying {
  readonly since: Date
  readonly until?: Date | undefined
  /** Types and families such as `transfer.*`; what the subscription asks for when left out. */
  readonly types?: ReadonlyArray<string> | undefined
  /** Only what was sent and never arrived. */
  readonly only_failed?: boolean | undefined
  /** The place in the log that an earlier call came to: what follows it. */
  readonly cursor?: bigint | undefined
}

/** What is meant by what a replay leaves out. */
export const replayDefaults = { types: ["*"], only_failed: false } as const

/** How many events one call replays, and how many at most: those of one instant are not parted, and a batch makes thousands. */
export const maxReplayed = 1000
export const maxReplayedAtOnce = 5 * maxReplayed

/**
 * How long after it happened a fact may still be written, in milliseconds: an event bears the time at which it was asked for, and is seen
 * when that is committed. Far above what a commit is waited for.
 */
export const longestUnwritten = 60_000

/** From when on events may be missing in what was read at `now` of a range: those that follow it, and those that were not written yet. */
export const readUntil = ({ since, until }: { readonly since: Date; readonly until: Date }, now: Date): Date => {
  const written = DateTime.toDate(DateTime.subtract(DateTime.makeUnsafe(now), { milliseconds: longestUnwritten }))
  const read = written < since ? since : written
  return until < read ? until : read
}

/** While so many replays of a subscription wait to be sent, no more are taken. */
export const maxReplaysWaiting = 10_000

export class TooManyReplays extends Schema.TaggedError<TooManyReplays>()(
  "TOO_MANY_REPLAYS",
  { limit: Schema.Int },
  { httpApiStatus: 422, title: "The webhook has as many replays to send as it may have: go on when some of them were" }
) {}

/**
 * How many of these facts, which are in the order of the log, one call replays: as many as it may, up to a place where all before it
 * happened before all after it, so that whoever goes on by time gets none of them twice. Without such a place they are parted.
 */
export const replayedOf = (found: ReadonlyArray<{ readonly at: Date }>): number => {
  if (found.length <= maxReplayed) return found.length
  let earliest = Number.POSITIVE_INFINITY
  const after = found.map(() => earliest)
  for (let place = found.length - 1; place >= 0; place--) {
    after[place] = earliest
    earliest = Math.min(earliest, found[place]?.at.getTime() ?? earliest)
  }
  let latest = Number.NEGATIVE_INFINITY
  let count = 0
  for (const [place, { at }] of found.slice(0, maxReplayedAtOnce).entries()) {
    if (place >= maxReplayed && count > 0) break
    latest = Math.max(latest, at.getTime())
    if (latest < (after[place] ?? latest)) count = place + 1
  }
  return count > 0 ? count : maxReplayedAtOnce
}
