import { Clock, Effect, Layer, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { Authorization } from "#api/Authorization.ts"
import { RateLimitExceeded } from "#api/Refusals.ts"
import { Integrators, Visitors } from "#api/Visitors.ts"
import { Deployment } from "#services/Deployment.ts"
import { CurrentExchange, sourceOf } from "./Exchange.ts"
import { RateLimiter } from "./RateLimiter.ts"

/** Takes the request from the bucket of its address. */
const count = Effect.fnUntraced(function* (limiter: RateLimiter["Service"]) {
  const source = sourceOf(yield* HttpServerRequest.HttpServerRequest)
  const allowance = limiter.take(limiter.addressOf(source), yield* Clock.currentTimeMillis)
  if (allowance === undefined) return
  const exchange = yield* CurrentExchange
  if (exchange !== undefined) exchange.allowance = allowance
  if (!allowance.allowed) {
    return yield* new RateLimitExceeded({ limit: allowance.limit, retry_after: allowance.retryAfter })
  }
})

/** The bearer check reads the header itself. */
const credential = Redacted.make("")

const visitors = Layer.effect(
  Visitors,
  Effect.map(RateLimiter, (limiter) => Visitors.of((operation) => Effect.andThen(count(limiter), operation)))
)

const integrators = Layer.effect(
  Integrators,
  Effect.gen(function* () {
    const { bearer } = yield* Authorization
    const { environment } = yield* Deployment
    const limiter = yield* RateLimiter
    return Integrators.of(
      Effect.fnUntraced(function* (operation, { endpoint, group }) {
        const { headers } = sourceOf(yield* HttpServerRequest.HttpServerRequest)
        const stranger = environment === "sandbox" && headers.authorization === undefined
        if (!stranger) return yield* bearer(operation, { credential, endpoint, group })
        yield* count(limiter)
        return yield* operation
      })
    )
  })
)

export const layer = Layer.merge(visitors, integrators)
