import { Clock, Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { Authorization, CurrentPrincipal, type Requirement, Requires } from "#api/Authorization.ts"
import { RateLimitExceeded } from "#api/Refusals.ts"
import { InsufficientScope, readAuthorization, requiredScope } from "#domain/Credential.ts"
import { grants, type Principal } from "#domain/Principal.ts"
import { Forbidden } from "#domain/Refusal.ts"
import { Credentials } from "#services/Credentials.ts"
import { CurrentExchange, sourceOf } from "./Exchange.ts"
import { RateLimiter } from "./RateLimiter.ts"
import * as ReadableBody from "./ReadableBody.ts"

const usual: NonNullable<Requirement["kinds"]> = ["api_key", "user"]

/** Why this principal may not do that; undefined when it may. */
const refusal = (principal: Principal, requirement: Requirement | undefined) => {
  const kinds = requirement?.kinds ?? usual
  if (!kinds.includes(principal.actor_type)) {
    return new Forbidden({ reason: `this operation takes ${kinds.join(" or ")} credentials` })
  }
  if (requirement === undefined || grants(principal.scopes, requirement.resource, requirement.action)) return undefined
  return new InsufficientScope({ required_scope: requiredScope(requirement.resource, requirement.action) })
}

/** Who is calling, within the limits of that caller. */
export const layer = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const credentials = yield* Credentials
    const limiter = yield* RateLimiter

    /** Counts the request for this caller. */
    const count = (caller: string) =>
      Effect.withFiber<void, RateLimitExceeded>((fiber) => {
        const allowance = limiter.take(caller, fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())
        if (allowance === undefined) return Effect.void
        const exchange = fiber.getRef(CurrentExchange)
        if (exchange !== undefined) exchange.allowance = allowance
        return allowance.allowed
          ? Effect.void
          : Effect.fail(new RateLimitExceeded({ limit: allowance.limit, retry_after: allowance.retryAfter }))
      })

    return Authorization.of({
      bearer: Effect.fnUntraced(function* (operation, { endpoint }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const source = sourceOf(request)
        const asStranger = () => count(limiter.addressOf(source))
        const token = yield* Effect.tapError(
          Effect.fromResult(readAuthorization(source.headers.authorization)),
          asStranger
        )
        const principal = yield* Effect.tapError(credentials.authenticate(token), asStranger)
        const exchange = yield* CurrentExchange
        if (exchange !== undefined) exchange.principal = principal
        yield* count(principal.actor_id)
        const refused = refusal(principal, Context.get(endpoint.annotations, Requires))
        if (refused !== undefined) return yield* refused
        yield* ReadableBody.check(request, source, endpoint.payload.size > 0)
        return yield* Effect.provideService(operation, CurrentPrincipal, principal)
      })
    })
  })
)
