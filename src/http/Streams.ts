import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { offsetOf, pageOf } from "#api/Pagination.ts"
import { type CreateStream, streamDefaults } from "#domain/MoneyStream.ts"
import { MoneyStreams, type Steered } from "#services/MoneyStreams.ts"
import { claim, markReplayed } from "./Idempotency.ts"

const answer = ({ replayed, stream }: Steered) => Effect.as(markReplayed(replayed), stream)

/** What is asked for, the same whether a default is written out or left out. The usual form of each stays as it is sent. */
const parametersOf = (wanted: CreateStream) => {
  const { buffer, metadata, ...given } = { ...streamDefaults, ...wanted }
  return {
    ...given,
    ...(buffer > 0n && { buffer }),
    ...(Object.keys(metadata).length > 0 && { metadata })
  }
}

export const layer = HttpApiBuilder.group(
  Api,
  "streams",
  Effect.fnUntraced(function* (handlers) {
    const streams = yield* MoneyStreams
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ headers, payload: { idempotency_key: bodyKey, ...wanted } }) {
        const principal = yield* CurrentPrincipal
        const request = { operation: "streams.create", principal, headers, bodyKey }
        const claimed = yield* claim({ ...request, parameters: parametersOf(wanted) })
        return yield* answer(yield* streams.open(principal, wanted, claimed))
      }),
      list: Effect.fnUntraced(function* ({ query: { page, limit, ...filter } }) {
        const range = { limit, offset: offsetOf({ page, limit }) }
        const found = yield* streams.list(yield* CurrentPrincipal, filter, range)
        return pageOf({ page, limit }, found.streams, found.total)
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        return yield* streams.get(yield* CurrentPrincipal, params.id)
      }),
      top_up: Effect.fnUntraced(function* ({ headers, params, payload: { idempotency_key: bodyKey, ...wanted } }) {
        const principal = yield* CurrentPrincipal
        const request = { operation: "streams.top_up", principal, headers, bodyKey }
        const claimed = yield* claim({ ...request, parameters: { ...params, ...wanted } })
        return yield* answer(yield* streams.topUp(principal, params.id, wanted, claimed))
      }),
      pause: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const principal = yield* CurrentPrincipal
        const request = { operation: "streams.pause", principal, headers, bodyKey: payload?.idempotency_key }
        const claimed = yield* claim({ ...request, parameters: params })
        return yield* answer(yield* streams.pause(principal, params.id, claimed))
      }),
      resume: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const principal = yield* CurrentPrincipal
        const request = { operation: "streams.resume", principal, headers, bodyKey: payload?.idempotency_key }
        const claimed = yield* claim({ ...request, parameters: params })
        return yield* answer(yield* streams.resume(principal, params.id, claimed))
      }),
      rate: Effect.fnUntraced(function* ({ headers, params, payload: { idempotency_key: bodyKey, flow_rate } }) {
        const principal = yield* CurrentPrincipal
        const request = { operation: "streams.rate", principal, headers, bodyKey }
        const claimed = yield* claim({ ...request, parameters: { ...params, flow_rate } })
        return yield* answer(yield* streams.changeRate(principal, params.id, flow_rate, claimed))
      }),
      withdraw: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const { idempotency_key: bodyKey, ...wanted } = payload ?? {}
        const principal = yield* CurrentPrincipal
        const request = { operation: "streams.withdraw", principal, headers, bodyKey }
        const claimed = yield* claim({ ...request, parameters: { ...params, ...wanted } })
        return yield* answer(yield* streams.withdraw(principal, params.id, wanted, claimed))
      }),
      cancel: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const { idempotency_key: bodyKey, ...wanted } = payload ?? {}
        const principal = yield* CurrentPrincipal
        const request = { operation: "streams.cancel", principal, headers, bodyKey }
        const claimed = yield* claim({ ...request, parameters: { ...params, ...wanted } })
        return yield* answer(yield* streams.cancel(principal, params.id, wanted, claimed))
      })
    })
  })
)
