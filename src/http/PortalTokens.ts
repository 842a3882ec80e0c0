import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { pageOf } from "#api/Pagination.ts"
import { PortalTokens } from "#services/PortalTokens.ts"

const warning = "Store this token now: it is not shown again."

export const layer = HttpApiBuilder.group(
  Api,
  "portal_tokens",
  Effect.fnUntraced(function* (handlers) {
    const tokens = yield* PortalTokens
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const made = yield* tokens.create(yield* CurrentPrincipal, payload)
        return { ...made, warning }
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const { tenant_id } = yield* CurrentPrincipal
        const filter = {
          customer_reference: query.customer_reference,
          include_revoked: query.include_revoked === "true"
        }
        const { data, total } = yield* tokens.list(tenant_id, filter, query)
        return pageOf(query, data, total)
      }),
      revoke: Effect.fnUntraced(function* ({ params }) {
        const { tenant_id } = yield* CurrentPrincipal
        return yield* tokens.revoke(tenant_id, params.id)
      })
    })
  })
)
