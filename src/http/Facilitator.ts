import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { Deployment } from "#services/Deployment.ts"
import { Discovery } from "#services/Discovery.ts"
import { Facilitator } from "#services/Facilitator.ts"
import { resourcesOf } from "./Discovery.ts"
import { CurrentExchange } from "./Exchange.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "facilitator",
  Effect.fnUntraced(function* (handlers) {
    const facilitator = yield* Facilitator
    const { publicUrl } = yield* Deployment
    const resources = resourcesOf(yield* Discovery, publicUrl, "/v1/x402/facilitator/discovery/resources")
    return handlers.handleAll({
      verify: Effect.fnUntraced(function* ({ payload }) {
        return yield* facilitator.verify(payload, (yield* CurrentExchange)?.principal)
      }),
      settle: Effect.fnUntraced(function* ({ payload }) {
        return yield* facilitator.settle(payload, (yield* CurrentExchange)?.principal)
      }),
      supported: () => facilitator.supported,
      resources: ({ query: { limit, offset } }) => resources({ limit, offset })
    })
  })
)
