import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { callerContext } from "#domain/CallerContext.ts"

export const layer = HttpApiBuilder.group(Api, "context", (handlers) =>
  handlers.handleAll({ get: () => Effect.map(CurrentPrincipal, callerContext) })
)
