import { Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { pay as payOperation } from "#api/Payments.ts"
import { EndpointId, PaymentId } from "#domain/Ids.ts"
import { Paid, Pay } from "#domain/Payment.ts"
import type { Principal } from "#domain/Principal.ts"
import { Payments } from "#services/Payments.ts"
import * as Direct from "./Direct.ts"
import { claim, markReplayed } from "./Idempotency.ts"
import * as RawRoutes from "./RawRoutes.ts"

const encode = Schema.encodeSync(Paid)

/** What `POST /v1/x402/pay` does, whichever way the request came. */
const paying = Effect.map(Payments, (payments) =>
  Effect.fnUntraced(function* (principal: Principal, headers: Direct.IdempotencyHeaders, payload: Pay) {
    const claimed = yield* claim({
      operation: "x402.pay",
      principal,
      headers,
      bodyKey: payload.idempotency_key,
      parameters: payload
    })
    return yield* payments.pay(principal, payload, claimed)
  })
)

/** The operation for plain requests, of which there is one for each call of many callers. */
export const layerDirect = RawRoutes.layer(
  Effect.gen(function* () {
    const pay = yield* paying
    return yield* Direct.route({
      path: "/v1/x402/pay",
      endpoint: payOperation,
      payload: Pay,
      handle: (principal, headers, payload) =>
        Effect.map(pay(principal, headers, payload), ({ paid, replayed }) => ({
          json: JSON.stringify(encode(paid)),
          replayed
        }))
    })
  })
)

export const layer = HttpApiBuilder.group(
  Api,
  "payments",
  Effect.fnUntraced(function* (handlers) {
    const payments = yield* Payments
    const pay = yield* paying
    return handlers.handleAll({
      pay: Effect.fnUntraced(function* ({ headers, payload }) {
        const { paid, replayed } = yield* pay(yield* CurrentPrincipal, headers, payload)
        yield* markReplayed(replayed)
        return paid
      }),
      verify: Effect.fnUntraced(function* ({ payload }) {
        const { payment, reason } = yield* payments.verify(payload.proof)
        return {
          valid: reason === undefined,
          reason: reason ?? null,
          payment_id: payment === undefined ? null : PaymentId.make(payment.id),
          endpoint_id: payment === undefined ? null : EndpointId.make(payment.endpoint_id),
          status: payment?.state ?? null,
          expires_at: payment?.proof_expires_at ?? null
        }
      })
    })
  })
)
