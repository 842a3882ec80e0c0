import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { SandboxChain } from "#services/SandboxChain.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "sandbox",
  Effect.fnUntraced(function* (handlers) {
    const chain = yield* SandboxChain
    return handlers.handleAll({
      solanaRpc: ({ payload }) => chain.askSolana(payload),
      evmRpc: ({ payload }) => chain.askEvm(payload)
    })
  })
)
