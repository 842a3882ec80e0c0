import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { pageOf } from "#api/Pagination.ts"
import { storeNow } from "#domain/Credential.ts"
import { Credentials } from "#services/Credentials.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "scanner_keys",
  Effect.fnUntraced(function* (handlers) {
    const credentials = yield* Credentials
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const issued = yield* credentials.createScannerKey(yield* CurrentPrincipal, payload)
        return { ...issued, warning: storeNow }
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const { tenant_id } = yield* CurrentPrincipal
        const { data, total } = yield* credentials.list(tenant_id, query, "scanner_key")
        return pageOf(query, data, total)
      }),
      revoke: Effect.fnUntraced(function* ({ params }) {
        const { tenant_id } = yield* CurrentPrincipal
        return yield* credentials.revoke(tenant_id, params.id, "scanner_key")
      })
    })
  })
)
