import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { pageOf } from "#api/Pagination.ts"
import type { CreateScan } from "#api/Scans.ts"
import { type ScanOrder, Scans } from "#services/Scans.ts"
import { billed, billedClaim, currentBuyer } from "./Billing.ts"
import { markReplayed } from "./Idempotency.ts"

/** What is asked for, with everything that was left out. */
export const scanOrderOf = (body: CreateScan): ScanOrder => ({
  domain: body.domain,
  merchant_name: body.merchant_name ?? null,
  merchant_category: body.merchant_category ?? null,
  country_code: body.country_code?.toUpperCase() ?? null,
  region: body.region ?? null,
  skip_if_fresh: body.skip_if_fresh ?? false
})

export const layer = HttpApiBuilder.group(
  Api,
  "scans",
  Effect.fnUntraced(function* (handlers) {
    const scans = yield* Scans
    return handlers.handleAll({
      scan: Effect.fnUntraced(function* ({ headers, payload: { idempotency_key: bodyKey, ...body } }) {
        const order = scanOrderOf(body)
        const claimed = yield* billedClaim({ operation: "scans.scan", headers, bodyKey, parameters: { ...order } })
        const made = yield* scans.scan(yield* currentBuyer, order, claimed)
        yield* markReplayed(made.replayed)
        return yield* billed(made)
      }),
      get: ({ params }) => scans.get(params.id),
      freshest: ({ params }) => scans.freshest(params.domain),
      history: ({ params, query }) =>
        Effect.map(scans.history(params.domain, query), ({ data, total }) => pageOf(query, data, total)),
      list: Effect.fnUntraced(function* ({ query: { limit, page, ...filter } }) {
        const { data, total } = yield* scans.list(filter, { page, limit })
        return pageOf({ page, limit }, data, total)
      }),
      statistics: () => scans.statistics
    })
  })
)
