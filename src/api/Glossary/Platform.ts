import type { Terms } from "./Terms.ts"

const webhook = {
  url: "Where events are sent",
  events: "What is sent: types, families such as `transfer.*`, or `*` for everything",
  description: "What you noted about it; null when there is nothing",
  status:
    "`active`: events are sent; `paused`: only tests and replays that you order; `disabled`: nothing, because the receiver answered 410",
  status_reason:
    "Why it is not active: `requested` (you paused it), `failing` (nothing arrived for 72 hours), `gone` (410); null while it is",
  failures: "How many attempts failed in a row until now; 0 after one that arrived. Tests do not count",
  failing_since: "Since when attempts fail, without a day in which nothing was tried; null while none does"
}

const byType = "Only deliveries of this type of event"

const tenantName = "What the tenant is called, in 1 to 255 characters"

/** Of webhooks, what the server says of itself, and its administration. */
export const platform: Terms = {
  Webhook: webhook,
  WebhookWithSecret: webhook,
  "webhooks.create": { events: webhook.events, description: "A note of your own; null or left out: none" },
  "webhooks.list": {
    status: "Only webhooks in this state",
    endpoint_id: "Only the webhook that this endpoint's `webhookUrl` made"
  },
  "webhooks.update": {
    events: `${webhook.events}. Replaces all of them`,
    description: "A note of your own; null: none",
    status:
      "`paused`: what happens is not sent, and retries of it end; `active`: begins again without failures, also after it stopped by itself"
  },
  "webhooks.test": { type: "Which example to send; `webhook.test` when left out" },
  "webhooks.deliveries": {
    status: "Only deliveries in this state",
    event_type: byType,
    since: "Only deliveries made at or after this moment, in ISO 8601 with seconds and an offset",
    until: "Only deliveries made before this moment, in ISO 8601 with seconds and an offset"
  },
  "webhooks.replayAll": {
    since: "From when on events are sent again, inclusive, by when they happened: ISO 8601 with seconds and an offset",
    until:
      "Until when, exclusive; now when left out. In the answer: the moment from which on the rest happened, or the `since` to go on with",
    types: "Only these types and families of what the webhook asks for; all of it when left out",
    only_failed: "Only what was sent, never arrived and is not tried any more; false when left out",
    queued: "How many events this call sends again; 0 does not mean that it was the last one: `next_cursor` null does",
    next_cursor: "What to send as `cursor` to go on; null when all was queued"
  },
  WebhookDelivery: {
    event_id: "Id of the event (`evt_…`), the same for every attempt and every replay",
    event_type: "The type of the event",
    cause: "`event`: it happened; `test`: somebody tries the receiver; `replay`: somebody wants it sent again",
    attempt:
      "Which attempt it is, from 1; a replay begins again at 1, and one that was `lost` is made again under its number",
    status: "`pending`: not over yet; `delivered`: answered with 2xx; `failed`: see `failure`",
    created_at: "When the attempt was planned",
    sent_at: "When the call began; null until then, and when it was `stopped`",
    duration_ms:
      "Milliseconds from then until the answer was whole, or was not waited for any more; null until then, and when it was `lost` or `stopped`",
    request: "What was sent, without the signatures; null until then, and when it was `stopped`",
    "request.url": "The address that was called",
    "request.headers": "Its header fields, signatures as `[redacted]`",
    "request.body": "The event, as it was posted",
    response: "What was answered; null without an answer",
    "response.status": "Its status; 2xx is what counts as delivered",
    "response.headers": "Its header fields",
    "response.body": "The first 16 KiB of its body, as text",
    "response.truncated": "Whether the body was longer",
    failure:
      "Why the attempt failed: `status` (an answer other than 2xx), `timeout` (no whole answer within 15 seconds), `dns` (the name has no address, or could not be looked up), `refused`, `unreachable` or `reset` (a connection refused, not made or cut), `tls` (its certificate cannot be trusted), `forbidden_address` (an address that must not be called), `bad_response` (no HTTP), `lost` (the process ended before it was known), `stopped` (the webhook was paused or disabled before); null otherwise",
    next_retry_at:
      "When the attempt after this one is due, or this one while it is a pending repetition; null when none is"
  },
  EventTypeRecord: {
    type: "What a subscription names to get it",
    description: "What such an event says",
    example: "The body of such an event, as it is posted"
  },
  "system.live": { status: "There is no other answer" },
  Readiness: {
    status: "`ready` comes with 200, `unavailable` with 503",
    checks: "What the process stands on",
    "checks.postgres": "Whether Postgres answers within a second",
    "checks.migrations": "Whether its tables were made; `unknown` while it is down",
    "checks.writable": "Whether it may be written: a standby, or a server that is read-only, is `down`",
    "checks.ledger": "Whether the ledger has its connection to Postgres, or was without it for less than three seconds",
    "checks.bus": "Whether the bus between the processes is reached; `down` is no reason to be unavailable",
    "checks.serving": "`stopping` from the moment on in which the process was asked to end"
  },
  Tenant: {
    name: tenantName,
    account_id: "The tenant's own account, which its operations mean when they name none (`acc_…`)"
  },
  "administration.createTenant": { name: tenantName },
  "administration.grants": {
    tenant_id: "The tenant that gets them (`ten_…`, or the UUID it stands for); the caller's own when left out",
    credits: "How many, whole ones"
  },
  CreditGrant: {
    tenant_id: "The tenant that got them (`ten_…`)",
    credits: "How many were given",
    balance: "Whole credits that the tenant had then",
    created_at: "When they were given"
  },
  Examination: {
    ok: "Whether every promise holds",
    checked: "How many promises there are",
    broken: "How many of them are broken; 0 when the books are in order",
    examined_at: "When it began: the snapshot is of that moment",
    duration_ms: "Milliseconds for all of them",
    promises: "All of them, in the order in which they were checked"
  },
  ExaminedPromise: {
    promise: "What holds of the books, in a sentence",
    ok: "Whether it does",
    rows:
      "Up to ten rows that break it, with what tells them apart; none when it holds. Counts and amounts are decimal strings. Where something " +
      "is damaged so far that it cannot be read, one row with what the database says of it as `unreadable`",
    duration_ms: "Milliseconds for this one"
  }
}
