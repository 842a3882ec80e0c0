import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { cursorPageOf, offsetOf, pageOf } from "#api/Pagination.ts"
import { Endpoint, endpointMeant, shownTo } from "#domain/Endpoint.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { Payments } from "#services/Payments.ts"
import { Statistics } from "#services/Statistics.ts"
import * as SimulatedAgent from "./Gateway/SimulatedAgent.ts"
import { once } from "./Idempotency.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "endpoints",
  Effect.fnUntraced(function* (handlers) {
    const endpoints = yield* Endpoints
    const payments = yield* Payments
    const statistics = yield* Statistics
    const tryEndpoint = yield* SimulatedAgent.make
    const createOnce = yield* once
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ headers, payload: { idempotency_key: bodyKey, ...wanted } }) {
        const caller = yield* CurrentPrincipal
        return yield* createOnce(
          { operation: "endpoints.create", headers, bodyKey, parameters: endpointMeant(caller, wanted) },
          Endpoint,
          Effect.succeed(endpoints.create(caller, wanted))
        )
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const range = { limit: query.limit, offset: offsetOf(query) }
        const caller = yield* CurrentPrincipal
        const found = yield* endpoints.list(caller, range)
        const shown = found.endpoints.map((endpoint) => shownTo(caller.scopes, endpoint))
        return pageOf(query, shown, found.total)
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        const caller = yield* CurrentPrincipal
        return { data: shownTo(caller.scopes, yield* endpoints.get(caller, params.id)) }
      }),
      update: Effect.fnUntraced(function* ({ params, payload }) {
        return { data: yield* endpoints.update(yield* CurrentPrincipal, params.id, payload) }
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        yield* endpoints.disable(yield* CurrentPrincipal, params.id)
      }),
      payments: Effect.fnUntraced(function* ({ params, query: { cursor, limit } }) {
        const range = { limit: limit + 1, before: cursor }
        const found = yield* payments.list(yield* CurrentPrincipal, params.id, range)
        return cursorPageOf(limit, found, (payment) => payment.id)
      }),
      stats: Effect.fnUntraced(function* ({ params, query }) {
        return { data: yield* statistics.read(yield* CurrentPrincipal, params.id, query.window) }
      }),
      test: Effect.fnUntraced(function* ({ params }) {
        return { data: yield* tryEndpoint(yield* CurrentPrincipal, params.id) }
      })
    })
  })
)
