import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { Quotes } from "#services/Quotes.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "quotes",
  Effect.fnUntraced(function* (handlers) {
    const quotes = yield* Quotes
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        return yield* quotes.create(yield* CurrentPrincipal, payload)
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        return yield* quotes.get(yield* CurrentPrincipal, params.id)
      })
    })
  })
)
