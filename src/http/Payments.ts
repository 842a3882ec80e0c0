import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { EndpointId, PaymentId } from "#domain/Ids.ts"
import { Payments } from "#services/Payments.ts"
import { claim, markReplayed } from "./Idempotency.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "payments",
  Effect.fnUntraced(function* (handlers) {
    const payments = yield* Payments
    return handlers.handleAll({
      pay: Effect.fnUntraced(function* ({ headers, payload }) {
        const principal = yield* CurrentPrincipal
        const claimed = yield* claim({
          operation: "x402.pay",
          principal,
          headers,
          bodyKey: payload.idempotency_key,
          parameters: payload
        })
        const { paid, replayed } = yield* payments.pay(principal, payload, claimed)
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
