import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { ScanBatches } from "#services/ScanBatches.ts"
import { billed } from "./Billing.ts"
import { CurrentExchange } from "./Exchange.ts"
import { scanOrderOf } from "./Scans.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "scan_batches",
  Effect.fnUntraced(function* (handlers) {
    const batches = yield* ScanBatches
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const { tenant_id } = yield* CurrentPrincipal
        const source = (yield* CurrentExchange)?.requestId ?? ""
        return yield* billed(yield* batches.create(tenant_id, source, payload.targets.map(scanOrderOf)))
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        const { tenant_id } = yield* CurrentPrincipal
        return yield* batches.get(tenant_id, params.id)
      }),
      cancel: Effect.fnUntraced(function* ({ params }) {
        const { tenant_id } = yield* CurrentPrincipal
        return yield* billed(yield* batches.cancel(tenant_id, params.id))
      })
    })
  })
)
