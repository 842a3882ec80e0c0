import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { catalogue, EventTypeRecord } from "#domain/EventExamples.ts"
import { webhook } from "#domain/Examples/Records.ts"
import { EndpointId, WebhookId } from "#domain/Ids.ts"
import { OriginNotAllowed } from "#domain/OriginUrl.ts"
import { NotFound, StateTransitionInvalid } from "#domain/Refusal.ts"
import {
  ChangeWebhook,
  CreateWebhook,
  RotateWebhookSecret,
  TestWebhook,
  TooManyWebhooks,
  Webhook,
  WebhookOfEndpoint,
  WebhookStatus,
  WebhookWithSecret
} from "#domain/Webhook.ts"
import { Authorization, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { page, pageQuery } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"
import { deliveries, delivery, queued, replay, replayAll, sent } from "./WebhookDeliveries.ts"

const read = { resource: "webhooks", action: "read" } as const
const write = { resource: "webhooks", action: "write" } as const
const params = { id: WebhookId }

const secret = "whsec_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX"

const create = HttpApiEndpoint.post("create", "/webhooks", {
  payload: CreateWebhook,
  success: WebhookWithSecret.pipe(HttpApiSchema.status(201)),
  error: problems(OriginNotAllowed, TooManyWebhooks)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Subscribe to events",
      description:
        "From now on every event of the tenant whose type is in `events` is posted to `url`, signed with `secret`, at least " +
        "once and until it is answered with 2xx. Facts committed before this answer are not sent. `secret` is shown here and " +
        "when it is rotated, and never again.\n\n" +
        "`events` are 1 to 100 types (see `GET /v1/webhooks/event-types`), families such as `transfer.*`, or `*`, each once. " +
        "`url` is absolute and `https`, at most 2,048 characters long, without user name, password or fragment, on port 443 " +
        "unless the deployment lists its host and port, and leads to a public address: anything else is 422 " +
        "`ORIGIN_NOT_ALLOWED` with a `reason`. Plain `http` is for receivers on loopback, where the deployment allows those, " +
        "and for listed ones. The address is judged again at every delivery. A tenant has at most 1,000 webhooks " +
        "beside those of its endpoints: 422 `TOO_MANY_WEBHOOKS`.",
      body: { url: webhook.url, events: webhook.events, description: webhook.description },
      answer: { ...webhook, secret }
    })
  )

const list = HttpApiEndpoint.get("list", "/webhooks", {
  query: { status: Schema.optionalKey(WebhookStatus), endpoint_id: Schema.optionalKey(EndpointId), ...pageQuery },
  success: page(Webhook)
})
  .annotate(Requires, read)
  .annotateMerge(
    documented({
      summary: "List webhooks",
      description:
        "The subscriptions of the caller's tenant, newest first, without their secrets. That of an endpoint, made by its `webhookUrl`, has " +
        "the `endpoint_id`, and `?endpoint_id=` finds it.",
      answer: { data: [webhook], pagination: { page: 1, limit: 50, total: 1, totalPages: 1 } }
    })
  )

const get = HttpApiEndpoint.get("get", "/webhooks/:id", { params, success: Webhook, error: problem(NotFound) })
  .annotate(Requires, read)
  .annotateMerge(
    documented({
      summary: "Get a webhook",
      description:
        "The subscription as it is now, without its secret. `failures` counts the attempts that failed since one arrived; " +
        "`failing_since` is since when they fail without a day in which nothing was tried. After ten in a row the tenant's other subscriptions get `webhook.failing`; after 72 hours of failures " +
        "it is `paused` (`status_reason: failing`). One whose receiver answered 410 is `disabled` (`gone`). They " +
        "are told of both, as `webhook.paused` and `webhook.disabled`.",
      answer: webhook
    })
  )

const update = HttpApiEndpoint.patch("update", "/webhooks/:id", {
  params,
  payload: ChangeWebhook,
  success: Webhook,
  error: problems(NotFound, WebhookOfEndpoint, OriginNotAllowed, StateTransitionInvalid)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Change a webhook",
      description:
        "Changes what is given and leaves the rest; the rules are those of creation. `status: paused` stops sending what " +
        "happens, and its retries; tests and replays that were ordered are sent all the same, unless the webhook is disabled or " +
        "deleted. `status: active` begins again, also after it was paused or disabled by itself: it then has no failures, and gets the " +
        "events that are committed from then on. Those raised meanwhile are kept and can be replayed. A `disabled` webhook cannot " +
        "be paused: 409 `STATE_TRANSITION_INVALID`. `url` and `events` of an endpoint's subscription are the endpoint's: 409 " +
        "`WEBHOOK_OF_ENDPOINT`; `PATCH` its `webhookUrl`, which opens one again that was paused or disabled by itself, and leaves one " +
        "paused that was paused here, also when it was null meanwhile.",
      body: { events: ["transfer.*", "refund.*"], status: "active" },
      answer: { ...webhook, events: ["transfer.*", "refund.*"] }
    })
  )

const remove = HttpApiEndpoint.delete("remove", "/webhooks/:id", {
  params,
  success: HttpApiSchema.NoContent,
  error: problems(NotFound, WebhookOfEndpoint)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Delete a webhook",
      description:
        "Nothing more is sent, retries included, and its deliveries are no longer shown. Its secret is forgotten. That of an " +
        "endpoint goes when the endpoint's `webhookUrl` is set to null: 409 `WEBHOOK_OF_ENDPOINT`."
    })
  )

const rotateSecret = HttpApiEndpoint.post("rotateSecret", "/webhooks/:id/rotate-secret", {
  params,
  payload: [RotateWebhookSecret, Schema.Null],
  success: WebhookWithSecret,
  error: problem(NotFound)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Rotate the secret of a webhook",
      description:
        "Answers with a new `secret`, which is not shown again. For `overlap_seconds` (0 to 604,800; a day when left out) every " +
        "delivery carries a signature of the new secret and one of the secret that was, so that receivers can change in between; " +
        "with 0 only the new one signs from now on. At most two sign: rotating again ends an overlap that still runs. The body may " +
        "be left out.",
      body: { overlap_seconds: 3600 },
      bodyIsOptional: true,
      answer: { ...webhook, secret }
    })
  )

const test = HttpApiEndpoint.post("test", "/webhooks/:id/test", {
  params,
  payload: [TestWebhook, Schema.Null],
  success: queued,
  error: problems(NotFound, StateTransitionInvalid)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Send a test event",
      description:
        "Sends an event of the given `type` (`webhook.test` when left out) with example data, whatever the subscription's `events` " +
        "are: signed, delivered and retried like a real one, and shown among the deliveries. A `paused` webhook gets it too, so that " +
        "a repair can be tried; for a `disabled` one 409 `STATE_TRANSITION_INVALID`. The body may be left out.",
      body: { type: "transfer.completed" },
      bodyIsOptional: true,
      answer: sent
    })
  )

const eventTypes = HttpApiEndpoint.get("eventTypes", "/webhooks/event-types", {
  query: pageQuery,
  success: page(EventTypeRecord)
})
  .annotate(Requires, read)
  .annotateMerge(
    documented({
      summary: "List event types",
      description: "Every type of event, what it says, and the body of such an event as it is posted.",
      answer: {
        data: catalogue.slice(0, 1),
        pagination: { page: 1, limit: 1, total: catalogue.length, totalPages: catalogue.length }
      }
    })
  )

export class WebhooksApi extends HttpApiGroup.make("webhooks")
  .add(create, list, eventTypes, get, update, remove, rotateSecret, test, deliveries, delivery, replay, replayAll)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Webhooks",
      description: "Subscriptions to a tenant's events, what was sent to them, and sending it again."
    })
  ) {}
