import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { cursorPageOf } from "#api/Pagination.ts"
import { StateTransitionInvalid } from "#domain/Refusal.ts"
import { orderOf } from "#domain/TransferOrder.ts"
import { Transfers } from "#services/Transfers.ts"
import { claim, markReplayed } from "./Idempotency.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "transfers",
  Effect.fnUntraced(function* (handlers) {
    const transfers = yield* Transfers
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ headers, payload }) {
        const principal = yield* CurrentPrincipal
        const order = yield* Effect.fromResult(orderOf(payload))
        const claimed = yield* claim({
          operation: "transfers.create",
          principal,
          headers,
          bodyKey: payload.idempotency_key,
          parameters: order
        })
        switch (order.type) {
          case "cross_border":
          case "stream_start":
          case "stream_withdraw":
          case "stream_cancel":
            return yield* Effect.die(`Not yet: ${order.type}`)
          default: {
            const { replayed, transfer } = yield* transfers.create(principal, order, claimed)
            yield* markReplayed(replayed)
            return transfer
          }
        }
      }),
      list: Effect.fnUntraced(function* ({ query: { cursor, limit, ...filter } }) {
        const found = yield* transfers.list(yield* CurrentPrincipal, filter, { limit: limit + 1, before: cursor })
        return cursorPageOf(limit, found, ({ id }) => id)
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        return yield* transfers.get(yield* CurrentPrincipal, params.id)
      }),
      cancel: Effect.fnUntraced(function* ({ params }) {
        const transfer = yield* transfers.get(yield* CurrentPrincipal, params.id)
        return yield* new StateTransitionInvalid({ resource: "transfer", from: transfer.status, to: "cancelled" })
      })
    })
  })
)
