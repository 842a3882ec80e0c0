import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { callerContext } from "#domain/CallerContext.ts"
import { agentOf } from "#domain/Ownership.ts"
import { Wallets } from "#services/Wallets.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "context",
  Effect.fnUntraced(function* (handlers) {
    const wallets = yield* Wallets
    return handlers.handleAll({
      get: Effect.fnUntraced(function* () {
        const principal = yield* CurrentPrincipal
        const agent = agentOf(principal)
        const wallet = agent === undefined ? undefined : yield* wallets.firstOf(agent, {})
        return callerContext(principal, wallet?.id)
      })
    })
  })
)
