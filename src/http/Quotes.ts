import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { Quote, quoteDefaults } from "#domain/Quote.ts"
import { Quotes } from "#services/Quotes.ts"
import { once } from "./Idempotency.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "quotes",
  Effect.fnUntraced(function* (handlers) {
    const quotes = yield* Quotes
    const createOnce = yield* once
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ headers, payload: { idempotency_key: bodyKey, ...wanted } }) {
        return yield* createOnce(
          { operation: "quotes.create", headers, bodyKey, parameters: { ...quoteDefaults, ...wanted } },
          Quote,
          quotes.prepare(yield* CurrentPrincipal, wanted)
        )
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        return yield* quotes.get(yield* CurrentPrincipal, params.id)
      })
    })
  })
)
