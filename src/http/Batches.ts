import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import type { CreateBatch } from "#domain/Batch.ts"
import { Batches } from "#services/Batches.ts"
import { claim, fingerprint, markReplayed } from "./Idempotency.ts"

/** The key of an item is one with the same key of a transfer that is asked for alone. */
const operation = "transfers.create"

/** What is asked for, the same whether an item has no memo or one of null. */
const parametersOf = ({ transfers, ...rest }: CreateBatch) => ({
  ...rest,
  transfers: transfers.map(({ memo, ...item }) => (memo == null ? item : { ...item, memo }))
})

export const layer = HttpApiBuilder.group(
  Api,
  "batches",
  Effect.fnUntraced(function* (handlers) {
    const batches = yield* Batches
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ headers, payload }) {
        const principal = yield* CurrentPrincipal
        const claimed = yield* claim({
          operation: "batches.create",
          principal,
          headers,
          bodyKey: payload.idempotency_key,
          parameters: parametersOf(payload)
        })
        const { batch, replayed } = yield* batches.create(principal, payload, {
          batch: claimed,
          operation,
          item: (key, parameters) => ({
            tenant_id: principal.tenant_id,
            operation,
            key,
            fingerprint: fingerprint(parameters)
          })
        })
        yield* markReplayed(replayed)
        return batch
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        return yield* batches.get(yield* CurrentPrincipal, params.id)
      })
    })
  })
)
