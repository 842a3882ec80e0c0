import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { offsetOf, pageOf } from "#api/Pagination.ts"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { disputeOrderOf, responseOf, verdictOf } from "#domain/DisputeOrder.ts"
import type { Principal } from "#domain/Principal.ts"
import { Disputes } from "#services/Disputes.ts"
import type { Disputed } from "#services/Disputes/Changing.ts"
import { claim, markReplayed } from "./Idempotency.ts"

/** What every change of a dispute takes from its request to be made once, and how its answer is told. */
const once = Effect.fnUntraced(function* <E>(
  request: Omit<Parameters<typeof claim>[0], "principal">,
  change: (principal: Principal, claimed: IdempotencyClaim | undefined) => Effect.Effect<Disputed, E>
) {
  const principal = yield* CurrentPrincipal
  const { dispute, replayed } = yield* change(principal, yield* claim({ ...request, principal }))
  yield* markReplayed(replayed)
  return dispute
})

export const layer = HttpApiBuilder.group(
  Api,
  "disputes",
  Effect.fnUntraced(function* (handlers) {
    const disputes = yield* Disputes
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ headers, payload }) {
        const order = yield* Effect.fromResult(disputeOrderOf(payload))
        const bodyKey = payload.idempotency_key
        return yield* once(
          { operation: "disputes.create", headers, bodyKey, parameters: { ...order } },
          (principal, claimed) => disputes.open(principal, order, claimed)
        )
      }),
      list: Effect.fnUntraced(function* ({ query: { limit, page, ...filter } }) {
        const range = { limit, offset: offsetOf({ page, limit }) }
        const found = yield* disputes.list(yield* CurrentPrincipal, filter, range)
        return pageOf({ page, limit }, found.disputes, found.total)
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        return yield* disputes.get(yield* CurrentPrincipal, params.id)
      }),
      respond: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const answer = yield* Effect.fromResult(responseOf(payload))
        const bodyKey = payload.idempotency_key
        return yield* once(
          { operation: "disputes.respond", headers, bodyKey, parameters: { ...params, ...answer } },
          (principal, claimed) => disputes.respond(principal, params.id, answer, claimed)
        )
      }),
      evidence: ({ headers, params, payload: { evidence, idempotency_key: bodyKey } }) =>
        once(
          { operation: "disputes.evidence", headers, bodyKey, parameters: { ...params, evidence } },
          (principal, claimed) => disputes.addEvidence(principal, params.id, evidence, claimed)
        ),
      escalate: ({ headers, params, payload }) => {
        const { idempotency_key: bodyKey, reason = null } = payload ?? {}
        return once(
          { operation: "disputes.escalate", headers, bodyKey, parameters: { ...params, reason } },
          (principal, claimed) => disputes.escalate(principal, params.id, reason, claimed)
        )
      },
      resolve: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const verdict = yield* Effect.fromResult(verdictOf(payload))
        const bodyKey = payload.idempotency_key
        return yield* once(
          { operation: "disputes.resolve", headers, bodyKey, parameters: { ...params, ...verdict } },
          (principal, claimed) => disputes.resolve(principal, params.id, verdict, claimed)
        )
      })
    })
  })
)
