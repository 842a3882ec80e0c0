import type { IncomingMessage } from "node:http"
import { Clock, Context, Effect } from "effect"
import { integrators, type Requirement, Requires } from "#api/Authorization.ts"
import { RateLimitExceeded } from "#api/Refusals.ts"
import { dropOldest } from "#domain/BoundedMap.ts"
import {
  type CredentialRefused,
  InsufficientScope,
  type MalformedAuthHeader,
  type MissingAuthHeader,
  readAuthorization,
  requiredScope
} from "#domain/Credential.ts"
import { grants, kindOf, type Principal } from "#domain/Principal.ts"
import type { Allowance } from "#domain/RateLimit.ts"
import { Forbidden } from "#domain/Refusal.ts"
import * as Callers from "#services/Callers.ts"
import { monotonic } from "#services/RealTime.ts"
import { RateLimiter } from "./RateLimiter.ts"

/** Why this principal may not do that; undefined when it may. */
const refusal = (principal: Principal, requirement: Requirement | undefined) => {
  const kinds = requirement?.kinds ?? integrators
  if (!kinds.includes(kindOf(principal))) {
    return new Forbidden({ reason: `this operation takes ${kinds.join(" or ")} credentials` })
  }
  if (requirement?.resource === undefined) return undefined
  if (principal.actor_type === "scanner_key") {
    const { scannerScope = "" } = requirement
    return principal.scopes.includes(scannerScope) ? undefined : new InsufficientScope({ required_scope: scannerScope })
  }
  if (grants(principal.scopes, requirement.resource, requirement.action)) return undefined
  return new InsufficientScope({ required_scope: requiredScope(requirement.resource, requirement.action) })
}

/** Where it is noted who calls and what the caller has left, for whoever writes the answer. */
export interface Notes {
  principal: Principal | undefined
  allowance: Allowance | undefined
}

/** For how long an address is suspected that tried as much as strangers may, and how many such addresses are remembered. */
const suspected = { millis: 60_000, addresses: 10_000 }

export type NotAdmitted =
  | MissingAuthHeader
  | MalformedAuthHeader
  | CredentialRefused
  | RateLimitExceeded
  | Forbidden
  | InsufficientScope

/** Says who is calling, within the limits of that caller, and refuses who may not call this operation. */
export const make = Effect.gen(function* () {
  const { authenticate, isAtHand } = yield* Callers.make
  const limiter = yield* RateLimiter
  const clock = yield* Clock.Clock
  /** Addresses that tried as much as strangers may, and until when that is held against them. */
  const suspects = new Map<string, number>()
  const suspect = (address: string, until: number) => {
    suspects.delete(address)
    suspects.set(address, until)
    dropOldest(suspects, suspected.addresses)
  }

  /** Counts the request for this caller. */
  const count = (caller: string, notes: Notes | undefined, isStranger = false) =>
    Effect.suspend((): Effect.Effect<void, RateLimitExceeded> => {
      const allowance = limiter.take(caller)
      if (allowance === undefined) return Effect.void
      if (notes !== undefined) notes.allowance = allowance
      if (isStranger && allowance.retryAfter > 0) suspect(caller, monotonic(clock) + suspected.millis)
      return allowance.allowed
        ? Effect.void
        : Effect.fail(new RateLimitExceeded({ limit: allowance.limit, retry_after: allowance.retryAfter }))
    })

  /**
   * Nobody is asked whose token it is for an address that tried too many, before that was counted: tokens can be made up faster
   * than a database looks for them.
   */
  const beforeLooking = (source: IncomingMessage, token: string, notes: Notes | undefined) =>
    Effect.suspend((): Effect.Effect<void, RateLimitExceeded> => {
      const address = limiter.addressOf(source)
      const until = suspects.get(address)
      if (until === undefined) return Effect.void
      if (until > monotonic(clock)) {
        return Effect.flatMap(isAtHand(token), (known) => (known ? Effect.void : count(address, notes, true)))
      }
      suspects.delete(address)
      return Effect.void
    })

  return Effect.fnUntraced(function* (
    source: IncomingMessage,
    annotations: Context.Context<never>,
    notes: Notes | undefined
  ): Effect.fn.Return<Principal, NotAdmitted> {
    const asStranger = () => count(limiter.addressOf(source), notes, true)
    const token = yield* Effect.tapError(Effect.fromResult(readAuthorization(source.headers.authorization)), asStranger)
    if (suspects.size > 0) yield* beforeLooking(source, token, notes)
    const principal = yield* Effect.tapError(authenticate(token), asStranger)
    if (notes !== undefined) notes.principal = principal
    // Whoever pays for every single call is limited by the price.
    if (principal.actor_type !== "system") yield* count(principal.actor_id, notes)
    const refused = refusal(principal, Context.get(annotations, Requires))
    return refused === undefined ? principal : yield* refused
  })
})
