import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { pageOf } from "#api/Pagination.ts"
import { Accounts } from "#services/Accounts.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "accounts",
  Effect.fn(function* (handlers) {
    const accounts = yield* Accounts
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const { tenant_id } = yield* CurrentPrincipal
        return yield* accounts.create(tenant_id, payload)
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const { tenant_id } = yield* CurrentPrincipal
        const { data, total } = yield* accounts.list(tenant_id, query)
        return pageOf(query, data, total)
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        const { tenant_id } = yield* CurrentPrincipal
        return yield* accounts.get(tenant_id, params.id)
      })
    })
  })
)
