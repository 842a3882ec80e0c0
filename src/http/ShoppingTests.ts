import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { pageOf } from "#api/Pagination.ts"
import { ShoppingTests } from "#services/ShoppingTests.ts"
import { billed, billedClaim, currentBuyer } from "./Billing.ts"
import { markReplayed } from "./Idempotency.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "shopping_tests",
  Effect.fnUntraced(function* (handlers) {
    const tests = yield* ShoppingTests
    return handlers.handleAll({
      run: Effect.fnUntraced(function* ({ headers, payload: { idempotency_key: bodyKey, ...order } }) {
        const claimed = yield* billedClaim({
          operation: "shopping_tests.run",
          headers,
          bodyKey,
          parameters: { ...order }
        })
        const made = yield* tests.run(yield* currentBuyer, order, claimed)
        yield* markReplayed(made.replayed)
        return yield* billed(made)
      }),
      recent: ({ params, query }) =>
        Effect.map(tests.recent(params.domain, query), ({ data, total }) => pageOf(query, data, total)),
      get: ({ params }) => tests.get(params.id)
    })
  })
)
