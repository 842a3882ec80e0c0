import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { cursorPageOf } from "#api/Pagination.ts"
import { createTransfer } from "#api/Transfers.ts"
import { transferJson } from "#domain/TransferJson.ts"
import { CreateTransfer, readPlainly } from "#domain/TransferOrder.ts"
import { CrossBorder } from "#services/CrossBorder.ts"
import { Transfers } from "#services/Transfers.ts"
import * as Direct from "./Direct.ts"
import { claim, markReplayed } from "./Idempotency.ts"
import * as RawRoutes from "./RawRoutes.ts"
import * as Create from "./Transfers/Create.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "transfers",
  Effect.fnUntraced(function* (handlers) {
    const transfers = yield* Transfers
    const crossBorder = yield* CrossBorder
    const create = yield* Create.make
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ headers, payload }) {
        const { replayed, transfer } = yield* create(yield* CurrentPrincipal, headers, payload)
        yield* markReplayed(replayed)
        return transfer
      }),
      list: Effect.fnUntraced(function* ({ query: { cursor, limit, ...filter } }) {
        const found = yield* transfers.list(yield* CurrentPrincipal, filter, { limit: limit + 1, before: cursor })
        return cursorPageOf(limit, found, ({ id }) => id)
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        return yield* transfers.get(yield* CurrentPrincipal, params.id)
      }),
      cancel: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const principal = yield* CurrentPrincipal
        const request = { operation: "transfers.cancel", principal, headers, bodyKey: payload?.idempotency_key }
        const claimed = yield* claim({ ...request, parameters: params })
        const { replayed, transfer } = yield* crossBorder.cancel(principal, params.id, claimed)
        yield* markReplayed(replayed)
        return transfer
      })
    })
  })
)

/** The same operation for plain requests, of which there are many. */
export const layerDirect = RawRoutes.layer(
  Effect.gen(function* () {
    const create = yield* Create.make
    return yield* Direct.route({
      path: "/v1/transfers",
      endpoint: createTransfer,
      payload: CreateTransfer,
      readPlainly,
      handle: (principal, headers, payload) =>
        Effect.map(create(principal, headers, payload), ({ replayed, transfer }) => ({
          json: transferJson(transfer),
          replayed
        }))
    })
  })
)
