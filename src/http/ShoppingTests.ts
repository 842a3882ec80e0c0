import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { pageOf } from "#api/Pagination.ts"
import { ShoppingTests } from "#services/ShoppingTests.ts"
import { billed, currentBuyer } from "./Billing.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "shopping_tests",
  Effect.fnUntraced(function* (handlers) {
    const tests = yield* ShoppingTests
    return handlers.handleAll({
      run: Effect.fnUntraced(function* ({ payload }) {
        return yield* billed(yield* tests.run(yield* currentBuyer, payload))
      }),
      recent: ({ params, query }) =>
        Effect.map(tests.recent(params.domain, query), ({ data, total }) => pageOf(query, data, total)),
      get: ({ params }) => tests.get(params.id)
    })
  })
)
