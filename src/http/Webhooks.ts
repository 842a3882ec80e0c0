import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { offsetOf, pageOf } from "#api/Pagination.ts"
import { Replayed } from "#api/WebhookDeliveries.ts"
import { replayDefaults } from "#domain/Delivery.ts"
import { catalogue } from "#domain/EventExamples.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { Webhooks } from "#services/Webhooks.ts"
import { once } from "./Idempotency.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "webhooks",
  Effect.fnUntraced(function* (handlers) {
    const webhooks = yield* Webhooks
    const deliveries = yield* WebhookDeliveries
    const replayOnce = yield* once
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        return yield* webhooks.create(yield* CurrentPrincipal, payload)
      }),
      list: Effect.fnUntraced(function* ({ query: { limit, page, ...filter } }) {
        const range = { limit, offset: offsetOf({ page, limit }) }
        const found = yield* webhooks.list(yield* CurrentPrincipal, filter, range)
        return pageOf({ page, limit }, found.webhooks, found.total)
      }),
      eventTypes: ({ query }) => {
        const first = offsetOf(query)
        return Effect.succeed(pageOf(query, catalogue.slice(first, first + query.limit), catalogue.length))
      },
      get: Effect.fnUntraced(function* ({ params }) {
        return yield* webhooks.get(yield* CurrentPrincipal, params.id)
      }),
      update: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* webhooks.update(yield* CurrentPrincipal, params.id, payload)
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        return yield* webhooks.remove(yield* CurrentPrincipal, params.id)
      }),
      rotateSecret: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* webhooks.rotateSecret(yield* CurrentPrincipal, params.id, payload?.overlap_seconds)
      }),
      test: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* webhooks.test(yield* CurrentPrincipal, params.id, payload?.type)
      }),
      deliveries: Effect.fnUntraced(function* ({ params, query: { limit, ...filter } }) {
        const found = yield* deliveries.list(yield* CurrentPrincipal, params.id, { ...filter, limit })
        return { data: found.deliveries, pagination: { limit, next_cursor: found.next } }
      }),
      delivery: Effect.fnUntraced(function* ({ params }) {
        return yield* deliveries.get(yield* CurrentPrincipal, params.id, params.deliveryId)
      }),
      replay: Effect.fnUntraced(function* ({ params }) {
        return yield* deliveries.replay(yield* CurrentPrincipal, params.id, params.deliveryId)
      }),
      replayAll: Effect.fnUntraced(function* ({ headers, params, payload: { idempotency_key: bodyKey, ...which } }) {
        const queued = deliveries.replayAll(yield* CurrentPrincipal, params.id, which)
        return yield* replayOnce(
          { operation: "webhooks.replayAll", headers, bodyKey, parameters: { ...params, ...replayDefaults, ...which } },
          Replayed,
          Effect.succeed(Effect.map(queued, ({ next, ...replayed }) => ({ ...replayed, next_cursor: next })))
        )
      })
    })
  })
)
