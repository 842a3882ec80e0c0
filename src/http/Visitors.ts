import { Effect, Layer, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { Authorization } from "#api/Authorization.ts"
import { RateLimitExceeded } from "#api/Refusals.ts"
import { Claimants, Integrators, ReportReaders, Visitors } from "#api/Visitors.ts"
import { Deployment } from "#services/Deployment.ts"
import { CurrentExchange, sourceOf } from "./Exchange.ts"
import { Patience } from "./Patience.ts"
import { RateLimiter } from "./RateLimiter.ts"
import * as ReadableBody from "./ReadableBody.ts"

/** Takes the request from the bucket of its address, or from one that the address has for `purpose` alone. */
const count = Effect.fnUntraced(function* (
  limiter: RateLimiter["Service"],
  purpose?: { readonly name: string; readonly perMinute: number }
) {
  const source = sourceOf(yield* HttpServerRequest.HttpServerRequest)
  const address = limiter.addressOf(source)
  const caller = purpose === undefined ? address : `${purpose.name} ${address}`
  const allowance = limiter.take(caller, purpose?.perMinute)
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

/** How many proofs a minute an address may try. */
const proofs = 10

const claimants = Layer.effect(
  Claimants,
  Effect.gen(function* () {
    const limiter = yield* RateLimiter
    const { limited } = yield* Patience
    return Claimants.of(
      Effect.fnUntraced(function* (operation, { endpoint, group }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const name = `${group.identifier}.${endpoint.identifier}`
        yield* count(limiter, { name, perMinute: proofs })
        yield* ReadableBody.check(request, sourceOf(request))
        return yield* limited(operation)
      })
    )
  })
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

const reportReaders = Layer.effect(
  ReportReaders,
  Effect.gen(function* () {
    const { bearer } = yield* Authorization
    const limiter = yield* RateLimiter
    return ReportReaders.of(
      Effect.fnUntraced(function* (operation, { endpoint, group }) {
        const { headers } = sourceOf(yield* HttpServerRequest.HttpServerRequest)
        // Read as the operation reads it: what it does not see as a signature lets nobody in.
        const { signature } = yield* HttpServerRequest.ParsedSearchParams
        const isSigned = headers.authorization === undefined && signature !== undefined
        if (!isSigned) return yield* bearer(operation, { credential, endpoint, group })
        yield* count(limiter)
        return yield* operation
      })
    )
  })
)

export const layer = Layer.mergeAll(visitors, claimants, integrators, reportReaders)
