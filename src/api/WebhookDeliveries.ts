import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { Delivery, DeliveryStatus, TooManyReplays } from "#domain/Delivery.ts"
import { EventType } from "#domain/Event.ts"
import { catalogue } from "#domain/EventExamples.ts"
import { DeliveryId, EventId, WebhookId } from "#domain/Ids.ts"
import { Bound, Moment } from "#domain/Instant.ts"
import { IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import { NotFound, StateTransitionInvalid } from "#domain/Refusal.ts"
import { ReplayDeliveries } from "#domain/Webhook.ts"
import { Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { createdOnce, idempotencyHeaders } from "./Idempotency.ts"
import { cursor, cursorPage, cursorQuery, Position } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"
import { IdempotencyKeysDiffer } from "./Refusals.ts"

const read = { resource: "webhooks", action: "read" } as const
const write = { resource: "webhooks", action: "write" } as const
const params = { id: WebhookId }
const one = { id: WebhookId, deliveryId: DeliveryId }

export const sent = {
  event_id: "evt_01h455vb4pex5vsknk084sn02q",
  delivery_id: "del_01h455vb4pex5vsknk084sn02q"
} as const

/** An event that is on its way, and its first attempt. */
export const queued = Schema.Struct({ event_id: EventId, delivery_id: DeliveryId }).pipe(HttpApiSchema.status(202))

const body = catalogue.find(({ type }) => type === "transfer.completed")?.example ?? {}
const shown = {
  id: sent.delivery_id,
  webhook_id: "wh_01h455vb4pex5vsknk084sn02q",
  event_id: sent.event_id,
  event_type: "transfer.completed",
  cause: "event",
  attempt: 1,
  status: "failed",
  created_at: "2026-01-02T03:04:08.911Z",
  sent_at: "2026-01-02T03:04:08.915Z",
  duration_ms: 37,
  request: {
    url: "https://example.com/hooks/turnpike",
    headers: {
      "Content-Type": "application/json",
      "User-Agent": "Turnpike-Webhooks/1",
      "X-Service-Signature": "t=1767323048,v1=[redacted]",
      "X-Service-Event-Id": sent.event_id,
      "X-Service-Delivery-Id": sent.delivery_id,
      "X-Service-Webhook-Id": "wh_01h455vb4pex5vsknk084sn02q",
      "webhook-id": sent.event_id,
      "webhook-timestamp": "1767323048",
      "webhook-signature": "v1,[redacted]"
    },
    body: JSON.stringify(body)
  },
  response: { status: 503, headers: { "retry-after": "60" }, body: "Try again", truncated: false },
  failure: "status",
  next_retry_at: "2026-01-02T03:09:08.915Z"
} as const

export const deliveries = HttpApiEndpoint.get("deliveries", "/webhooks/:id/deliveries", {
  params,
  query: {
    status: Schema.optionalKey(DeliveryStatus),
    event_type: Schema.optionalKey(EventType),
    since: Schema.optionalKey(Bound),
    until: Schema.optionalKey(Bound),
    ...cursorQuery(DeliveryId)
  },
  success: cursorPage(Delivery, DeliveryId),
  error: problem(NotFound)
})
  .annotate(Requires, read)
  .annotateMerge(
    documented({
      summary: "List the deliveries of a webhook",
      description:
        "The attempts, newest first, those still to come among them; every filter given must match. `since` is inclusive, " +
        "`until` is not. An attempt shows what was sent (without the signatures), what was answered (of the body the first 16 KiB), how long it took, " +
        "and `next_retry_at`, when it failed and is made again. The last 100 that are over are kept, and for 30 days those that failed " +
        "last of all. Pass `next_cursor` as `cursor` to read on; it is null at the end.",
      answer: { data: [shown], pagination: { limit: 50, next_cursor: null } }
    })
  )

export const delivery = HttpApiEndpoint.get("delivery", "/webhooks/:id/deliveries/:deliveryId", {
  params: one,
  success: Delivery,
  error: problem(NotFound)
})
  .annotate(Requires, read)
  .annotateMerge(
    documented({
      summary: "Get a delivery",
      description:
        "One attempt to deliver an event. `failure` says why it failed: `status` is an answer other than 2xx, `timeout` no whole " +
        "answer within 15 seconds, `forbidden_address` a receiver that leads to an address that must not be called.",
      answer: shown
    })
  )

export const replay = HttpApiEndpoint.post("replay", "/webhooks/:id/deliveries/:deliveryId/replay", {
  params: one,
  success: queued,
  error: problems(NotFound, StateTransitionInvalid, TooManyReplays)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Replay a delivery",
      description:
        "Sends the event of the delivery again, with the same event id and the same body, under a new delivery id and with the whole " +
        "retry schedule. Receivers that have had it know it by its event id. A `paused` webhook gets it too; for a `disabled` one 409 " +
        "`STATE_TRANSITION_INVALID`; while 10,000 replays of the webhook wait to be sent 422 `TOO_MANY_REPLAYS`.",
      answer: sent
    })
  )

const place = cursor(Position)

/** How much of the past is sent again, and where the rest begins. */
export const Replayed = Schema.Struct({
  queued: Schema.Int,
  until: Moment,
  next_cursor: Schema.NullOr(place)
})

export const replayAll = HttpApiEndpoint.post("replayAll", "/webhooks/:id/replay", {
  params,
  headers: idempotencyHeaders,
  payload: Schema.Struct({
    ...ReplayDeliveries.fields,
    cursor: Schema.optionalKey(
      place.annotate({ description: "`next_cursor` of the answer after which this call goes on" })
    )
  }),
  success: Replayed.pipe(HttpApiSchema.status(202)),
  error: problems(NotFound, StateTransitionInvalid, TooManyReplays, IdempotencyKeyReused, IdempotencyKeysDiffer)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Replay past events",
      description:
        "Sends again what the subscription asks for and was raised from `since` on and before `until` (now when left out), oldest " +
        "first and behind what happens meanwhile: also what was raised while it was paused or did not exist. `types` narrows it to " +
        "types and families; `only_failed` to what was sent, never arrived and is not tried any more: what was raised while the webhook " +
        "was paused was not sent, and is left out then. One call takes 1,000 events, of one instant all together and 5,000 at most; it may " +
        "take fewer, also none, where others lie between. Ask again with the same body and `next_cursor` as `cursor` until that is null. " +
        "`until` in the answer is then the moment from which on to ask the next time, as `since`: not later than a minute ago, " +
        "unless this `since` is, because what happened in the last minute may not be written yet. Nothing is left out so, and what " +
        "happened since then comes twice. Before that it is " +
        "the moment from which on the rest happened: who goes on with it as `since`, and no cursor, may have events of one instant " +
        "twice, and of an instant with more than 5,000, or of the last minute, not all. Only while the webhook is `active`, else 409 " +
        "`STATE_TRANSITION_INVALID`; what was queued is sent also when it is paused afterwards. While 10,000 replays of " +
        "the webhook wait to be sent 422 `TOO_MANY_REPLAYS`.\n\n" +
        `${createdOnce} A call that goes on with a cursor has a key of its own.`,
      body: { since: "2026-01-01T00:00:00Z", types: ["transfer.*"], only_failed: true },
      answer: { queued: 12, until: "2026-01-02T03:04:05.678Z", next_cursor: null }
    })
  )
