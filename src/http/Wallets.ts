import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { cursorPageOf, offsetOf, pageOf } from "#api/Pagination.ts"
import { Wallet, walletDefaults } from "#domain/Wallet.ts"
import { Wallets } from "#services/Wallets.ts"
import { claim, markReplayed, once } from "./Idempotency.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "wallets",
  Effect.fnUntraced(function* (handlers) {
    const wallets = yield* Wallets
    const createOnce = yield* once
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ headers, payload }) {
        const principal = yield* CurrentPrincipal
        const { idempotency_key: bodyKey, ...wanted } = payload ?? {}
        const parameters = { ...walletDefaults(principal), ...wanted }
        return yield* createOnce(
          { operation: "wallets.create", headers, bodyKey, parameters },
          Wallet,
          Effect.succeed(wallets.create(principal, wanted))
        )
      }),
      list: Effect.fnUntraced(function* ({ query: { page, limit, ...filter } }) {
        const range = { limit, offset: offsetOf({ page, limit }) }
        const found = yield* wallets.list(yield* CurrentPrincipal, filter, range)
        return pageOf({ page, limit }, found.wallets, found.total)
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        return yield* wallets.get(yield* CurrentPrincipal, params.id)
      }),
      fund: Effect.fnUntraced(function* ({ params, headers, payload: { idempotency_key, ...funding } }) {
        const principal = yield* CurrentPrincipal
        const parameters = { ...params, ...funding }
        const claimed = yield* claim({
          operation: "wallets.fund",
          principal,
          headers,
          bodyKey: idempotency_key,
          parameters
        })
        const answer = yield* wallets.fund(principal, params.id, funding, claimed)
        yield* markReplayed(answer.replayed)
        return answer.funding
      }),
      entries: Effect.fnUntraced(function* ({ params, query: { cursor, limit } }) {
        const found = yield* wallets.entries(yield* CurrentPrincipal, params.id, { limit: limit + 1, before: cursor })
        return cursorPageOf(limit, found, (line) => line.seq)
      }),
      freeze: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* wallets.freeze(yield* CurrentPrincipal, params.id, payload.reason)
      }),
      unfreeze: Effect.fnUntraced(function* ({ params }) {
        return yield* wallets.unfreeze(yield* CurrentPrincipal, params.id)
      })
    })
  })
)
