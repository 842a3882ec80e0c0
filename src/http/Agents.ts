import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { offsetOf, pageOf } from "#api/Pagination.ts"
import { agentOrderOf, keySourceOf } from "#domain/Agent.ts"
import { Agents } from "#services/Agents.ts"
import { AgentSessions } from "#services/AgentSessions.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "agents",
  Effect.fnUntraced(function* (handlers) {
    const agents = yield* Agents
    const sessions = yield* AgentSessions
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const order = yield* Effect.fromResult(agentOrderOf(payload))
        return yield* agents.create(yield* CurrentPrincipal, order)
      }),
      list: Effect.fnUntraced(function* ({ query: { page, limit, ...filter } }) {
        const range = { limit, offset: offsetOf({ page, limit }) }
        const found = yield* agents.list(yield* CurrentPrincipal, filter, range)
        return pageOf({ page, limit }, found.agents, found.total)
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        return { data: yield* agents.get(yield* CurrentPrincipal, params.id) }
      }),
      update: Effect.fnUntraced(function* ({ params, payload }) {
        return { data: yield* agents.change(yield* CurrentPrincipal, params.id, payload) }
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        return yield* agents.remove(yield* CurrentPrincipal, params.id)
      }),
      suspend: Effect.fnUntraced(function* ({ params, payload }) {
        return { data: yield* agents.suspend(yield* CurrentPrincipal, params.id, payload?.reason ?? null) }
      }),
      activate: Effect.fnUntraced(function* ({ params }) {
        return { data: yield* agents.activate(yield* CurrentPrincipal, params.id) }
      }),
      rotateToken: Effect.fnUntraced(function* ({ params }) {
        return yield* agents.rotateToken(yield* CurrentPrincipal, params.id)
      }),
      createKey: Effect.fnUntraced(function* ({ params, payload }) {
        const source = yield* Effect.fromResult(keySourceOf(payload ?? {}))
        return yield* agents.replaceKey(yield* CurrentPrincipal, params.id, source)
      }),
      revokeKey: Effect.fnUntraced(function* ({ params }) {
        return yield* agents.revokeKey(yield* CurrentPrincipal, params.id)
      }),
      sessions: Effect.fnUntraced(function* ({ params, query }) {
        const range = { limit: query.limit, offset: offsetOf(query) }
        const found = yield* sessions.list(yield* CurrentPrincipal, params.id, range)
        return pageOf(query, found.sessions, found.total)
      }),
      endSession: Effect.fnUntraced(function* ({ params }) {
        return yield* sessions.revoke(yield* CurrentPrincipal, params.id, params.sessionId)
      })
    })
  })
)
