import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { pageOf } from "#api/Pagination.ts"
import type { Principal } from "#domain/Principal.ts"
import { Users } from "#services/Users.ts"
import { RateLimiter, spend } from "./RateLimiter.ts"

/** How many passwords a minute a caller may set or prove: each is work, and those who log in wait for the same hands. */
const passwords = 20

export const layer = HttpApiBuilder.group(
  Api,
  "users",
  Effect.fnUntraced(function* (handlers) {
    const users = yield* Users
    const limiter = yield* RateLimiter

    const count = ({ actor_id }: Principal) => spend(limiter, `passwords ${actor_id}`, passwords)

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const principal = yield* CurrentPrincipal
        yield* count(principal)
        return yield* users.create(principal, principal.tenant_id, payload)
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const { tenant_id } = yield* CurrentPrincipal
        const { data, total } = yield* users.list(tenant_id, query)
        return pageOf(query, data, total)
      }),
      update: Effect.fnUntraced(function* ({ params, payload }) {
        const principal = yield* CurrentPrincipal
        if (payload.password !== undefined) yield* count(principal)
        return yield* users.update(principal, principal.tenant_id, params.id, payload)
      }),
      changePassword: Effect.fnUntraced(function* ({ payload }) {
        const principal = yield* CurrentPrincipal
        yield* count(principal)
        return yield* users.changePassword(principal, payload)
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        const principal = yield* CurrentPrincipal
        return yield* users.remove(principal, principal.tenant_id, params.id)
      })
    })
  })
)
