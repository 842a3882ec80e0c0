import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { CurrentPrincipal } from "#api/Authorization.ts"
import type { Billed, ScanBuyer } from "#services/Scans.ts"
import { CurrentExchange } from "./Exchange.ts"
import { claim } from "./Idempotency.ts"

/** Who pays for the current call of the scanner: the tenant's credits, or whoever bought this very call. */
export const currentBuyer: Effect.Effect<ScanBuyer, never, CurrentPrincipal> = Effect.gen(function* () {
  const { actor_type, tenant_id } = yield* CurrentPrincipal
  const source = (yield* CurrentExchange)?.requestId ?? ""
  return actor_type === "system" ? { _tag: "PaidCall", source } : { _tag: "Tenant", tenant_id, source }
})

/** The claim of the current call of the scanner. A call that somebody bought is done once by its payment, whatever key it names. */
export const billedClaim = Effect.fnUntraced(function* (request: Omit<Parameters<typeof claim>[0], "principal">) {
  const principal = yield* CurrentPrincipal
  return principal.actor_type === "system" ? undefined : yield* claim({ ...request, principal })
})

/** The record of a billed operation; `X-Credits-Remaining` says what the tenant has left. */
export const billed = <A>({ record, remaining }: Billed<A>) =>
  remaining === undefined
    ? Effect.succeed(record)
    : Effect.as(
        HttpEffect.appendPreResponseHandler((_, response) =>
          Effect.succeed(HttpServerResponse.setHeader(response, "x-credits-remaining", String(remaining)))
        ),
        record
      )
