import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { keySourceOf } from "#domain/Agent.ts"
import { AgentSessions } from "#services/AgentSessions.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "agent_sessions",
  Effect.fnUntraced(function* (handlers) {
    const sessions = yield* AgentSessions
    return handlers.handleAll({
      challenge: ({ params }) => sessions.challenge(params.id),
      authenticate: ({ params, payload }) => sessions.authenticate(params.id, payload),
      rotateKey: Effect.fnUntraced(function* ({ params, payload: { proof, ...key } }) {
        return yield* sessions.rotateKey(params.id, proof, yield* Effect.fromResult(keySourceOf(key)))
      })
    })
  })
)
