import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { pageOf } from "#api/Pagination.ts"
import { Account, accountDefaults } from "#domain/Account.ts"
import { Accounts } from "#services/Accounts.ts"
import { once } from "./Idempotency.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "accounts",
  Effect.fn(function* (handlers) {
    const accounts = yield* Accounts
    const createOnce = yield* once
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ headers, payload: { idempotency_key: bodyKey, ...wanted } }) {
        const { tenant_id } = yield* CurrentPrincipal
        return yield* createOnce(
          { operation: "accounts.create", headers, bodyKey, parameters: { ...accountDefaults, ...wanted } },
          Account,
          Effect.succeed(accounts.create(tenant_id, wanted))
        )
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
