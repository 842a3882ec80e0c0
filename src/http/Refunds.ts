import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { cursorPageOf } from "#api/Pagination.ts"
import { refundOrderOf } from "#domain/Refund.ts"
import { Refunds } from "#services/Refunds.ts"
import { claim, markReplayed } from "./Idempotency.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "refunds",
  Effect.fnUntraced(function* (handlers) {
    const refunds = yield* Refunds
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ headers, payload }) {
        const principal = yield* CurrentPrincipal
        const order = yield* Effect.fromResult(refundOrderOf(payload))
        const operation = "refunds.create"
        const bodyKey = payload.idempotency_key
        const claimed = yield* claim({ operation, principal, headers, bodyKey, parameters: { ...order } })
        const { refund, replayed } = yield* refunds.create(principal, order, claimed)
        yield* markReplayed(replayed)
        return refund
      }),
      list: Effect.fnUntraced(function* ({ query: { cursor, limit, ...filter } }) {
        const found = yield* refunds.list(yield* CurrentPrincipal, filter, { limit: limit + 1, before: cursor })
        return cursorPageOf(limit, found, ({ id }) => id)
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        return yield* refunds.get(yield* CurrentPrincipal, params.id)
      })
    })
  })
)
