import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { offsetOf, pageOf } from "#api/Pagination.ts"
import { disputeOrderOf, responseOf, verdictOf } from "#domain/DisputeOrder.ts"
import { Disputes } from "#services/Disputes.ts"
import { claim, markReplayed } from "./Idempotency.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "disputes",
  Effect.fnUntraced(function* (handlers) {
    const disputes = yield* Disputes
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ headers, payload }) {
        const principal = yield* CurrentPrincipal
        const order = yield* Effect.fromResult(disputeOrderOf(payload))
        const operation = "disputes.create"
        const bodyKey = payload.idempotency_key
        const claimed = yield* claim({ operation, principal, headers, bodyKey, parameters: { ...order } })
        const { dispute, replayed } = yield* disputes.open(principal, order, claimed)
        yield* markReplayed(replayed)
        return dispute
      }),
      list: Effect.fnUntraced(function* ({ query: { limit, page, ...filter } }) {
        const range = { limit, offset: offsetOf({ page, limit }) }
        const found = yield* disputes.list(yield* CurrentPrincipal, filter, range)
        return pageOf({ page, limit }, found.disputes, found.total)
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        return yield* disputes.get(yield* CurrentPrincipal, params.id)
      }),
      respond: Effect.fnUntraced(function* ({ params, payload }) {
        const answer = yield* Effect.fromResult(responseOf(payload))
        return yield* disputes.respond(yield* CurrentPrincipal, params.id, answer)
      }),
      evidence: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const principal = yield* CurrentPrincipal
        const operation = "disputes.evidence"
        const bodyKey = payload.idempotency_key
        const claimed = yield* claim({ operation, principal, headers, bodyKey, parameters: { ...params, ...payload } })
        const { dispute, replayed } = yield* disputes.addEvidence(principal, params.id, payload.evidence, claimed)
        yield* markReplayed(replayed)
        return dispute
      }),
      escalate: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* disputes.escalate(yield* CurrentPrincipal, params.id, payload?.reason ?? null)
      }),
      resolve: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const principal = yield* CurrentPrincipal
        const verdict = yield* Effect.fromResult(verdictOf(payload))
        const operation = "disputes.resolve"
        const bodyKey = payload.idempotency_key
        const parameters = { ...params, ...verdict }
        const claimed = yield* claim({ operation, principal, headers, bodyKey, parameters })
        const { dispute, replayed } = yield* disputes.resolve(principal, params.id, verdict, claimed)
        yield* markReplayed(replayed)
        return dispute
      })
    })
  })
)
