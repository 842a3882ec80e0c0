import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { eitherNeeded } from "#domain/Spelling.ts"
import { ScanBatches } from "#services/ScanBatches.ts"
import { billed } from "./Billing.ts"
import { CurrentExchange } from "./Exchange.ts"
import { claim, markReplayed } from "./Idempotency.ts"
import { scanOrderOf } from "./Scans.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "scan_batches",
  Effect.fnUntraced(function* (handlers) {
    const batches = yield* ScanBatches
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ headers, payload }) {
        const principal = yield* CurrentPrincipal
        const source = (yield* CurrentExchange)?.requestId ?? ""
        const { description = null, name = null, skip_if_fresh = false } = payload
        const targets = yield* Effect.fromResult(
          eitherNeeded(["targets", payload.targets], ["domains", payload.domains])
        )
        const orders = targets.map((target) => scanOrderOf({ skip_if_fresh, ...target }))
        const claimed = yield* claim({
          operation: "scan_batches.create",
          principal,
          headers,
          bodyKey: payload.idempotency_key,
          parameters: { orders, name, description }
        })
        const made = yield* batches.create(principal.tenant_id, source, orders, { name, description }, claimed)
        yield* markReplayed(made.replayed)
        return yield* billed(made)
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
