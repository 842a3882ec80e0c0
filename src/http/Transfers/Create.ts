import { Effect } from "effect"
import { InsufficientScope, requiredScope } from "#domain/Credential.ts"
import { grants, type Principal } from "#domain/Principal.ts"
import { type CreateTransfer, isOfStream, orderOf } from "#domain/TransferOrder.ts"
import { CrossBorder } from "#services/CrossBorder.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { Transfers } from "#services/Transfers.ts"
import type { IdempotencyHeaders } from "../Direct.ts"
import { claim } from "../Idempotency.ts"

/** What `POST /v1/transfers` does, whichever way the request came. */
export const make = Effect.gen(function* () {
  const transfers = yield* Transfers
  const crossBorder = yield* CrossBorder
  const streams = yield* MoneyStreams
  return Effect.fnUntraced(function* (principal: Principal, headers: IdempotencyHeaders, payload: CreateTransfer) {
    const order = yield* Effect.fromResult(orderOf(payload))
    // A money stream is one whichever way it is moved.
    if (isOfStream(order) && !grants(principal.scopes, "streams", "write")) {
      return yield* new InsufficientScope({ required_scope: requiredScope("streams", "write") })
    }
    const claimed = yield* claim({
      operation: "transfers.create",
      principal,
      headers,
      bodyKey: payload.idempotency_key,
      parameters: order
    })
    switch (order.type) {
      case "cross_border":
        return yield* crossBorder.create(principal, order, claimed)
      case "stream_start":
        return yield* streams.start(principal, order, claimed)
      case "stream_withdraw":
      case "stream_cancel":
        return yield* streams.transfer(principal, order, claimed)
      default:
        return yield* transfers.create(principal, order, claimed)
    }
  })
})
