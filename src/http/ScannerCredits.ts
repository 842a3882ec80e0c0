import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { cursorPageOf } from "#api/Pagination.ts"
import { ScannerCredits } from "#services/ScannerCredits.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "scanner_credits",
  Effect.fnUntraced(function* (handlers) {
    const credits = yield* ScannerCredits
    return handlers.handleAll({
      balance: Effect.fnUntraced(function* () {
        const { tenant_id } = yield* CurrentPrincipal
        return yield* credits.balance(tenant_id)
      }),
      ledger: Effect.fnUntraced(function* ({ query: { cursor, limit } }) {
        const { tenant_id } = yield* CurrentPrincipal
        const before = Option.fromUndefinedOr(cursor)
        const found = yield* credits.ledger(tenant_id, { before, limit: limit + 1 })
        const entries = found.map(({ seq, ...entry }) => ({ id: seq, ...entry }))
        return cursorPageOf(limit, entries, ({ id }) => id)
      })
    })
  })
)
